// SPDX-License-Identifier: Apache-2.0
// The delayed items of a queue, earliest first: a heap of four children per node in which every item
// knows where it is, so that it can be taken out or moved without a search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/workqueue/queue_item.hpp>

namespace evenkeel::inline v0::detail {

class TimerHeapAccess {
 protected:
  static std::size_t& index_of(QueueItem& item) { return item.slot_.index; }
  static std::size_t index_of(const QueueItem& item) { return item.slot_.index; }
};

/// Items by (time, order of insertion).
/// Thread safety: one thread at a time. Complexity: everything but earliest() is O(log n).
class TimerHeap : private TimerHeapAccess {
 public:
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  /// The time of the first; the heap must not be empty.
  TimePoint earliest() const { return entries_.front().at; }
  /// The time of an item that is in the heap.
  TimePoint time_of(const QueueItem& item) const { return entries_[index_of(item)].at; }

  /// Throws std::bad_alloc, before anything changed.
  void insert(QueueItem& item, TimePoint at) {
    entries_.push_back({at, next_order_++, &item});
    rise(entries_.size() - 1);
  }

  /// Gives an item that is in the heap another time; among equals it counts as inserted now.
  void move(QueueItem& item, TimePoint at) {
    const std::size_t index = index_of(item);
    entries_[index].at = at;
    entries_[index].order = next_order_++;
    rise(index);
    sink(index_of(item));
  }

  void erase(QueueItem& item) {
    const std::size_t index = index_of(item);
    const Entry last = entries_.back();
    entries_.pop_back();
    if (last.item == &item) return;
    entries_[index] = last;
    rise(index);
    sink(index_of(*last.item));
  }

  /// Takes out the first; the heap must not be empty.
  QueueItem& pop() {
    QueueItem& item = *entries_.front().item;
    erase(item);
    return item;
  }

 private:
  static constexpr std::size_t children = 4;

  struct Entry {
    TimePoint at;
    std::uint64_t order;
    QueueItem* item;

    bool before(const Entry& other) const { return at != other.at ? at < other.at : order < other.order; }
  };

  void place(std::size_t index, const Entry& entry) {
    entries_[index] = entry;
    index_of(*entry.item) = index;
  }

  void rise(std::size_t index) {
    const Entry entry = entries_[index];
    while (index > 0) {
      const std::size_t parent = (index - 1) / children;
      if (!entry.before(entries_[parent])) break;
      place(index, entries_[parent]);
      index = parent;
    }
    place(index, entry);
  }

  void sink(std::size_t index) {
    const Entry entry = entries_[index];
    for (;;) {
      const std::size_t first = index * children + 1;
      if (first >= entries_.size()) break;
      const std::size_t end = first + children < entries_.size() ? first + children : entries_.size();
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (entries_[child].before(entries_[least])) least = child;
      }
      if (!entries_[least].before(entry)) break;
      place(index, entries_[least]);
      index = least;
    }
    place(index, entry);
  }

  std::vector<Entry> entries_;
  std::uint64_t next_order_ = 0;
};

}  // namespace evenkeel::inline v0::detail
