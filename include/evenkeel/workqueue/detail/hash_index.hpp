// SPDX-License-Identifier: Apache-2.0
// How a queue finds the node of a key: a hash table. Nodes that are not needed are kept for reuse.
#pragma once

#include <cstddef>
#include <cstdint>

#include <evenkeel/base/hash_table.hpp>
#include <evenkeel/workqueue/queue_item.hpp>

namespace evenkeel::inline v0::detail {

/// Nodes by key, for keys of any type.
/// Thread safety: one thread at a time.
template <class Key>
class HashIndex {
 public:
  class Node final : public QueueNode<Key>, public TableLink<Node> {};
  static constexpr bool knows_without_lock = false;

  HashIndex() = default;
  HashIndex(const HashIndex&) = delete;
  HashIndex& operator=(const HashIndex&) = delete;
  ~HashIndex() {
    nodes_.clear([](Node& node) {
      node.drop_key();
      delete &node;
    });
    while (!free_.empty()) delete &take_free();
  }

  /// The node of `key`, or null.
  Node* find(const Key& key, std::size_t hash) const {
    return nodes_.find(hash, [&](const Node& node) { return node.key() == key; });
  }

  /// The node of `key`, made if there is none.
  Node& obtain(const Key& key, std::size_t hash) {
    Node* node = find(key, hash);
    if (node != nullptr) return *node;
    node = free_.empty() ? new Node() : &take_free();
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

  /// Nothing is left to remember of this node's key.
  void release(Node& node) noexcept {
    nodes_.erase(node);
    node.drop_key();
    put_free(node);
  }

  /// Keys that have a node.
  std::size_t size() const { return nodes_.size(); }

 private:
  static constexpr std::size_t most_free = 1024;

  void put_free(Node& node) noexcept {
    if (free_.size() == most_free) {
      delete &node;
    } else {
      free_.push_front(node);
    }
  }

  Node& take_free() { return static_cast<Node&>(free_.pop_front()); }

  HashTable<Node> nodes_;
  ItemList free_;
};

}  // namespace evenkeel::inline v0::detail
