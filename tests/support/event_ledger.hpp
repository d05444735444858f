// SPDX-License-Identifier: Apache-2.0
// A handler that checks the events of an informer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <evenkeel/cache/informer.hpp>

namespace evenkeel::tests {

/// Reconstructs the state from events, and records events that are inconsistent with it.
class EventLedger final : public EventHandler {
 public:
  void on_event(const ObjectEvent& event) noexcept override {
    const std::lock_guard lock(mutex_);
    const std::string name(event.object->name());
    const bool known = versions_.contains(name);
    if (known == (event.type == EventType::added)) problems_.push_back(name + " was told wrongly");
    if (event.type == EventType::deleted)
      versions_.erase(name);
    else
      versions_[name] = event.object->resource_version();
    if (event.final_state_unknown) ++tombstones_;
  }

  std::map<std::string, std::string> versions() const {
    const std::lock_guard lock(mutex_);
    return versions_;
  }
  std::vector<std::string> problems() const {
    const std::lock_guard lock(mutex_);
    return problems_;
  }
  /// Returns the number of known objects whose names begin with `prefix`.
  std::size_t count(const std::string& prefix) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::count_if(versions_.begin(), versions_.end(), [&](const auto& entry) {
      return entry.first.starts_with(prefix);
    }));
  }
  std::uint64_t tombstones() const {
    const std::lock_guard lock(mutex_);
    return tombstones_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> versions_;
  std::vector<std::string> problems_;
  std::uint64_t tombstones_ = 0;
};

}  // namespace evenkeel::tests
