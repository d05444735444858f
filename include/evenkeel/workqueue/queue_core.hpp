// SPDX-License-Identifier: Apache-2.0
// The queue's decisions: which key is next, what is dirty, processing or waiting. No thread, no lock, no
// clock; time is an argument. WorkQueue (work_queue.hpp) is the same with a lock and a blocking get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <evenkeel/base/hash_table.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/workqueue/detail/schedule.hpp>
#include <evenkeel/workqueue/queue_item.hpp>
#include <evenkeel/workqueue/store.hpp>

namespace evenkeel::inline v0 {

/// A queue of keys as a state machine. Every key is held once: adding a queued key again changes nothing
/// (but for its priority, and what the store makes of it), adding one that is processed makes it run once
/// more, adding one that waits for a delay makes it ready. A key that is handed out is nobody else's
/// until done(). Nodes of keys of which nothing is left are reused.
/// Hashes are arguments, so that they can be computed before a lock is taken: always std::hash<Key>'s.
/// Thread safety: one thread at a time. Lifetime: nodes are valid from pop() to done().
/// Source: client-go util/workqueue Type and delayingType. Deviations: an add drops a pending delay; the
/// place of a re-added key is a choice; no done() without pop().
template <class Key, BackingStore<QueueNode<Key>> Store>
class QueueCore {
 public:
  using Node = QueueNode<Key>;

  explicit QueueCore(Store store = Store(), Readd readd = Readd::at_back)
      : schedule_(std::move(store), readd) {}
  QueueCore(const QueueCore&) = delete;
  QueueCore& operator=(const QueueCore&) = delete;
  ~QueueCore() {
    nodes_.clear([](Node& node) {
      node.drop_key();
      delete &node;
    });
    while (!free_.empty()) delete &take_free();
  }

  /// Makes `key` ready: at once, or when it is done if it is processed now.
  void add(const Key& key, std::size_t hash, Priority priority, TimePoint now) {
    fire(now);
    schedule_.add(node_of(key, hash), priority.value);
  }

  /// Makes `key` ready at `at`, or at once if that is not after `now`. The earliest of several times
  /// counts, and a key that is ready stays so.
  void add_at(const Key& key, std::size_t hash, TimePoint at, Priority priority, TimePoint now) {
    fire(now);
    if (at <= now) return schedule_.add(node_of(key, hash), priority.value);
    Node& node = node_of(key, hash);
    try {
      schedule_.add_at(node, at, priority.value);
    } catch (...) {  // no room in the heap: a node in no state must not stay in the table
      if (is_idle(node)) release(node);
      throw;
    }
  }

  /// Makes ready what waits for `now` or earlier, in the order of (time, insertion).
  void fire(TimePoint now) { schedule_.fire(now); }

  /// Hands out the next key; null if none is ready. The node stays valid until done().
  Node* pop() { return schedule_.pop(); }

  /// Ends the processing of a node that pop() returned.
  void done(Node& node) {
    if (schedule_.done(node)) release(node);
  }

  /// Drops all delays.
  void discard_waiting() {
    schedule_.discard_waiting([this](Node& node) { release(node); });
  }

  /// Drops all delays and all that is ready or would run again after it is done.
  void discard() {
    discard_waiting();
    schedule_.discard_stored([this](Node& node) { release(node); });
    nodes_.for_each([this](Node& node) { schedule_.discard_dirty(node); });
  }

  bool is_waiting(const Key& key, std::size_t hash) const {
    const Node* node = find(key, hash);
    return node != nullptr && schedule_.is_waiting(*node);
  }
  bool is_processing(const Key& key, std::size_t hash) const {
    const Node* node = find(key, hash);
    return node != nullptr && schedule_.is_processing(*node);
  }
  bool is_dirty(const Key& key, std::size_t hash) const {
    const Node* node = find(key, hash);
    return node != nullptr && schedule_.is_dirty(*node);
  }

  /// Keys that pop() would hand out, one after the other.
  std::size_t ready() const { return schedule_.ready(); }
  /// Keys that need processing: ready ones and those that were added again while processed.
  std::size_t dirty() const { return schedule_.dirty(); }
  std::size_t processing() const { return schedule_.processing(); }
  std::size_t waiting() const { return schedule_.waiting(); }
  /// When the first delay ends, if a key waits.
  std::optional<TimePoint> next_due() const {
    if (schedule_.waiting() == 0) return std::nullopt;
    return schedule_.earliest();
  }
  /// Keys that are known: dirty, processing or waiting.
  std::size_t size() const { return nodes_.size(); }
  const Store& store() const { return schedule_.backing_store(); }

 private:
  static constexpr std::size_t most_free = 1024;  // nodes kept for reuse

  Node* find(const Key& key, std::size_t hash) const {
    return nodes_.find(hash, [&](const Node& node) { return node.key() == key; });
  }

  Node& node_of(const Key& key, std::size_t hash) {
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

  bool is_idle(const Node& node) const {
    return !schedule_.is_waiting(node) && !schedule_.is_processing(node) && !schedule_.is_dirty(node);
  }

  void release(Node& node) {
    nodes_.erase(node);
    node.drop_key();
    put_free(node);
  }

  void put_free(Node& node) {
    if (free_.size() == most_free) {
      delete &node;
    } else {
      free_.push_front(node);
    }
  }

  Node& take_free() { return static_cast<Node&>(free_.pop_front()); }

  detail::Schedule<Node, Store> schedule_;
  HashTable<Node> nodes_;
  ItemList free_;
};

}  // namespace evenkeel::inline v0
