// SPDX-License-Identifier: Apache-2.0
// Detection of changed files without a thread or timer: files are checked on use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Detects changed files, also when a symbolic link is replaced as in mounted Secrets.
/// Thread safety: one thread at a time.
class FileWatch {
 public:
  explicit FileWatch(std::vector<std::string> paths) : paths_(std::move(paths)), seen_(paths_.size()) {}

  /// Returns true if any file changed since the last call; true on the first call. A missing file is a state
  /// like any other.
  bool changed();

 private:
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = -2;  // -1: missing; -2: never checked
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
