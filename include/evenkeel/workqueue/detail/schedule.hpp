// SPDX-License-Identifier: Apache-2.0
// State machine of a queue's items. It neither finds items by key nor owns them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <evenkeel/base/time.hpp>
#include <evenkeel/workqueue/detail/queue_meter.hpp>
#include <evenkeel/workqueue/detail/timer_heap.hpp>
#include <evenkeel/workqueue/queue_item.hpp>
#include <evenkeel/workqueue/readd.hpp>
#include <evenkeel/workqueue/store.hpp>

namespace evenkeel {
inline namespace v0 {

namespace detail {

/// Dirty, processing, stored, waiting and resting are flags of an item. An item is in the store exactly if it
/// is dirty and not processing; with keep_place also while it is processing, until its turn comes. A resting
/// item has no other flag. Times are used only if there is a meter, except in fire().
/// Lifetime: keeps a pointer to the meter, if any; then items have extras.
template <class Item, class Store>
class Schedule {
 public:
  Schedule(Store store, Readd readd, QueueMeter* meter)
      : store_(std::move(store)), meter_(meter), readd_(readd) {}

  /// Makes an item ready now, or once it is done. Drops a delay that it waits for.
  void add(Item& item, std::int32_t priority, TimePoint now) {
    if (item.has(QueueItem::is_waiting)) {
      heap_.erase(item);
      item.clear(QueueItem::is_waiting);
      if (item.priority_ > priority) priority = item.priority_;
    }
    if (item.has(QueueItem::is_dirty)) {
      const bool raised = priority > item.priority_;
      // It was popped before it could be used: the store must hold it to move it.
      const bool moves = raised || !touch_needs_raise(store_);
      if (moves && readd_ == Readd::keep_place && !item.has(QueueItem::is_stored)) store(item);
      if (raised) raise(item, priority);
      if (item.has(QueueItem::is_stored)) store_.touch(item, next_place_++);
      return;
    }
    item.priority_ = priority;
    make_dirty(item, now);
  }

  /// Makes an item ready at `at`; the earliest of several times wins. A dirty item stays dirty.
  void add_at(Item& item, TimePoint at, std::int32_t priority) {
    if (item.has(QueueItem::is_waiting) && at > heap_.time_of(item)) at = heap_.time_of(item);
    wait_until(item, at, priority);
  }

  /// Like add_at(), but replaces the time that the item waits for.
  void wait_until(Item& item, TimePoint at, std::int32_t priority) {
    if (item.has(QueueItem::is_dirty)) {
      if (priority > item.priority_) add(item, priority, at);
      return;
    }
    if (!item.has(QueueItem::is_waiting)) {
      heap_.insert(item, at);
      item.set(QueueItem::is_waiting);
      item.priority_ = priority;
      return;
    }
    if (priority > item.priority_) item.priority_ = priority;
    if (at != heap_.time_of(item)) heap_.move(item, at);
  }

  /// Makes ready all items whose delay ends at `now` or earlier.
  void fire(TimePoint now) {
    while (!heap_.empty() && heap_.earliest() <= now) {
      const TimePoint at = heap_.earliest();
      Item& item = static_cast<Item&>(heap_.pop());
      item.clear(QueueItem::is_waiting);
      try {
        make_dirty(item, at);
      } catch (...) {  // the store is out of memory; the heap still has the item's slot
        heap_.insert(item, at);
        item.set(QueueItem::is_waiting);
        throw;
      }
    }
  }

  /// Hands out the next item, which is processing from then on; returns null if none is ready.
  Item* pop(TimePoint now) {
    while (can_pop()) {
      Item& item = static_cast<Item&>(store_.pop());
      item.clear(QueueItem::is_stored);
      if (item.has(QueueItem::is_processing)) {  // popped too early: done() puts it back
        unpop(store_, item);
        continue;
      }
      --ready_;
      --dirty_;
      ++processing_;
      item.clear(QueueItem::is_dirty);
      item.set(QueueItem::is_processing);
      if (meter_ != nullptr) meter_->was_handed_out(item.extras().meter, now);
      return &item;
    }
    return nullptr;
  }

  /// Ends the processing of an item; returns true if it has no state left.
  bool done(Item& item, TimePoint now) {
    item.clear(QueueItem::is_processing);
    --processing_;
    if (meter_ != nullptr) meter_->was_done(item.extras().meter, now);
    notify_done(store_, item);
    if (closed_) item.clear(QueueItem::is_dirty);
    if (!item.has(QueueItem::is_dirty)) return !item.has(QueueItem::is_waiting);
    if (!item.has(QueueItem::is_stored)) {
      if (readd_ == Readd::at_back) item.place_ = next_place_++;
      store(item);
    }
    ++ready_;
    return false;
  }

  /// Keeps an item that has no state for a while longer; end_rest() releases it.
  void rest(Item& item) {
    item.set(QueueItem::is_resting);
    resting_.push_back(item);
  }
  void end_rest(Item& item) {
    if (!item.has(QueueItem::is_resting)) return;
    item.clear(QueueItem::is_resting);
    resting_.remove(item);
  }
  /// Returns the item that has rested longest, or null.
  Item* longest_resting() { return resting_.empty() ? nullptr : static_cast<Item*>(&resting_.front()); }

  /// Ends all delays: items for which runs(item) is true become ready, the others lose their delay, and
  /// drop(item) is called for each that has no state left then.
  template <class Runs, class Drop>
  void end_waiting(const Runs& runs, const Drop& drop) {
    while (!heap_.empty()) {
      const TimePoint at = heap_.earliest();
      Item& item = static_cast<Item&>(heap_.pop());
      item.clear(QueueItem::is_waiting);
      if (runs(item)) {
        make_dirty(item, at);
      } else if (!item.has(QueueItem::is_processing)) {
        drop(item);
      }
    }
  }

  /// Empties the store permanently: items being processed do not run again. Calls drop(item) for each item
  /// that has no state left. Nothing may be added afterwards.
  template <class Drop>
  void close(const Drop& drop) {
    closed_ = true;
    if (meter_ != nullptr) meter_->was_closed();
    ready_ = 0;
    dirty_ = 0;
    while (store_.size() > 0) {
      Item& item = static_cast<Item&>(store_.pop());
      item.clear(QueueItem::is_stored);
      if (item.has(QueueItem::is_processing)) continue;
      item.clear(QueueItem::is_dirty);
      drop(item);
    }
  }

  bool is_waiting(const Item& item) const { return item.has(QueueItem::is_waiting); }
  bool is_processing(const Item& item) const { return item.has(QueueItem::is_processing); }
  bool is_dirty(const Item& item) const { return !closed_ && item.has(QueueItem::is_dirty); }

  bool is_stored(const Item& item) const { return item.has(QueueItem::is_stored); }

  /// Number of items that are dirty and not processing.
  std::size_t ready() const { return ready_; }
  /// Returns true if pop() finds an item, even one that is still processing.
  bool can_pop() const { return ready_ > 0 && may_pop(store_); }
  /// Number of items that need processing, including those that are processing now.
  std::size_t dirty() const { return dirty_; }
  std::size_t processing() const { return processing_; }
  std::size_t waiting() const { return heap_.size(); }
  /// Returns the end of the first delay; there must be one.
  TimePoint earliest() const { return heap_.earliest(); }
  /// Returns the end of the delay of a waiting item.
  TimePoint time_of(const Item& item) const { return heap_.time_of(item); }
  /// The place number of the next item.
  std::uint64_t next_place() const { return next_place_; }
  const Store& backing_store() const { return store_; }

 private:
  void raise(Item& item, std::int32_t priority) {
    item.priority_ = priority;
    if (meter_ != nullptr) meter_->was_raised(item.extras().meter, priority);
  }

  void make_dirty(Item& item, TimePoint now) {
    item.place_ = next_place_++;
    const bool processing = item.has(QueueItem::is_processing);
    if (!processing || readd_ == Readd::keep_place) store(item);
    if (meter_ != nullptr) meter_->became_dirty(item.extras().meter, item.priority_, now);
    item.set(QueueItem::is_dirty);
    ++dirty_;
    if (!processing) ++ready_;
  }

  // Called before anything else changes, because the store may run out of memory.
  void store(Item& item) {
    store_.push(item);
    item.set(QueueItem::is_stored);
  }

  Store store_;
  TimerHeap heap_;
  ItemList resting_;
  QueueMeter* const meter_;
  Readd readd_;
  bool closed_ = false;
  std::uint64_t next_place_ = 0;
  std::size_t ready_ = 0;
  std::size_t dirty_ = 0;
  std::size_t processing_ = 0;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
