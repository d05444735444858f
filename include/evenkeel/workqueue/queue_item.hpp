// SPDX-License-Identifier: Apache-2.0
// The record of a key in a queue: the node that backing stores order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace evenkeel {
inline namespace v0 {

/// One of two priority levels: the lane of a TwoLaneStore, an ordinary priority in other stores.
enum class Lane : std::uint8_t {
  fast,  ///< Priority 0: changes that users wait for.
  slow,  ///< Priority -100: resyncs and the first list.
};

/// Urgency of an added key: higher first, 0 by default. Its effect depends on the store: a FifoStore ignores
/// it, a TwoLaneStore puts keys below 0 into the slow lane.
struct Priority {
  constexpr Priority(std::int32_t level = 0) : value(level) {}
  constexpr Priority(Lane lane) : value(lane == Lane::fast ? 0 : -100) {}
  std::int32_t value;
};

namespace detail {
template <class Item, class Store>
class Schedule;
}  // namespace detail

/// The part of a node that is independent of the key's type; sufficient for most stores.
/// Thread safety: one thread at a time; a queue calls its store under its own lock.
class QueueItem {
 public:
  QueueItem() = default;
  QueueItem(const QueueItem&) = delete;
  QueueItem& operator=(const QueueItem&) = delete;

  /// The priority it was added with, raised by later adds; it does not change between two calls of the store
  /// for this item.
  std::int32_t priority() const { return priority_; }
  /// Position in the order of adding: lower came first. Unique among the items in a store.
  std::uint64_t place() const { return place_; }
  /// Must be called by a store's touch() if it moves the item behind others.
  void set_place(std::uint64_t place) { place_ = place; }

  /// Sixteen bits for the store's own use, for example the lane that the item is in.
  std::uint16_t store_tag() const { return store_tag_; }
  void set_store_tag(std::uint16_t tag) { store_tag_ = tag; }
  /// A number for the store's own use; it shares its storage with the links of ItemList. While the item is
  /// not in the store the queue uses it.
  std::size_t store_index() const { return slot_.index; }
  void set_store_index(std::size_t index) { slot_.index = index; }

 private:
  friend class ItemList;
  template <class Item, class Store>
  friend class detail::Schedule;

  static constexpr std::uint8_t is_dirty = 1;       // needs processing
  static constexpr std::uint8_t is_processing = 2;  // held by a worker
  static constexpr std::uint8_t is_stored = 4;      // in the backing store
  static constexpr std::uint8_t is_waiting = 8;     // in the heap of delayed items
  static constexpr std::uint8_t is_resting = 16;    // kept only because it ran recently

  bool has(std::uint8_t state) const { return (state_ & state) != 0; }
  void set(std::uint8_t state) { state_ = static_cast<std::uint8_t>(state_ | state); }
  void clear(std::uint8_t state) { state_ = static_cast<std::uint8_t>(state_ & ~state); }

  struct Links {
    QueueItem* previous;
    QueueItem* next;
  };
  union Slot {  // an item is never in the store and in the heap at the same time
    Links links;
    std::size_t index;
  };

  Slot slot_{.links = {nullptr, nullptr}};
  std::uint64_t place_ = 0;
  std::int32_t priority_ = 0;
  std::uint16_t store_tag_ = 0;
  std::uint8_t state_ = 0;
};

/// A node of a queue whose keys are of type Key. The key exists from take_key() to drop_key(), so an unused
/// node holds no resources. Strings are cleared instead of destroyed, so that a queue in steady state does
/// not allocate.
template <class Key>
class QueueNode : public QueueItem {
 public:
  QueueNode() {
    if constexpr (reuses_key) std::construct_at(&key_);
  }
  // The key has been dropped before the node is destroyed.
  ~QueueNode() {
    if constexpr (reuses_key) std::destroy_at(&key_);
  }

  const Key& key() const { return key_; }

  void take_key(const Key& key) {
    if constexpr (reuses_key) {
      key_ = key;
    } else {
      std::construct_at(&key_, key);
    }
  }

  void drop_key() noexcept {
    if constexpr (reuses_key) {
      if (key_.capacity() > longest_reused) Key().swap(key_);
      key_.clear();
    } else {
      // Moved out first: dropping the last handle to an interned key destroys this node.
      [[maybe_unused]] const Key last = std::move(key_);
      std::destroy_at(&key_);
    }
  }

 private:
  static constexpr bool reuses_key = std::is_same_v<Key, std::string>;
  static constexpr std::size_t longest_reused = 512;  // a namespace and a name have at most 317 bytes

  union {
    Key key_;
  };
};

/// An intrusive list that never allocates: the links are in the items. An item is in at most one list.
/// Thread safety: one thread at a time.
class ItemList {
 public:
  ItemList() = default;
  ItemList(ItemList&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)),
        last_(std::exchange(other.last_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  ItemList& operator=(ItemList&& other) noexcept {
    first_ = std::exchange(other.first_, nullptr);
    last_ = std::exchange(other.last_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  bool empty() const { return first_ == nullptr; }
  std::size_t size() const { return size_; }
  /// Returns the first item; the list must not be empty.
  QueueItem& front() const { return *first_; }

  /// Inserts `item` at the position of its place(). Complexity: constant for the latest place, the usual
  /// case, and for the earliest; otherwise linear in the number of earlier items.
  void insert(QueueItem& item) {
    if (last_ == nullptr || last_->place_ < item.place_) return link(item, last_, nullptr);
    QueueItem* next = first_;
    while (next->place_ < item.place_) next = next->slot_.links.next;
    link(item, next->slot_.links.previous, next);
  }

  /// Inserts `item` last, regardless of its place().
  void push_back(QueueItem& item) { link(item, last_, nullptr); }
  /// Inserts `item` first, regardless of its place().
  void push_front(QueueItem& item) { link(item, nullptr, first_); }

  /// Removes an item that is in this list.
  void remove(QueueItem& item) {
    QueueItem* previous = item.slot_.links.previous;
    QueueItem* next = item.slot_.links.next;
    (previous == nullptr ? first_ : previous->slot_.links.next) = next;
    (next == nullptr ? last_ : next->slot_.links.previous) = previous;
    --size_;
  }

  /// Removes and returns the first item; the list must not be empty.
  QueueItem& pop_front() {
    QueueItem& item = *first_;
    remove(item);
    return item;
  }

 private:
  void link(QueueItem& item, QueueItem* previous, QueueItem* next) {
    item.slot_.links = {previous, next};
    (previous == nullptr ? first_ : previous->slot_.links.next) = &item;
    (next == nullptr ? last_ : next->slot_.links.previous) = &item;
    ++size_;
  }

  QueueItem* first_ = nullptr;
  QueueItem* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace v0
}  // namespace evenkeel
