// SPDX-License-Identifier: Apache-2.0
// Delayed items of a queue, earliest first.
#pragma once

#include <cstddef>
#include <cstdint>

#include <evenkeel/base/time.hpp>
#include <evenkeel/workqueue/detail/item_heap.hpp>
#include <evenkeel/workqueue/queue_item.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Items ordered by (time, order of insertion).
/// Thread safety: one thread at a time. Complexity: modifying members are O(log n), the others O(1).
class TimerHeap {
 public:
  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }
  /// Returns the time of the first item; the heap must not be empty.
  TimePoint earliest() const { return items_.first_rank().at; }
  /// Returns the time of an item that is in the heap.
  TimePoint time_of(const QueueItem& item) const { return items_.rank_of(item).at; }

  /// Throws std::bad_alloc, before anything changed.
  void insert(QueueItem& item, TimePoint at) { items_.insert(item, {at, next_order_++}); }
  /// Changes the time of an item that is in the heap; among equal times it counts as inserted now.
  void move(QueueItem& item, TimePoint at) { items_.rerank(item, {at, next_order_++}); }
  void erase(QueueItem& item) { items_.erase(item); }
  /// Removes and returns the first item; the heap must not be empty.
  QueueItem& pop() { return items_.pop(); }

 private:
  struct Rank {
    TimePoint at;
    std::uint64_t order;
    bool before(const Rank& other) const { return at != other.at ? at < other.at : order < other.order; }
  };

  ItemHeap<Rank> items_;
  std::uint64_t next_order_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
