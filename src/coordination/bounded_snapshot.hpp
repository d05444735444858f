// SPDX-License-Identifier: Apache-2.0
// A snapshot of a store from which only so many bytes can be read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/base/error.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

/// Throws Error once the keys and values that were read exceed a limit, so that what a reader keeps of them
/// is bounded. A page of the store is read before it is counted. Lifetime: must not outlive `inner`. Thread
/// safety: one thread at a time.
class BoundedSnapshot final : public StoreSnapshot {
 public:
  BoundedSnapshot(StoreSnapshot& inner, std::size_t most_bytes) : inner_(inner), most_bytes_(most_bytes) {}

  Version version() const override { return inner_.version(); }
  std::optional<Entry> get(std::string_view key) override {
    std::optional<Entry> found = inner_.get(key);
    if (found) count(*found);
    return found;
  }
  ScanPage scan(const KeyRange& range, std::size_t limit) override {
    ScanPage page = inner_.scan(range, limit);
    for (const Entry& entry : page.entries) count(entry);
    return page;
  }

 private:
  void count(const Entry& entry) {
    bytes_ += entry.key.size() + entry.value.size();
    if (bytes_ <= most_bytes_) return;
    throw Error("the store has more than " + std::to_string(most_bytes_) +
                " bytes of keys and values, which is too much for a section of the console");
  }

  StoreSnapshot& inner_;
  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
};

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
