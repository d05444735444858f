// SPDX-License-Identifier: Apache-2.0
// The states of a queue's items and how they change. It neither finds items by key nor owns them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <evenkeel/base/time.hpp>
#include <evenkeel/workqueue/detail/queue_meter.hpp>
#include <evenkeel/workqueue/detail/timer_heap.hpp>
#include <evenkeel/workqueue/queue_item.hpp>
#include <evenkeel/workqueue/store.hpp>

namespace evenkeel {
inline namespace v0 {

/// Where a key goes that was added while it was processed, once it is done.
enum class Readd : std::uint8_t {
  at_back,     ///< Behind everything that is queued by then, as in client-go.
  keep_place,  ///< Where it was added: it does not wait for what was added later.
};

namespace detail {

/// Dirty, processing, stored, waiting and resting are bits of an item. An item is in the store exactly if
/// it is dirty and not processing; with keep_place also while it is processing, until its turn comes. One
/// that rests is in no other state. Times are looked at only where there is a meter, but for fire's.
/// Lifetime: keeps a pointer to the meter, if any; then items have extras.
template <class Item, class Store>
class Schedule {
 public:
  Schedule(Store store, Readd readd, QueueMeter* meter)
      : store_(std::move(store)), meter_(meter), readd_(readd) {}

  /// Makes an item ready: now, or once it is done. A delay that it waits for is dropped.
  void add(Item& item, std::int32_t priority, TimePoint now) {
    if (item.has(QueueItem::is_waiting)) {
      heap_.erase(item);
      item.clear(QueueItem::is_waiting);
      if (item.priority_ > priority) priority = item.priority_;
    }
    if (item.has(QueueItem::is_dirty)) {
      const bool raised = priority > item.priority_;
      // Its turn came too early: the store has to see it to give it a new one.
      const bool moves = raised || !touch_needs_raise(store_);
      if (moves && readd_ == Readd::keep_place && !item.has(QueueItem::is_stored)) store(item);
      if (raised) raise(item, priority);
      if (item.has(QueueItem::is_stored)) store_.touch(item, next_place_++);
      return;
    }
    item.priority_ = priority;
    make_dirty(item, now);
  }

  /// Makes an item ready at `at`; the earliest of several times counts. One that is dirty stays so.
  void add_at(Item& item, TimePoint at, std::int32_t priority) {
    if (item.has(QueueItem::is_waiting) && at > heap_.time_of(item)) at = heap_.time_of(item);
    wait_until(item, at, priority);
  }

  /// The same, but what the item waits for already does not count.
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

  /// Makes ready what waits for `now` or earlier.
  void fire(TimePoint now) {
    while (!heap_.empty() && heap_.earliest() <= now) {
      const TimePoint at = heap_.earliest();
      Item& item = static_cast<Item&>(heap_.pop());
      item.clear(QueueItem::is_waiting);
      try {
        make_dirty(item, at);
      } catch (...) {  // no room in the store; in the heap there is, where the item was
        heap_.insert(item, at);
        item.set(QueueItem::is_waiting);
        throw;
      }
    }
  }

  /// Hands out the next item, which is processing from then on; null if none is ready.
  Item* pop(TimePoint now) {
    while (can_pop()) {
      Item& item = static_cast<Item&>(store_.pop());
      item.clear(QueueItem::is_stored);
      if (item.has(QueueItem::is_processing)) {  // its turn came too early: done() puts it back
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

  /// Ends the processing of an item; true if nothing is left to remember of it.
  bool done(Item& item, TimePoint now) {
    item.clear(QueueItem::is_processing);
    --processing_;
    if (meter_ != nullptr) meter_->was_done(item.extras().meter, now);
    tell_done(store_, item);
    if (closed_) item.clear(QueueItem::is_dirty);
    if (!item.has(QueueItem::is_dirty)) return !item.has(QueueItem::is_waiting);
    if (!item.has(QueueItem::is_stored)) {
      if (readd_ == Readd::at_back) item.place_ = next_place_++;
      store(item);
    }
    ++ready_;
    return false;
  }

  /// Keeps an item that is in no state for a while longer; it leaves with the next end_rest().
  void rest(Item& item) {
    item.set(QueueItem::is_resting);
    resting_.push_back(item);
  }
  void end_rest(Item& item) {
    if (!item.has(QueueItem::is_resting)) return;
    item.clear(QueueItem::is_resting);
    resting_.remove(item);
  }
  /// The one that has rested longest, or null.
  Item* longest_resting() { return resting_.empty() ? nullptr : static_cast<Item*>(&resting_.front()); }

  /// Ends all delays: an item for which runs(item) is true becomes ready, the others forget them, and
  /// drop(item) is called for each of which nothing is left then.
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

  /// Empties the store for good: what is processing does not run again. drop(item) is called for each
  /// item of which nothing is left. Nothing may be added afterwards.
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

  bool is_closed() const { return closed_; }
  bool is_waiting(const Item& item) const { return item.has(QueueItem::is_waiting); }
  bool is_processing(const Item& item) const { return item.has(QueueItem::is_processing); }
  bool is_dirty(const Item& item) const { return !closed_ && item.has(QueueItem::is_dirty); }

  bool is_stored(const Item& item) const { return item.has(QueueItem::is_stored); }

  /// Items that are dirty and not processing.
  std::size_t ready() const { return ready_; }
  /// Whether pop() finds an item, or at least one whose turn came too early.
  bool can_pop() const { return ready_ > 0 && may_pop(store_); }
  /// Items that need processing, those that are processing now included.
  std::size_t dirty() const { return dirty_; }
  std::size_t processing() const { return processing_; }
  std::size_t waiting() const { return heap_.size(); }
  /// When the first delay ends; there must be one.
  TimePoint earliest() const { return heap_.earliest(); }
  /// When the delay of an item ends that waits.
  TimePoint time_of(const Item& item) const { return heap_.time_of(item); }
  /// The place that the next item gets.
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

  // Before anything else is changed, because a store may have no room left.
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
