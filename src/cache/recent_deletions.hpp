// SPDX-License-Identifier: Apache-2.0
// The deletions that a watch has delivered lately: an older state of such an object that arrives afterwards
// is not taken for a new object.
#pragma once

#include <compare>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <evenkeel/base/object_key.hpp>
#include <evenkeel/cache/object_store.hpp>
#include <evenkeel/cache/wire_object.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The versions of the deletions of at most `remembered` keys, the latest ones. A server that delivers a part
/// of its history twice (etcd's issue 15271) would otherwise make objects that are gone appear again, until
/// it repeats their deletion.
/// Thread safety: one thread at a time.
/// Source: none in client-go, whose stores take each event as it comes.
class RecentDeletions {
 public:
  static constexpr std::size_t remembered = 1000;

  /// Records the deletion of `object`, whose resourceVersion is that of the deletion.
  void on_deleted(const WireObject& object) {
    ObjectKey key = object.key();
    Deletion deletion{std::string(object.uid()), std::string(object.resource_version())};
    const auto found = deletions_.find(key);
    if (found != deletions_.end()) {
      if (is_newer(deletion.version, found->second.version)) found->second = std::move(deletion);
      return;
    }
    order_.push_back(key);
    deletions_.emplace(std::move(key), std::move(deletion));
    if (order_.size() <= remembered) return;
    deletions_.erase(order_.front());
    order_.pop_front();
  }
  /// Returns true if `object` is a state from before the deletion of its key. False if the versions cannot be
  /// compared, or if the deletion is not remembered.
  bool is_over(const WireObject& object) const {
    if (deletions_.empty() || object.resource_version().empty()) return false;
    const auto found = deletions_.find(object.key());
    if (found == deletions_.end()) return false;
    const auto& [uid, version] = found->second;
    if (object.resource_version() == version) return object.uid() == uid;
    return is_newer(version, object.resource_version());
  }
  /// Records what a list at `version` found missing, in `deltas`. Forgets later deletions: the server has
  /// gone back, and the list has what exists.
  void on_listed(std::string_view version, const std::vector<StoreDelta>& deltas) {
    const auto is_later = [version](std::string_view other) { return is_newer(other, version); };
    std::erase_if(order_, [&](const ObjectKey& key) {
      const auto at = deletions_.find(key);
      if (!is_later(at->second.version) && compare_resource_versions(version, at->second.version))
        return false;
      deletions_.erase(at);
      return true;
    });
    for (const StoreDelta& delta : deltas) {
      if (delta.type == EventType::deleted && !is_later(delta.object.resource_version()))
        on_deleted(delta.object);
    }
  }

 private:
  struct Deletion {
    std::string uid;
    std::string version;
  };

  static bool is_newer(std::string_view left, std::string_view right) noexcept {
    return compare_resource_versions(left, right) == std::strong_ordering::greater;
  }

  std::unordered_map<ObjectKey, Deletion> deletions_;
  std::deque<ObjectKey> order_;  // of the first deletion of each key
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
