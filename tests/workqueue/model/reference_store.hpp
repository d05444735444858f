// SPDX-License-Identifier: Apache-2.0
// Which of the queued keys is next, found by looking at all of them.
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

/// All that the reference remembers of a key.
struct ReferenceKey {
  bool dirty = false;       ///< It needs processing.
  bool processing = false;  ///< Somebody holds it.
  bool waiting = false;     ///< It waits, until `due`.
  bool queued = false;      ///< It has a place among the keys to be handed out.
  bool aside = false;       ///< Its turn came while it was processed: it keeps its place until it is done.
  std::int32_t priority = 0;
  std::uint64_t place = 0;  ///< Lower is earlier.
  std::int64_t level = 0;   ///< Higher is more urgent; what it means depends on the store.
  Nanos due = 0;
  std::uint64_t due_order = 0;

  std::optional<Nanos> event = std::nullopt;       ///< When the adds that were gathered are ready.
  std::optional<Nanos> give_up = std::nullopt;     ///< When they are at the latest.
  std::optional<Nanos> timer = std::nullopt;       ///< When the first of the delayed adds is.
  std::optional<Nanos> last_start = std::nullopt;  ///< Of its last run.

  Nanos dirty_since = 0;
  Nanos held_since = 0;
  std::size_t label = 0;  ///< Which depth counts it while it is dirty.

  bool can_have_a_turn() const { return queued && !aside; }
};
using ReferenceKeys = std::vector<ReferenceKey>;

/// The best of the keys for which `belongs` is true: the highest level, within it the earliest place.
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

/// What all stores have in common: every key has a level, and one that changes its level goes to the end of
/// the new one.
class ReferenceStore {
 public:
  ReferenceStore() = default;
  ReferenceStore(const ReferenceStore&) = delete;
  ReferenceStore& operator=(const ReferenceStore&) = delete;
  virtual ~ReferenceStore() = default;

  /// The level of a key that is queued now.
  virtual std::int64_t level_of(std::size_t key, std::int32_t priority) const = 0;
  /// Whether adding a key again may move it though its priority is the same.
  virtual bool moves_without_raise() const { return false; }
  /// Whose turn it is.
  virtual std::optional<std::size_t> next(const ReferenceKeys& keys) const = 0;
  /// A key came, went, or changed its level.
  virtual void changed(const ReferenceKeys& /*keys*/) {}
  /// The key was handed out.
  virtual void handed_out(const ReferenceKeys& /*keys*/, std::size_t /*key*/) {}
};

/// FIFO: one level. Priorities: one for each.
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

/// Two levels, and perhaps a share for the lower one.
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

/// Groups take turns. A group stands among the live ones, or behind them among the low ones if it has only
/// priorities below 0, or apart if its cap is reached. Where it comes to stand it stands last, with a whole
/// turn before it; a turn is as many keys as its weight says.
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
