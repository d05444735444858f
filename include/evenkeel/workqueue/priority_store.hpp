// SPDX-License-Identifier: Apache-2.0
// Backing store ordered by priority: the default order of controllers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/workqueue/detail/item_heap.hpp>
#include <evenkeel/workqueue/queue_item.hpp>

namespace evenkeel {
inline namespace v0 {

/// Higher priorities first, first in first out within a priority. Adding a queued key with a higher priority
/// moves it to the end of that priority; a priority is never lowered.
///
/// The items of one priority form a list. Up to 32 priorities have a list at a time; items of further
/// priorities are kept in a heap, in the same order.
/// Complexity: with n items and up to 32 priorities in use, all members take constant time; with more,
/// O(log n). Allocates for more priorities in use than ever before, or more items in the heap.
/// Source: controller-runtime priorityqueue. Deviation: a delayed key that becomes ready, by its time or by
/// an add, goes behind the keys that are already ready.
class PriorityStore {
 public:
  static constexpr bool touch_needs_raise = true;

  /// Throws std::bad_alloc, before anything changed.
  void push(QueueItem& item) {
    const std::size_t at = position_of(item.priority());
    const bool listed = at < used_ && level_at(at).priority == item.priority();
    if (!listed && used_ == most_levels) {
      others_.insert(item, Rank{item.place(), item.priority()});
      item.set_store_tag(in_heap);
    } else {
      if (!listed) open_level(at, item.priority());
      level_at(at).items.insert(item);
      item.set_store_tag(order_[at]);
    }
    ++size_;
  }

  QueueItem& pop() {
    --size_;
    if (heap_is_next()) return others_.pop();
    ItemList& items = level_at(0).items;
    QueueItem& item = items.pop_front();
    if (items.empty()) close_level(0);
    return item;
  }

  std::size_t size() const { return size_; }
  /// Returns the number of items of one priority. Complexity: constant, plus linear in the number of items in
  /// the heap.
  std::size_t size(Priority priority) const {
    std::size_t count = 0;
    const std::size_t at = position_of(priority.value);
    if (at < used_ && level_at(at).priority == priority.value) count = level_at(at).items.size();
    others_.for_each_rank([&](const Rank& rank) { count += rank.priority == priority.value ? 1U : 0U; });
    return count;
  }
  /// Returns the priority of the item that pop() would return; the store must not be empty.
  std::int32_t next_priority() const {
    return heap_is_next() ? others_.first_rank().priority : level_at(0).priority;
  }
  /// First sort key, before place(): higher first.
  std::int64_t level(const QueueItem& item) const { return item.priority(); }

  void touch(QueueItem& item, std::uint64_t place) {
    if (item.store_tag() == in_heap) {
      if (item.priority() <= others_.rank_of(item).priority) return;
      if (used_ == most_levels && !is_listed(item.priority())) {
        item.set_place(place);
        return others_.rerank(item, Rank{place, item.priority()});
      }
      others_.erase(item);
    } else {
      Level& level = levels_[item.store_tag()];
      if (item.priority() <= level.priority) return;
      level.items.remove(item);
      if (level.items.empty()) close_level(position_of(level.priority));
    }
    --size_;
    item.set_place(place);
    push(item);
  }

 private:
  static constexpr std::size_t most_levels = 32;
  static constexpr std::uint16_t in_heap = 0xffff;  // a tag that no level has

  struct Level {
    std::int32_t priority = 0;
    ItemList items = {};
  };

  struct Rank {
    std::uint64_t place;
    std::int32_t priority;
    bool before(const Rank& other) const {
      return priority != other.priority ? priority > other.priority : place < other.place;
    }
  };

  Level& level_at(std::size_t position) { return levels_[order_[position]]; }
  const Level& level_at(std::size_t position) const { return levels_[order_[position]]; }

  bool is_listed(std::int32_t priority) const {
    const std::size_t at = position_of(priority);
    return at < used_ && level_at(at).priority == priority;
  }

  // Returns the position in order_ at which the level of `priority` is or would be.
  std::size_t position_of(std::int32_t priority) const {
    if (used_ == 0 || level_at(0).priority <= priority) return 0;
    std::size_t above = 0;  // the last position known to have a higher priority
    std::size_t end = used_;
    while (above + 1 < end) {
      const std::size_t middle = (above + end) / 2;
      (level_at(middle).priority > priority ? above : end) = middle;
    }
    return end;
  }

  void open_level(std::size_t position, std::int32_t priority) {
    if (used_ == levels_.size()) {
      levels_.emplace_back();
      order_[used_] = static_cast<std::uint8_t>(used_);
    }
    const std::uint8_t level = order_[used_];
    for (std::size_t i = used_; i > position; --i) order_[i] = order_[i - 1];
    order_[position] = level;
    levels_[level].priority = priority;
    ++used_;
  }

  void close_level(std::size_t position) {
    const std::uint8_t level = order_[position];
    --used_;
    for (std::size_t i = position; i < used_; ++i) order_[i] = order_[i + 1];
    order_[used_] = level;
  }

  bool heap_is_next() const {
    if (others_.empty()) return false;
    if (used_ == 0) return true;
    const Level& level = level_at(0);
    return others_.first_rank().before(Rank{level.items.front().place(), level.priority});
  }

  std::vector<Level> levels_;
  // Indexes into levels_: first those in use, from high to low, then the empty ones.
  std::array<std::uint8_t, most_levels> order_{};
  std::size_t used_ = 0;
  std::size_t size_ = 0;
  detail::ItemHeap<Rank> others_;
};

}  // namespace v0
}  // namespace evenkeel
