// SPDX-License-Identifier: Apache-2.0
// The queue's decisions: which key is next, what is dirty, processing or waiting. No thread, no lock, no
// clock; time is an argument. WorkQueue (work_queue.hpp) is the same with a lock and a blocking get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <evenkeel/base/time.hpp>
#include <evenkeel/workqueue/detail/hash_index.hpp>
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
template <class Key, BackingStore<QueueNode<Key>> Store, class Index = detail::HashIndex<Key>>
class QueueCore {
 public:
  using Node = typename Index::Node;

  explicit QueueCore(Store store = Store(), Readd readd = Readd::at_back)
      : schedule_(std::move(store), readd) {}
  QueueCore(const QueueCore&) = delete;
  QueueCore& operator=(const QueueCore&) = delete;
  ~QueueCore() { discard(); }

  /// Makes `key` ready: at once, or when it is done if it is processed now. Returns its node.
  Node& add(const Key& key, std::size_t hash, Priority priority, TimePoint now) {
    fire(now);
    Node& node = index_.obtain(key, hash);
    schedule_.add(node, priority.value);
    return node;
  }

  /// The same, unless `key` waits for a delay at `now`: null then, and nothing changes.
  Node* add_unless_waiting(const Key& key, std::size_t hash, Priority priority, TimePoint now) {
    fire(now);
    Node& node = index_.obtain(key, hash);
    if (schedule_.is_waiting(node)) return nullptr;
    schedule_.add(node, priority.value);
    return &node;
  }

  /// Makes `key` ready at `at`, or at once if that is not after `now`. The earliest of several times
  /// counts, and a key that is ready stays so.
  void add_at(const Key& key, std::size_t hash, TimePoint at, Priority priority, TimePoint now) {
    fire(now);
    Node& node = index_.obtain(key, hash);
    if (at <= now) return schedule_.add(node, priority.value);
    try {
      schedule_.add_at(node, at, priority.value);
    } catch (...) {  // no room in the heap: a node in no state must not stay in the table
      if (is_idle(node)) index_.release(node);
      throw;
    }
  }

  /// Makes ready what waits for `now` or earlier, in the order of (time, insertion).
  void fire(TimePoint now) { schedule_.fire(now); }

  /// Hands out the next key; null if none is ready. The node stays valid until done().
  Node* pop() { return schedule_.pop(); }

  /// Ends the processing of a node that pop() returned.
  void done(Node& node) {
    if (schedule_.done(node)) index_.release(node);
  }

  /// Drops all delays.
  void discard_waiting() {
    schedule_.discard_waiting([this](Node& node) { index_.release(node); });
  }

  /// Drops all delays and all that is ready or would run again after it is done. The end: nothing may be
  /// added afterwards.
  void discard() {
    discard_waiting();
    schedule_.close([this](Node& node) { index_.release(node); });
  }

  bool is_waiting(const Key& key, std::size_t hash) const {
    const Node* node = index_.find(key, hash);
    return node != nullptr && schedule_.is_waiting(*node);
  }
  bool is_processing(const Key& key, std::size_t hash) const {
    const Node* node = index_.find(key, hash);
    return node != nullptr && schedule_.is_processing(*node);
  }
  bool is_dirty(const Key& key, std::size_t hash) const {
    const Node* node = index_.find(key, hash);
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
  std::size_t size() const { return index_.size(); }
  const Index& index() const { return index_; }
  const Store& store() const { return schedule_.backing_store(); }

 private:
  bool is_idle(const Node& node) const {
    return !schedule_.is_waiting(node) && !schedule_.is_processing(node) && !schedule_.is_dirty(node);
  }

  Index index_;
  detail::Schedule<Node, Store> schedule_;
};

}  // namespace evenkeel::inline v0
