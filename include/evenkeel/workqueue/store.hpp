// SPDX-License-Identifier: Apache-2.0
// What a backing store is: the part of a queue that decides which key is next.
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

/// A backing store holds the items that are ready and orders them as it likes.
/// - `push(item)`: the item is in no store; afterwards it is in this one. Items with an earlier place()
///   than some that are there come back now and then: they were handed over before their turn could be
///   used, and belong before those (ItemList::insert does that).
/// - `pop()`: takes out the next item and returns it; called only if size() > 0.
/// - `size()`: how many items it holds, in constant time.
/// - `touch(item, place)`: the item is in the store and was added again, its priority() perhaps raised.
///   The store may move it; one that moves behind others gets `place`. size() must not change.
/// All are called under the queue's lock and must not call the queue. Only push() may throw, and only for
/// lack of memory and before it has changed anything; add() passes that on, and the key is not queued.
/// A store that looks at keys takes and returns QueueNode<Key>&, any other QueueItem&.
///
/// Optional: `static constexpr bool touch_needs_raise = true` says that touch does nothing unless the
/// priority was raised; then a queue of interned keys can tell without its lock that an add changes
/// nothing, and touch may not be called for it.
///
/// Optional, for a store that limits how many of its items are in workers' hands:
/// - `can_pop() -> bool`, const: whether one may be handed out now. If not, pop() is called only to empty the
///   store for good, and hands out any.
/// - `done(item)`: an item that was handed out is in nobody's hands any more; if it was added again it is
///   pushed next. Called once for every pop(), but for those that unpop() takes back or that empty the store.
///
/// Optional: `unpop(item)`, for stores that share out turns or have done(): the item that pop() returned last
/// was held already and is not handed out, so what that turn cost is given back. It comes again through
/// push().
///
/// Optional, for metrics and introspection, each const and under the lock as well:
/// - `level(item) -> std::int64_t`: items of a higher level come first; those of one level by place().
/// - `lane(item) -> std::string`: what the part of the store is called that the item, which is in the store,
///   is in.
/// - `lanes() -> std::vector<LabelledDepth>`: how many items each part holds; a few parts, not hundreds.
template <class S, class Node>
concept BackingStore = requires(S& store, const S& asked, Node& node, std::uint64_t place) {
  store.push(node);
  static_cast<Node&>(store.pop());
  { asked.size() } -> std::convertible_to<std::size_t>;
  store.touch(node, place);
};

/// Whether adding a queued key again, no more urgently than before, can never change the order of `store`.
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

/// Whether `store`, which holds items, lets one be handed out now.
template <class S>
bool may_pop(const S& store) {
  if constexpr (requires { store.can_pop(); }) {
    return store.can_pop();
  } else {
    return true;
  }
}

/// Tells `store`, if it wants to know, that `item` is in nobody's hands any more.
template <class S, class Node>
void tell_done(S& store, Node& item) {
  if constexpr (requires { store.done(item); }) store.done(item);
}

/// Tells `store` that the item which it popped last was not handed out.
template <class S, class Node>
void unpop(S& store, Node& item) {
  if constexpr (requires { store.unpop(item); }) store.unpop(item);
}

/// What `store` sorts `item` by before its place(); its priority if the store does not say.
template <class S, class Node>
std::int64_t level_of(const S& store, const Node& item) {
  if constexpr (requires { store.level(item); }) {
    return store.level(item);
  } else {
    return item.priority();
  }
}

/// The name of the part of `store` that `item` is in; empty if the store has none.
template <class S, class Node>
std::string lane_of(const S& store, const Node& item) {
  if constexpr (requires { store.lane(item); }) {
    return store.lane(item);
  } else {
    return {};
  }
}

/// How many items each part of `store` holds; empty if the store has none.
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
