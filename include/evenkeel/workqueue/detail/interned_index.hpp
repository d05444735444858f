// SPDX-License-Identifier: Apache-2.0
// Index from interned keys to queue nodes. Each queue attaches its node to the key's table entry, so a lookup
// computes no hash and searches no table, and an add of a key that is already queued can be recognized
// without the queue's lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include <evenkeel/workqueue/detail/key_entry.hpp>
#include <evenkeel/workqueue/detail/node_extras.hpp>
#include <evenkeel/workqueue/queue_item.hpp>
#include <evenkeel/workqueue/request_key.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A node lives as long as its key's entry. While the key has state in the queue, the node holds a handle and
/// so keeps the entry alive; afterwards it is idle and is destroyed with the entry, even if the queue is gone
/// by then. A queue constructed at the address of a former one finds the idle nodes of that one and reuses
/// them: they carry no state.
/// Thread safety: one thread at a time, except for is_covered().
class InternedIndex {
 public:
  class Node : public QueueNode<RequestKey>, public KeyAttachment {
   public:
    explicit Node(const void* owner) : KeyAttachment(owner) {}

    /// Valid only if the index makes nodes with extras.
    NodeExtras& extras() { return static_cast<NodeWithExtras&>(*this).extras; }
    const NodeExtras& extras() const { return static_cast<const NodeWithExtras&>(*this).extras; }

    // All changes are read-modify-write operations, so that each one synchronizes with the one before: writes
    // made before is_covered() are visible to the worker that is handed the key, no matter how often the
    // value changed in between.

    /// Records that the key is queued with its priority, so that an add with the same or a lower one has no
    /// effect.
    void cover() noexcept { covered_.exchange(code_of(priority()), std::memory_order_acq_rel); }
    /// Clears the record because the key is handed out.
    void uncover() noexcept { covered_.exchange(0, std::memory_order_acq_rel); }

   private:
    friend class InternedIndex;
    // Zero: not queued. Otherwise the priority, shifted so that all codes are positive.
    static std::int64_t code_of(std::int32_t priority) {
      return std::int64_t{priority} - std::numeric_limits<std::int32_t>::min() + 1;
    }

    std::atomic<std::int64_t> covered_ = 0;
    bool active_ = false;  // holds a handle to its key
  };
  static constexpr bool knows_without_lock = true;

  explicit InternedIndex(bool with_extras = false) : with_extras_(with_extras) {}
  InternedIndex(const InternedIndex&) = delete;
  InternedIndex& operator=(const InternedIndex&) = delete;

  /// Address that identifies the nodes of this index. It depends on whether they have extras, so that an
  /// index at the address of a former one finds nodes of its own type only.
  const void* owner() const { return &owners_[with_extras_ ? 1 : 0]; }

  /// Returns true if the queue with the index of `owner` will hand out `key`, with this or a higher priority,
  /// to a worker that then sees all earlier writes of the caller. Thread safety: may be called concurrently
  /// with all other members.
  static bool is_covered(const void* owner, const RequestKey& key, std::int32_t priority) noexcept {
    Node* node = node_on(key, owner);
    if (node == nullptr) return false;
    std::int64_t known = node->covered_.load(std::memory_order_relaxed);
    if (Node::code_of(priority) > known) return false;
    // A load is not enough: the write, though of the same value, orders this call before uncover().
    return node->covered_.compare_exchange_strong(known, known, std::memory_order_acq_rel,
                                                  std::memory_order_relaxed);
  }

  Node* find(const RequestKey& key, std::size_t /*hash*/) const {
    Node* node = node_on(key, owner());
    return node != nullptr && node->active_ ? node : nullptr;
  }

  /// Throws std::invalid_argument if the key is empty or belongs to another table than the keys in use.
  Node& obtain(const RequestKey& key, std::size_t /*hash*/) {
    Node* node = node_on(key, owner());
    if (node != nullptr && node->active_) return *node;
    check(key);
    if (node == nullptr) {
      node = with_extras_ ? new NodeWithExtras(owner()) : new Node(owner());
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
    node.drop_key();  // last: may destroy the node
  }

  std::size_t size() const { return size_; }

  /// Visits the nodes in parts, through the table of the keys; see HashTable::scan.
  template <class Visit>
  std::optional<std::uint64_t> scan(std::uint64_t position, std::size_t steps, const Visit& visit) const {
    if (size_ == 0) return std::nullopt;
    std::vector<const Node*> found;  // visited outside the table's lock: visit may take other locks
    const auto next = table_->scan(position, steps, [&](const KeyEntry& entry) {
      const auto* node = static_cast<const Node*>(entry.attachment_of(owner()));
      if (node != nullptr && node->active_) found.push_back(node);
    });
    for (const Node* node : found) visit(*node);
    return next;
  }

 private:
  struct NodeWithExtras final : Node {
    using Node::Node;
    NodeExtras extras;
  };

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

  const KeyTableState* table_ = nullptr;  // table of the keys in use
  std::size_t size_ = 0;
  const bool with_extras_;
  const char owners_[2] = {};  // used only for their addresses
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
