// SPDX-License-Identifier: Apache-2.0
// Selection of the next queued key by a scan over all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "settings.hpp"

namespace evenkeel::model {

/// Complete state of a key in the reference.
struct ReferenceKey {
  bool dirty = false;       ///< Needs processing.
  bool processing = false;  ///< Held by a worker.
  bool waiting = false;     ///< Waits until `due`.
  bool queued = false;      ///< Has a place among the keys to be handed out.
  bool aside = false;       ///< Was popped while it was processed: it keeps its place until it is done.
  std::int32_t priority = 0;
  std::uint64_t place = 0;  ///< Lower is earlier.
  std::int64_t level = 0;   ///< Higher is more urgent; the meaning depends on the store.
  Nanos due = 0;
  std::uint64_t due_order = 0;

  std::optional<Nanos> event = std::nullopt;       ///< When the gathered adds become ready.
  std::optional<Nanos> give_up = std::nullopt;     ///< Latest time for that.
  std::optional<Nanos> timer = std::nullopt;       ///< When the first delayed add becomes ready.
  std::optional<Nanos> last_start = std::nullopt;  ///< Start of its last run.

  Nanos dirty_since = 0;
  Nanos held_since = 0;
  std::size_t label = 0;  ///< The depth that counts it while it is dirty.

  bool can_have_a_turn() const { return queued && !aside; }
};
using ReferenceKeys = std::vector<ReferenceKey>;

/// Returns the best key for which `belongs` is true: the highest level, within it the earliest place.
template <class Belongs>
std::optional<std::size_t> best_of(const ReferenceKeys& keys, const Belongs& belongs) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!keys[i].can_have_a_turn() || !belongs(i)) continue;
    const bool better = !best || keys[i].level > keys[*best].level ||
                        (keys[i].level == keys[*best].level && keys[i].place < keys[*best].place);
    if (better) best = i;
  }
  return best;
}

/// Common base of all stores: every key has a level, and a key that changes its level moves to the end of the
/// new one.
class ReferenceStore {
 public:
  ReferenceStore() = default;
  ReferenceStore(const ReferenceStore&) = delete;
  ReferenceStore& operator=(const ReferenceStore&) = delete;
  virtual ~ReferenceStore() = default;

  /// Returns the level of a key that is queued now.
  virtual std::int64_t level_of(std::size_t key, std::int32_t priority) const = 0;
  /// Returns true if re-adding a key may move it although its priority is unchanged.
  virtual bool moves_without_raise() const { return false; }
  /// Returns the next key.
  virtual std::optional<std::size_t> next(const ReferenceKeys& keys) const = 0;
  /// Called when a key was added, removed, or changed its level.
  virtual void changed(const ReferenceKeys& /*keys*/) {}
  /// Called when the key was handed out.
  virtual void handed_out(const ReferenceKeys& /*keys*/, std::size_t /*key*/) {}
};

/// FIFO has one level, PriorityStore one for each priority.
class ReferenceLevels final : public ReferenceStore {
 public:
  explicit ReferenceLevels(bool by_priority) : by_priority_(by_priority) {}
  std::int64_t level_of(std::size_t /*key*/, std::int32_t priority) const override {
    return by_priority_ ? priority : 0;
  }
  std::optional<std::size_t> next(const ReferenceKeys& keys) const override {
    return best_of(keys, [](std::size_t) { return true; });
  }

 private:
  const bool by_priority_;
};

/// Two levels, and optionally a share for the lower one.
class ReferenceLanes final : public ReferenceStore {
 public:
  ReferenceLanes(const Settings& settings, const SlowKeys& slow_keys)
      : settings_(settings), slow_keys_(slow_keys) {}

  std::int64_t level_of(std::size_t key, std::int32_t priority) const override {
    if (settings_.store == StoreKind::policy_lane) return slow_keys_[key] ? slow : fast;
    return priority < 0 ? slow : fast;
  }
  bool moves_without_raise() const override { return settings_.store == StoreKind::policy_lane; }

