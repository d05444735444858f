// SPDX-License-Identifier: Apache-2.0
// How a queue finds the node of an interned key: it hangs on the key's entry, one per queue. So no hash
// is computed, no node is looked for, and who adds a key that is queued already can tell without the
// queue's lock that there is nothing to do.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include <evenkeel/workqueue/detail/key_entry.hpp>
#include <evenkeel/workqueue/queue_item.hpp>
#include <evenkeel/workqueue/request_key.hpp>

namespace evenkeel::inline v0::detail {

/// A node lives as long as its key's entry. While there is something to remember of the key it holds a
/// handle, so that the entry stays; afterwards it is idle, and goes with the entry, whatever becomes of
/// the queue. A queue that comes to stand at the address of a former one finds its idle nodes and uses
/// them: they carry no state.
/// Thread safety: one thread at a time, but for is_covered().
class InternedIndex {
 public:
  class Node final : public QueueNode<RequestKey>, public KeyAttachment {
   public:
    explicit Node(const void* owner) : KeyAttachment(owner) {}

    // All changes are exchanges, so that each one sees the one before: what a caller of is_covered wrote
    // before it asked is seen by whoever is handed the key, however often the value changed in between.

    /// Says that the key is queued with its priority, so that an add of no higher one changes nothing.
    void cover() noexcept { covered_.exchange(code_of(priority()), std::memory_order_acq_rel); }
    /// Takes that back, because the key is handed out.
    void uncover() noexcept { covered_.exchange(0, std::memory_order_acq_rel); }

   private:
    friend class InternedIndex;
    // Zero: nothing is known. Otherwise the priority, shifted so that all codes are positive.
    static std::int64_t code_of(std::int32_t priority) {
      return std::int64_t{priority} - std::numeric_limits<std::int32_t>::min() + 1;
    }

    std::atomic<std::int64_t> covered_ = 0;
    bool active_ = false;  // it holds a handle on its key
  };
  static constexpr bool knows_without_lock = true;

  InternedIndex() = default;
  InternedIndex(const InternedIndex&) = delete;
  InternedIndex& operator=(const InternedIndex&) = delete;

  /// Whether the queue with this index will hand out `key`, with this or a higher priority, to somebody
  /// who then sees all that the caller did before.
  /// Thread safety: may be called concurrently with everything else.
  static bool is_covered(const void* owner, const RequestKey& key, std::int32_t priority) noexcept {
    Node* node = node_on(key, owner);
    if (node == nullptr) return false;
    std::int64_t known = node->covered_.load(std::memory_order_relaxed);
    if (Node::code_of(priority) > known) return false;
    // A read would not do: the write, though of the same value, is what orders this before uncover().
    return node->covered_.compare_exchange_strong(known, known, std::memory_order_acq_rel,
                                                  std::memory_order_relaxed);
  }

  Node* find(const RequestKey& key, std::size_t /*hash*/) const {
    Node* node = node_on(key, this);
    return node != nullptr && node->active_ ? node : nullptr;
  }

  /// Throws std::invalid_argument if the key names nothing or is of another table than those at work.
  Node& obtain(const RequestKey& key, std::size_t /*hash*/) {
    Node* node = node_on(key, this);
    if (node != nullptr && node->active_) return *node;
    check(key);
    if (node == nullptr) {
      node = new Node(this);
      key.entry_->attach(*node);
    }
    node->take_key(key);
    node->active_ = true;
    ++size_;
    return *node;
  }

  void release(Node& node) noexcept {
    node.covered_.store(0, std::memory_order_relaxed);
    node.active_ = false;
    --size_;
    node.drop_key();  // last: the node may go with it
  }

  std::size_t size() const { return size_; }

 private:
  static Node* node_on(const RequestKey& key, const void* owner) noexcept {
    const KeyEntry* entry = key.entry_;
    return entry == nullptr ? nullptr : static_cast<Node*>(entry->attachment_of(owner));
  }

  void check(const RequestKey& key) {
    if (key.entry_ == nullptr) throw std::invalid_argument("RequestQueue: the key names nothing");
    if (size_ > 0 && key.entry_->table() != table_) {
      throw std::invalid_argument("RequestQueue: the keys are of two tables");
    }
    table_ = key.entry_->table();
  }

  const KeyTableState* table_ = nullptr;  // of the keys at work
  std::size_t size_ = 0;
};

}  // namespace evenkeel::inline v0::detail
