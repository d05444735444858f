// SPDX-License-Identifier: Apache-2.0
// Intrusive hash table: one pointer and one hash per node, no allocation except for the bucket array, nodes
// never move. The queue, the key table and the limiters are built on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace evenkeel {
inline namespace v0 {

/// Base class of the nodes of a HashTable<T>.
template <class T>
class TableLink {
 public:
  /// The hash that the node was inserted with.
  std::size_t table_hash() const { return hash_; }

 private:
  template <class>
  friend class HashTable;
  T* next_ = nullptr;
  std::size_t hash_ = 0;
};

/// A set of nodes, found by hash and a caller's comparison. The bucket array grows with the set and never
/// shrinks.
/// Thread safety: one thread at a time. Lifetime: nodes are not owned and must outlive their membership.
template <class T>
class HashTable {
 public:
  std::size_t size() const { return size_; }

  /// Returns the node with this hash for which equal(node) is true, or null.
  template <class Equal>
  T* find(std::size_t hash, const Equal& equal) const {
    if (size_ == 0) return nullptr;
    for (T* node = buckets_[bucket_of(hash)]; node != nullptr; node = link(*node).next_) {
      if (link(*node).hash_ == hash && equal(*node)) return node;
    }
    return nullptr;
  }

  /// Adds a node that is not in a table. Throws std::bad_alloc, before anything changed.
  void insert(T& node, std::size_t hash) {
    if (size_ == buckets_.size()) grow();
    link(node).hash_ = hash;
    put(node);
    ++size_;
  }

  /// Removes a node that is in this table.
  void erase(T& node) noexcept {
    T** at = &buckets_[bucket_of(link(node).hash_)];
    while (*at != &node) at = &link(**at).next_;
    *at = link(node).next_;
    link(node).next_ = nullptr;
    --size_;
  }

  /// Calls visit(node) for every node, in no particular order; visit must not change the table.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (T* node : buckets_) {
      for (; node != nullptr; node = link(*node).next_) visit(*node);
    }
  }

  /// Visits about `steps` buckets and nodes. `position` is 0 for the first call, then the result of the
  /// previous one; returns nullopt at the end. The table may change between calls: a node that stays in it is
  /// visited exactly once, any other at most once. visit must not change the table.
  template <class Visit>
  std::optional<std::uint64_t> scan(std::uint64_t position, std::size_t steps, const Visit& visit) const {
    if (buckets_.empty()) return std::nullopt;
    // Positions are spread hashes and buckets are ranges of them, so growing the table divides the ranges.
    for (auto bucket = static_cast<std::size_t>(position >> shift_); bucket < buckets_.size(); ++bucket) {
      if (steps == 0) return std::uint64_t{bucket} << shift_;
      --steps;
      for (T* node = buckets_[bucket]; node != nullptr; node = link(*node).next_) {
        visit(*node);
        if (steps > 0) --steps;
      }
    }
    return std::nullopt;
  }

  /// Removes every node and calls dispose(node) for it, which may destroy it.
  template <class Dispose>
  void clear(const Dispose& dispose) {
    size_ = 0;
    for (T*& bucket : buckets_) {
      while (bucket != nullptr) {
        T& node = *bucket;
        bucket = link(node).next_;
        link(node).next_ = nullptr;
        dispose(node);
      }
    }
  }

 private:
  static TableLink<T>& link(T& node) { return node; }

  // Multiplying spreads the hashes that std::hash leaves unmixed (integers, pointers); the high bits are the
  // best mixed.
  std::size_t bucket_of(std::size_t hash) const {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(hash) * 0x9e3779b97f4a7c15ULL) >> shift_);
  }

  void put(T& node) {
    T*& bucket = buckets_[bucket_of(link(node).hash_)];
    link(node).next_ = bucket;
    bucket = &node;
  }

  void grow() {
    std::vector<T*> old(buckets_.empty() ? 16 : buckets_.size() * 2, nullptr);
    old.swap(buckets_);
    shift_ = old.empty() ? 60 : shift_ - 1;
    for (T* node : old) {
      while (node != nullptr) {
        T* next = link(*node).next_;
        put(*node);
        node = next;
      }
    }
  }

  std::vector<T*> buckets_;  // size is a power of two; at most one node per bucket on average
  std::size_t size_ = 0;
  unsigned shift_ = 64;
};

}  // namespace v0
}  // namespace evenkeel