  std::optional<std::size_t> next(const ReferenceKeys& keys) const override {
    if (settings_.slow_share != 0 && fast_in_a_row_ + 1 >= settings_.slow_share) {
      if (const auto key = first_slow(keys)) return key;
    }
    return best_of(keys, [](std::size_t) { return true; });
  }
  void handed_out(const ReferenceKeys& keys, std::size_t key) override {
    const bool slow_ones_wait = first_slow(keys).has_value();
    fast_in_a_row_ = keys[key].level == fast && slow_ones_wait ? fast_in_a_row_ + 1 : 0;
  }

 private:
  static constexpr std::int64_t slow = 0;
  static constexpr std::int64_t fast = 1;

  static std::optional<std::size_t> first_slow(const ReferenceKeys& keys) {
    return best_of(keys, [&](std::size_t key) { return keys[key].level == slow; });
  }

  const Settings settings_;
  const SlowKeys& slow_keys_;
  std::uint32_t fast_in_a_row_ = 0;
};

/// Groups take turns. A group is among the live ones, behind them among the low ones if it has only
/// priorities below 0, or apart if its cap is reached. A group that moves goes to the end with a full turn; a
/// turn is as many keys as its weight.
class ReferenceFair final : public ReferenceStore {
 public:
  explicit ReferenceFair(const Settings& settings) : settings_(settings) {}

  std::int64_t level_of(std::size_t /*key*/, std::int32_t priority) const override { return priority; }

  std::optional<std::size_t> next(const ReferenceKeys& keys) const override {
    std::optional<std::size_t> turn;
    for (std::size_t group = 0; group < groups; ++group) {
      const Group& at = groups_[group];
      if (at.stands != Stands::live && at.stands != Stands::low) continue;
      const bool sooner = !turn || at.stands < groups_[*turn].stands ||
                          (at.stands == groups_[*turn].stands && at.position < groups_[*turn].position);
      if (sooner) turn = group;
    }
    if (!turn) return std::nullopt;
    return best_of(keys, [&](std::size_t key) { return group_of(key) == *turn; });
  }

  void changed(const ReferenceKeys& keys) override {
    for (std::size_t group = 0; group < groups; ++group) {
      const Stands stands = stands_now(keys, group);
      if (stands != groups_[group].stands) groups_[group] = {stands, next_position_++, 0};
    }
  }

  void handed_out(const ReferenceKeys& keys, std::size_t key) override {
    const std::size_t group = group_of(key);
    Group& at = groups_[group];
    if (at.left == 0) at.left = settings_.fair.weights[group];
    --at.left;
    if (at.left == 0) at.position = next_position_++;
    changed(keys);
  }

 private:
  enum class Stands : std::uint8_t { live, low, capped, nowhere };
  struct Group {
    Stands stands = Stands::nowhere;
    std::uint64_t position = 0;
    std::uint32_t left = 0;  // of its turn; zero before it begins
  };

  Stands stands_now(const ReferenceKeys& keys, std::size_t group) const {
    const auto first = best_of(keys, [&](std::size_t key) { return group_of(key) == group; });
    if (!first) return Stands::nowhere;
    std::uint32_t in_hands = 0;
    for (std::size_t key = group; key < keys.size(); key += groups) in_hands += keys[key].processing ? 1 : 0;
    const std::uint32_t cap = settings_.fair.caps[group];
    if (cap != 0 && in_hands >= cap) return Stands::capped;
    return settings_.fair.live_first && keys[*first].priority < 0 ? Stands::low : Stands::live;
  }

  const Settings settings_;
  std::array<Group, groups> groups_{};
  std::uint64_t next_position_ = 0;
};

inline std::unique_ptr<ReferenceStore> make_reference_store(const Settings& settings,
                                                            const SlowKeys& slow_keys) {
  switch (settings.store) {
    case StoreKind::fifo:
      return std::make_unique<ReferenceLevels>(false);
    case StoreKind::priority:
      return std::make_unique<ReferenceLevels>(true);
    case StoreKind::two_lane:
    case StoreKind::policy_lane:
      return std::make_unique<ReferenceLanes>(settings, slow_keys);
    case StoreKind::fair:
      break;
  }
  return std::make_unique<ReferenceFair>(settings);
}

}  // namespace evenkeel::model
