// SPDX-License-Identifier: Apache-2.0
// Hash table from keys to queue nodes. Unused nodes are kept for reuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <evenkeel/base/hash_table.hpp>
#include <evenkeel/workqueue/detail/node_extras.hpp>
#include <evenkeel/workqueue/queue_item.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Index of nodes by key, for any key type.
/// Thread safety: one thread at a time.
template <class Key>
class HashIndex {
 public:
  class Node : public QueueNode<Key>, public TableLink<Node> {
   public:
    /// Valid only if the index makes nodes with extras.
    NodeExtras& extras() { return static_cast<NodeWithExtras&>(*this).extras; }
    const NodeExtras& extras() const { return static_cast<const NodeWithExtras&>(*this).extras; }
  };
  static constexpr bool knows_without_lock = false;

  explicit HashIndex(bool with_extras = false) : with_extras_(with_extras) {}
  HashIndex(const HashIndex&) = delete;
  HashIndex& operator=(const HashIndex&) = delete;
  ~HashIndex() {
    nodes_.clear([this](Node& node) {
      node.drop_key();
      destroy(node);
    });
    while (!free_.empty()) destroy(take_free());
  }

  /// Returns the node of `key`, or null.
  Node* find(const Key& key, std::size_t hash) const {
    return nodes_.find(hash, [&](const Node& node) { return node.key() == key; });
  }

  /// Returns the node of `key`, creating it if necessary.
  Node& obtain(const Key& key, std::size_t hash) {
    Node* node = find(key, hash);
    if (node != nullptr) return *node;
    node = free_.empty() ? make() : &take_free();
    try {
      node->take_key(key);
    } catch (...) {
      put_free(*node);
      throw;
    }
    try {
      nodes_.insert(*node, hash);
    } catch (...) {
      node->drop_key();
      put_free(*node);
      throw;
    }
    return *node;
  }

  /// Releases a node whose key has no state left.
  void release(Node& node) noexcept {
    nodes_.erase(node);
    node.drop_key();
    put_free(node);
  }

  /// Number of keys that have a node.
  std::size_t size() const { return nodes_.size(); }

  /// Visits the nodes in parts; see HashTable::scan.
  template <class Visit>
  std::optional<std::uint64_t> scan(std::uint64_t position, std::size_t steps, const Visit& visit) const {
    return nodes_.scan(position, steps, visit);
  }

 private:
  struct NodeWithExtras final : Node {
    NodeExtras extras;
  };

  static constexpr std::size_t most_free = 1024;

  Node* make() { return with_extras_ ? new NodeWithExtras() : new Node(); }
  void destroy(Node& node) noexcept {
    if (with_extras_) {
      delete static_cast<NodeWithExtras*>(&node);
    } else {
      delete &node;
    }
  }

  void put_free(Node& node) noexcept {
    if (free_.size() == most_free) {
      destroy(node);
    } else {
      free_.push_front(node);
    }
  }

  Node& take_free() { return static_cast<Node&>(free_.pop_front()); }

  HashTable<Node> nodes_;
  ItemList free_;
  const bool with_extras_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
