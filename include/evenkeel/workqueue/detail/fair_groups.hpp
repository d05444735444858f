// SPDX-License-Identifier: Apache-2.0
// Groups of items that take turns: the part of a FairStore that is independent of the key type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <evenkeel/base/hash_table.hpp>
#include <evenkeel/workqueue/priority_store.hpp>
#include <evenkeel/workqueue/queue_item.hpp>

namespace evenkeel {
inline namespace v0 {

template <class Group = std::string>
struct FairStoreOptions {
  /// Returns the number of keys of a group that are handed out in a row on its turn. Called when a group gets
  /// its first key, under the queue's lock; must not throw; 0 counts as 1. Default: 1.
  std::function<std::uint32_t(const Group&)> weight_of = {};
  /// Maximum number of keys of one group that workers hold at any time. 0: unlimited.
  std::uint32_t cap = 0;
  /// Per-group cap, called like weight_of; if set, `cap` is ignored.
  std::function<std::uint32_t(const Group&)> cap_of = {};
  /// If true, keys with a priority below 0, such as first lists and resyncs, wait while any group has keys of
  /// a higher priority that may be handed out.
  bool live_first = true;
};

namespace detail {

/// Groups by name, each with a PriorityStore. Groups with items that may be handed out form a ring: the first
/// group hands out as many items as its weight and then moves to the end. There are two rings, the second for
/// groups that have only low priorities, and a list for groups at their cap. A group exists while it has
/// items in the store or held by workers; some nodes are kept for reuse.
/// Thread safety: one thread at a time.
template <class Name>
class FairGroups {
 public:
  static constexpr bool is_text = std::is_same_v<Name, std::string>;
  using View = std::conditional_t<is_text, std::string_view, const Name&>;

  explicit FairGroups(FairStoreOptions<Name> options)
      : options_(std::move(options)), counts_hands_(options_.cap != 0 || options_.cap_of) {}
  FairGroups(const FairGroups&) = delete;
  FairGroups& operator=(const FairGroups&) = delete;
  ~FairGroups() {
    groups_.clear([](Group& group) { delete &group; });
    while (free_ != nullptr) delete std::exchange(free_, free_->next);
  }

  /// Throws std::bad_alloc, before anything changed.
  void push(View name, QueueItem& item) {
    Group& group = obtain(name);
    try {
      group.items.push(item);
    } catch (...) {
      settle(group);
      throw;
    }
    ++size_;
    settle(group);
  }

  QueueItem& pop() {
    Group& group = *next_ring().first;
    if (group.deficit == 0) group.deficit = group.weight;
    last_ = {group.ring, group.deficit};
    QueueItem& item = group.items.pop();
    --size_;
    --group.deficit;
    if (counts_hands_) ++group.in_hands;
    const Where before = group.ring;
    if (settle(group) && group.ring == before && group.deficit == 0) {
      remove(group);
      insert_last(group, before);
    }
    return item;
  }

  /// Undoes the accounting of the last pop(); the item itself does not return to the store.
  void unpop(View name) {
    Group* group = find(name);
    if (group == nullptr) return;
    if (counts_hands_) --group->in_hands;
    if (!settle(*group) || group->ring != last_.ring) return;
    group->deficit = last_.deficit;
    remove(*group);
    insert_first(*group, last_.ring);
  }

  void touch(View name, QueueItem& item, std::uint64_t place) {
    Group& group = *find(name);
    group.items.touch(item, place);
    settle(group);
  }

  void done(View name) {
    if (!counts_hands_) return;
    Group* group = find(name);
    if (group == nullptr || group->in_hands == 0) return;
    --group->in_hands;
    settle(*group);
  }

  bool can_pop() const { return ring(Where::live).first != nullptr || ring(Where::low).first != nullptr; }
  std::size_t size() const { return size_; }
  std::size_t size(View name) const {
    const Group* group = find(name);
    return group == nullptr ? 0 : group->items.size();
  }
  std::size_t groups() const { return groups_.size(); }

 private:
  static constexpr std::size_t most_free = 1024;
  static constexpr std::size_t longest_reused = 512;

  enum class Where : std::uint8_t { live, low, capped, nowhere };

  struct Group : TableLink<Group> {
    Name name = {};
    PriorityStore items = {};
    Group* previous = nullptr;  // in its ring
    Group* next = nullptr;
    std::uint32_t weight = 1;
    std::uint32_t cap = 0;
    std::uint32_t deficit = 0;  // what is left of its turn
    std::size_t in_hands = 0;   // items held by workers; counted only if there are caps
    Where ring = Where::nowhere;
  };

  struct Ring {
    Group* first = nullptr;
    Group* last = nullptr;
  };

  struct Turn {
    Where ring = Where::nowhere;
    std::uint32_t deficit = 0;
  };

  Ring& ring(Where where) { return rings_[static_cast<std::size_t>(where)]; }
  const Ring& ring(Where where) const { return rings_[static_cast<std::size_t>(where)]; }

  // Groups at their cap come last: they are used only when the store is being emptied.
  Ring& next_ring() {
    Where where = Where::live;
    while (ring(where).first == nullptr && where != Where::capped) {
      where = static_cast<Where>(static_cast<std::uint8_t>(where) + 1);
    }
    return ring(where);
  }

  static std::size_t hash(View name) { return std::hash<std::remove_cvref_t<View>>{}(name); }

  Group* find(View name) const { return find(name, hash(name)); }
  Group* find(View name, std::size_t at) const {
    return groups_.find(at, [&](const Group& group) { return group.name == name; });
  }

  Group& obtain(View name) {
    const std::size_t at = hash(name);
    if (Group* known = find(name, at)) return *known;
    auto fresh = std::unique_ptr<Group>(free_ == nullptr ? new Group() : take_free());
    fresh->name = name;
    const std::uint32_t weight = options_.weight_of ? options_.weight_of(fresh->name) : 1;
    fresh->weight = weight == 0 ? 1 : weight;
    fresh->cap = options_.cap_of ? options_.cap_of(fresh->name) : options_.cap;
    groups_.insert(*fresh, at);
    return *fresh.release();
  }

  Group* take_free() {
    Group* group = std::exchange(free_, free_->next);
    group->next = nullptr;
    --free_count_;
    return group;
  }

  void retire(Group& group) {
    groups_.erase(group);
    if (free_count_ == most_free) {
      delete &group;
      return;
    }
    group.deficit = 0;
    if constexpr (is_text) {
      if (group.name.capacity() > longest_reused) std::string().swap(group.name);
    } else {
      group.name = Name();
    }
    group.next = std::exchange(free_, &group);
    ++free_count_;
  }

  Where place_of(const Group& group) const {
    if (group.items.size() == 0) return Where::nowhere;
    if (group.cap != 0 && group.in_hands >= group.cap) return Where::capped;
    return options_.live_first && group.items.next_priority() < 0 ? Where::low : Where::live;
  }

  // Moves a group to the ring it belongs to now; returns false if the group was removed. A group that enters
  // a ring goes to its end with a full turn.
  bool settle(Group& group) {
    const Where where = place_of(group);
    if (where != group.ring) {
      remove(group);
      insert_last(group, where);
      group.deficit = 0;
    }
    if (where != Where::nowhere || group.in_hands > 0) return true;
    retire(group);
    return false;
  }

  void insert_last(Group& group, Where where) {
    group.ring = where;
    if (where == Where::nowhere) return;
    Ring& to = ring(where);
    group.previous = to.last;
    group.next = nullptr;
    (to.last == nullptr ? to.first : to.last->next) = &group;
    to.last = &group;
  }

  void insert_first(Group& group, Where where) {
    group.ring = where;
    Ring& to = ring(where);
    group.previous = nullptr;
    group.next = to.first;
    (to.first == nullptr ? to.last : to.first->previous) = &group;
    to.first = &group;
  }

  void remove(Group& group) {
    if (group.ring == Where::nowhere) return;
    Ring& from = ring(group.ring);
    (group.previous == nullptr ? from.first : group.previous->next) = group.next;
    (group.next == nullptr ? from.last : group.next->previous) = group.previous;
    group.previous = nullptr;
    group.next = nullptr;
    group.ring = Where::nowhere;
  }

  const FairStoreOptions<Name> options_;
  const bool counts_hands_;
  HashTable<Group> groups_;
  std::array<Ring, 3> rings_;
  Turn last_;  // state that unpop() restores
  std::size_t size_ = 0;
  Group* free_ = nullptr;  // linked by next
  std::size_t free_count_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
