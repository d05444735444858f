// SPDX-License-Identifier: Apache-2.0
// The concept of a backing store: the part of a queue that decides which key is next.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <evenkeel/workqueue/queue_item.hpp>
#include <evenkeel/workqueue/queue_metrics.hpp>

namespace evenkeel {
inline namespace v0 {

/// A backing store holds the ready items in an order of its choice.
/// - `push(item)`: adds an item that is in no store. Occasionally its place() is earlier than that of items
///   in the store: it was popped before its turn could be used, and belongs before them (ItemList::insert
///   handles this).
/// - `pop()`: removes and returns the next item; called only if size() > 0.
/// - `size()`: the number of items, in constant time.
/// - `touch(item, place)`: an item in the store was added again, possibly with a higher priority(). The store
///   may move it; an item that moves behind others gets `place`. size() must not change.
///
/// All are called under the queue's lock and must not call the queue. Only push() may throw, only for lack of
/// memory, and before it has changed anything; add() passes the exception on, and the key is not queued. A
/// store that uses keys takes and returns QueueNode<Key>&, any other QueueItem&.
///
/// Optional: `static constexpr bool touch_needs_raise = true` states that touch has no effect unless the
/// priority was raised; then a queue of interned keys detects without its lock that an add has no effect, and
/// may skip the call of touch.
///
/// Optional, for a store that limits how many of its items workers hold:
/// - `can_pop() -> bool`, const: returns true if an item may be handed out now. If it returns false, pop() is
///   called only to empty the store permanently, and may return any item.
/// - `done(item)`: a worker has finished an item; if the item was added again it is pushed next. Called once
///   for every pop(), except those that unpop() reverts or that empty the store.
///
/// Optional: `unpop(item)`, for stores that share out turns or have done(): the item that pop() returned last
/// is already held by a worker and is not handed out, so the cost of that turn is refunded. The item returns
/// through push().
///
/// Optional, for metrics and introspection, each const and also called under the lock:
/// - `level(item) -> std::int64_t`: items of a higher level come first; items of one level are ordered by
///   place().
/// - `lane(item) -> std::string`: the name of the part of the store that holds the item, which is in the
///   store.
/// - `lanes() -> std::vector<LabelledDepth>`: the number of items in each part; a few parts, not hundreds.
template <class S, class Node>
concept BackingStore = requires(S& store, const S& asked, Node& node, std::uint64_t place) {
  store.push(node);
  static_cast<Node&>(store.pop());
  { asked.size() } -> std::convertible_to<std::size_t>;
  store.touch(node, place);
};

/// Returns true if re-adding a queued key with the same or a lower priority never changes the order of
/// `store`.
template <class S>
bool touch_needs_raise(const S& store) {
  if constexpr (requires { store.touch_needs_raise(); }) {
    return store.touch_needs_raise();
  } else if constexpr (requires { S::touch_needs_raise; }) {
    return S::touch_needs_raise;
  } else {
    return false;
  }
}

/// Returns true if `store`, which is not empty, may hand out an item now.
template <class S>
bool may_pop(const S& store) {
  if constexpr (requires { store.can_pop(); }) {
    return store.can_pop();
  } else {
    return true;
  }
}

/// Notifies `store`, if it has done(), that no worker holds `item` any more.
template <class S, class Node>
void notify_done(S& store, Node& item) {
  if constexpr (requires { store.done(item); }) store.done(item);
}

/// Notifies `store`, if it has unpop(), that the item it popped last was not handed out.
template <class S, class Node>
void unpop(S& store, Node& item) {
  if constexpr (requires { store.unpop(item); }) store.unpop(item);
}

/// Returns the first sort key of `item` in `store`, before place(); its priority if the store defines none.
template <class S, class Node>
std::int64_t level_of(const S& store, const Node& item) {
  if constexpr (requires { store.level(item); }) {
    return store.level(item);
  } else {
    return item.priority();
  }
}

/// Returns the name of the part of `store` that holds `item`; empty if the store has no parts.
template <class S, class Node>
std::string lane_of(const S& store, const Node& item) {
  if constexpr (requires { store.lane(item); }) {
    return store.lane(item);
  } else {
    return {};
  }
}

/// Returns the number of items in each part of `store`; empty if the store has no parts.
template <class S>
std::vector<LabelledDepth> lanes_of(const S& store) {
  if constexpr (requires { store.lanes(); }) {
    return store.lanes();
  } else {
    return {};
  }
}

}  // namespace v0
}  // namespace evenkeel
