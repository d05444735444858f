// SPDX-License-Identifier: Apache-2.0
// Which of the queued keys is next, found by looking at all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "settings.hpp"

namespace evenkeel::model {

/// All that the reference remembers of a key.
struct ReferenceKey {
  bool dirty = false;       ///< It needs processing.
  bool processing = false;  ///< Somebody holds it.
  bool waiting = false;     ///< It waits for a delay, until `due`.
  bool queued = false;      ///< It has a place among the keys to be handed out.
  bool aside = false;       ///< Its turn came while it was processed: it keeps its place until it is done.
  std::int32_t priority = 0;
  std::uint64_t place = 0;  ///< Lower is earlier.
  std::int64_t level = 0;   ///< Higher is more urgent; what it means depends on the store.
  Nanos due = 0;
  std::uint64_t due_order = 0;
};

/// A FIFO has one level, lanes are two, a priority store has one per priority. The highest level goes
/// first, within it the earliest place. A key that changes its level goes to the end of the new one.
class ReferenceStore {
 public:
  ReferenceStore(const Settings& settings, const SlowKeys& slow) : settings_(settings), slow_(&slow) {}

  /// The level of a key that is queued now.
  std::int64_t level_of(std::size_t key, std::int32_t priority) const {
    switch (settings_.store) {
      case StoreKind::fifo:
        return 0;
      case StoreKind::two_lane:
        return priority < 0 ? slow_lane : fast_lane;
      case StoreKind::policy_lane:
        return (*slow_)[key] ? slow_lane : fast_lane;
      case StoreKind::priority:
        return priority;
    }
    return 0;
  }

  /// Whether adding a key again may move it though its priority is the same.
  bool moves_without_raise() const { return settings_.store == StoreKind::policy_lane; }

  /// Whose turn it is.
  std::optional<std::size_t> next(const std::vector<ReferenceKey>& keys) const {
    if (settings_.has_lanes() && settings_.slow_share != 0 && fast_in_a_row_ + 1 >= settings_.slow_share) {
      if (const auto key = first(keys, slow_lane)) return key;
    }
    return first(keys, std::nullopt);
  }

  /// The key was handed out.
  void handed_out(const std::vector<ReferenceKey>& keys, std::size_t key) {
    if (!settings_.has_lanes()) return;
    const bool slow_ones_wait = first(keys, slow_lane).has_value();
    fast_in_a_row_ = keys[key].level == fast_lane && slow_ones_wait ? fast_in_a_row_ + 1 : 0;
  }

 private:
  static constexpr std::int64_t slow_lane = 0;
  static constexpr std::int64_t fast_lane = 1;

  static std::optional<std::size_t> first(const std::vector<ReferenceKey>& keys,
                                          std::optional<std::int64_t> level) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const ReferenceKey& key = keys[i];
      if (!key.queued || key.aside || (level && key.level != *level)) continue;
      const bool better = !best || key.level > keys[*best].level ||
                          (key.level == keys[*best].level && key.place < keys[*best].place);
      if (better) best = i;
    }
    return best;
  }

  Settings settings_;
  const SlowKeys* slow_;
  std::uint32_t fast_in_a_row_ = 0;
};

}  // namespace evenkeel::model
