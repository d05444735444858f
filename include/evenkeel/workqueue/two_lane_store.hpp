// SPDX-License-Identifier: Apache-2.0
// Backing store with a fast lane for changes that users wait for and a slow one for periodic resyncs and the
// like.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/workqueue/queue_item.hpp>
#include <evenkeel/workqueue/queue_metrics.hpp>

namespace evenkeel {
inline namespace v0 {

struct TwoLaneStoreOptions {
  /// While both lanes hold keys, at least one hand-out in `slow_share` comes from the slow lane. 0: the slow
  /// lane waits until the fast one is empty. Must not be 1.
  std::uint32_t slow_share = 0;
};

/// The fast lane before the slow one, first in first out within a lane. The lane is an argument of add: a key
/// without one is fast, one with a priority below 0 is slow. A queued slow key that is added as fast moves to
/// the back of the fast lane in constant time; the opposite never happens, so a resync does not demote a live
/// change.
/// Source: zhouhaibing089/workqueue, two-lane queue; there the lane is set by a second call, which can race.
class TwoLaneStore {
 public:
  static constexpr bool touch_needs_raise = true;

  /// Throws std::invalid_argument if slow_share is 1.
  explicit TwoLaneStore(TwoLaneStoreOptions options = {}) : options_(options) {
    if (options.slow_share == 1) throw std::invalid_argument("TwoLaneStore: slow_share must not be 1");
  }

  void push(QueueItem& item) { push(item, lane_of(item)); }
  void push(QueueItem& item, Lane lane) {
    item.set_store_tag(static_cast<std::uint16_t>(lane));
    list(lane).insert(item);
  }

  QueueItem& pop() {
    const Lane lane = next_lane();
    before_last_pop_ = fast_in_a_row_;
    fast_in_a_row_ = lane == Lane::fast && !slow_.empty() ? fast_in_a_row_ + 1 : 0;
    return list(lane).pop_front();
  }

  void unpop(QueueItem& /*item*/) { fast_in_a_row_ = before_last_pop_; }

  void touch(QueueItem& item, std::uint64_t place) { touch(item, lane_of(item), place); }
  void touch(QueueItem& item, Lane lane, std::uint64_t place) {
    const Lane held = held_in(item);
    if (held == lane) return;
    list(held).remove(item);
    item.set_place(place);
    push(item, lane);
  }

  std::size_t size() const { return fast_.size() + slow_.size(); }
  std::size_t size(Lane lane) const { return lane == Lane::fast ? fast_.size() : slow_.size(); }

  /// Ignores slow_share.
  std::int64_t level(const QueueItem& item) const { return held_in(item) == Lane::fast ? 1 : 0; }
  std::string lane(const QueueItem& item) const { return held_in(item) == Lane::fast ? "fast" : "slow"; }
  std::vector<LabelledDepth> lanes() const { return {{"fast", fast_.size()}, {"slow", slow_.size()}}; }

 private:
  static Lane held_in(const QueueItem& item) { return static_cast<Lane>(item.store_tag()); }
  static Lane lane_of(const QueueItem& item) { return item.priority() < 0 ? Lane::slow : Lane::fast; }
  ItemList& list(Lane lane) { return lane == Lane::fast ? fast_ : slow_; }

  Lane next_lane() const {
    if (fast_.empty()) return Lane::slow;
    const bool slow_is_due = options_.slow_share != 0 && fast_in_a_row_ + 1 >= options_.slow_share;
    return slow_is_due && !slow_.empty() ? Lane::slow : Lane::fast;
  }

  TwoLaneStoreOptions options_;
  ItemList fast_;
  ItemList slow_;
  std::uint32_t fast_in_a_row_ = 0;  // hand-outs from the fast lane while the slow one held something
  std::uint32_t before_last_pop_ = 0;
};

/// A two-lane store with a policy: `policy(key) -> Lane` is called under the queue's lock whenever a key is
/// queued and whenever a queued key is added again, and may move a key either way. The lane passed to add is
/// ignored.
template <class Key, std::invocable<const Key&> Policy>
requires std::same_as<std::invoke_result_t<Policy&, const Key&>, Lane>
class PolicyLaneStore {
 public:
  /// Throws std::invalid_argument like TwoLaneStore.
  explicit PolicyLaneStore(Policy policy, TwoLaneStoreOptions options = {})
      : policy_(std::move(policy)), lanes_(options) {}

  void push(QueueNode<Key>& node) { lanes_.push(node, policy_(node.key())); }
  QueueNode<Key>& pop() { return static_cast<QueueNode<Key>&>(lanes_.pop()); }
  void unpop(QueueNode<Key>& node) { lanes_.unpop(node); }
  std::size_t size() const { return lanes_.size(); }
  std::size_t size(Lane lane) const { return lanes_.size(lane); }
  void touch(QueueNode<Key>& node, std::uint64_t place) { lanes_.touch(node, policy_(node.key()), place); }
  std::int64_t level(const QueueItem& item) const { return lanes_.level(item); }
  std::string lane(const QueueItem& item) const { return lanes_.lane(item); }
  std::vector<LabelledDepth> lanes() const { return lanes_.lanes(); }

 private:
  Policy policy_;
  TwoLaneStore lanes_;
};

}  // namespace v0
}  // namespace evenkeel
