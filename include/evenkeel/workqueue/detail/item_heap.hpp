// SPDX-License-Identifier: Apache-2.0
// Heap whose items know their position, so that removal needs no search.
#pragma once

#include <cstddef>
#include <vector>

#include <evenkeel/workqueue/queue_item.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Items ordered by rank: `a.before(b)` is true if a comes first; ranks are distinct. Four children per node,
/// which is faster than two.
/// Thread safety: one thread at a time. Complexity: modifying members are O(log n), the others O(1).
template <class Rank>
class ItemHeap {
 public:
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  /// Returns the rank of the first item; the heap must not be empty.
  const Rank& first_rank() const { return entries_.front().rank; }
  /// Returns the rank of an item that is in the heap.
  const Rank& rank_of(const QueueItem& item) const { return entries_[item.store_index()].rank; }

  /// Throws std::bad_alloc, before anything changed.
  void insert(QueueItem& item, const Rank& rank) {
    entries_.push_back({rank, &item});
    rise(entries_.size() - 1);
  }

  /// Changes the rank of an item that is in the heap.
  void rerank(QueueItem& item, const Rank& rank) {
    const std::size_t index = item.store_index();
    const bool rises = rank.before(entries_[index].rank);
    entries_[index].rank = rank;
    rises ? rise(index) : sink(index);
  }

  /// Removes an item that is in the heap.
  void erase(QueueItem& item) {
    const std::size_t index = item.store_index();
    const Entry last = entries_.back();
    entries_.pop_back();
    if (last.item == &item) return;
    entries_[index] = last;
    rise(index);
    sink(last.item->store_index());
  }

  /// Removes and returns the first item; the heap must not be empty.
  QueueItem& pop() {
    QueueItem& item = *entries_.front().item;
    erase(item);
    return item;
  }

  /// Calls visit(rank) for each item, in no particular order.
  template <class Visit>
  void for_each_rank(const Visit& visit) const {
    for (const Entry& entry : entries_) visit(entry.rank);
  }

 private:
  static constexpr std::size_t children = 4;

  struct Entry {
    Rank rank;
    QueueItem* item;
  };

  void place(std::size_t index, const Entry& entry) {
    entries_[index] = entry;
    entry.item->set_store_index(index);
  }

  void rise(std::size_t index) {
    const Entry entry = entries_[index];
    while (index > 0) {
      const std::size_t parent = (index - 1) / children;
      if (!entry.rank.before(entries_[parent].rank)) break;
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
        if (entries_[child].rank.before(entries_[least].rank)) least = child;
      }
      if (!entries_[least].rank.before(entry.rank)) break;
      place(index, entries_[least]);
      index = least;
    }
    place(index, entry);
  }

  std::vector<Entry> entries_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
