// SPDX-License-Identifier: Apache-2.0
// Files whose content is wanted as it is now, without a thread or timer: they are looked at when they are
// needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Notices that files changed, also when a symbolic link to them was turned, as mounted Secrets do.
/// Thread safety: one thread at a time.
class FileWatch {
 public:
  explicit FileWatch(std::vector<std::string> paths) : paths_(std::move(paths)), seen_(paths_.size()) {}

  /// Whether any file is another than at the last call; the first call says yes. A missing file counts as
  /// one.
  bool changed();

 private:
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = -2;  // -1: missing; -2: never looked at
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    bool operator==(const Stamp&) const = default;
  };
  static Stamp stamp_of(const std::string& path);

  std::vector<std::string> paths_;
  std::vector<Stamp> seen_;
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
