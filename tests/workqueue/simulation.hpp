// SPDX-License-Identifier: Apache-2.0
// Workers and arrivals around a QueueCore in virtual time: no thread and no clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/workqueue/queue_core.hpp>

namespace evenkeel::tests {

/// A QueueCore that computes the hashes itself.
template <class Key, class Store, class Index = detail::HashIndex<Key>>
class Core {
 public:
  using Node = typename QueueCore<Key, Store, Index>::Node;
  explicit Core(Store store = Store(), Readd readd = Readd::at_back) : core_(std::move(store), readd) {}
  Core(Store store, const QueueCoreOptions& options) : core_(std::move(store), options) {}

  void add(const Key& key, Priority priority = {}, Duration now = {}) {
    core_.add(key, hash(key), priority, TimePoint{now});
  }
  Node* add_unless_waiting(const Key& key, Priority priority = {}, Duration now = {}) {
    return core_.add_unless_waiting(key, hash(key), priority, TimePoint{now});
  }
  void add_at(const Key& key, Duration at, Duration now = {}, Priority priority = {}) {
    core_.add_at(key, hash(key), TimePoint{at}, priority, TimePoint{now});
  }
  void on_timeout(Duration now) { core_.on_timeout(TimePoint{now}); }
  Node* pop(Duration now = {}) { return core_.pop(TimePoint{now}); }
  void done(Node* node, Duration now = {}) { core_.done(*node, TimePoint{now}); }
  bool is_dirty(const Key& key) const { return core_.is_dirty(key, hash(key)); }
  bool is_processing(const Key& key) const { return core_.is_processing(key, hash(key)); }
  bool is_waiting(const Key& key) const { return core_.is_waiting(key, hash(key)); }

  /// Pops and ends all ready keys; returns them in order.
  std::vector<Key> drain() {
    std::vector<Key> keys;
    while (Node* node = pop()) {
      keys.push_back(node->key());
      done(node);
    }
    return keys;
  }

  QueueCore<Key, Store, Index>& operator*() { return core_; }
  QueueCore<Key, Store, Index>* operator->() { return &core_; }

 private:
  static std::size_t hash(const Key& key) { return std::hash<Key>{}(key); }
  QueueCore<Key, Store, Index> core_;
};

/// One run of a key.
struct KeyRun {
  std::string key;
  Duration start;
  friend bool operator==(const KeyRun&, const KeyRun&) = default;
};

/// Runs `workers` workers from time zero: keys are added at the times of `arrivals`, and each run of a key
/// takes `work(run)`, which may add keys when the run ends, through `add_later`.
template <class Store>
class Simulation {
 public:
  using Queue = Core<std::string, Store>;

  Simulation(std::size_t workers, Store store, Readd readd)
      : idle_(workers), queue_(std::move(store), readd) {}

  Queue& queue() { return queue_; }
  /// Calls `event` at `at`; events at the same time run in the order in which they were given.
  void at(Duration at, std::function<void()> event) { events_.push_back({at, order_++, std::move(event)}); }
  /// Returns the duration of a run.
  std::function<Duration(const KeyRun&)> work = [](const KeyRun&) { return Duration::zero(); };
  /// Called when a run ends, before the key is marked done.
  std::function<void(const KeyRun&, Duration)> finished = [](const KeyRun&, Duration) {};

  /// Runs until nothing is left to do or `end` is reached; returns the runs in order.
  const std::vector<KeyRun>& run(Duration end) {
    for (;;) {
      hand_out();
      const std::optional<Duration> next = next_time();
      if (!next || *next > end) return runs_;
      now_ = *next;
      queue_.on_timeout(now_);
      if (!step()) continue;  // a delay ended
    }
  }

  Duration now() const { return now_; }

 private:
  struct Event {
    Duration at;
    std::uint64_t order;
    std::function<void()> happen;
  };

  std::optional<Duration> next_time() {
    std::optional<Duration> next;
    for (const Event& event : events_) {
      if (!next || event.at < *next) next = event.at;
    }
    const auto due = queue_->next_due();
    if (due && (!next || due->time_since_epoch() < *next)) next = due->time_since_epoch();
    return next;
  }

  bool step() {
    auto first = events_.end();
    for (auto event = events_.begin(); event != events_.end(); ++event) {
      if (event->at > now_) continue;
      if (first == events_.end() || event->order < first->order) first = event;
    }
    if (first == events_.end()) return false;
    const auto happen = std::move(first->happen);
    events_.erase(first);
    happen();
    return true;
  }

  void hand_out() {
    while (idle_ > 0) {
      auto* node = queue_.pop();
      if (node == nullptr) return;
      --idle_;
      const KeyRun run{node->key(), now_};
      runs_.push_back(run);
      at(now_ + work(run), [this, run, node] {
        finished(run, now_);
        queue_.done(node);
        ++idle_;
      });
    }
  }

  std::size_t idle_;
  Queue queue_;
  Duration now_{};
  std::uint64_t order_ = 0;
  std::vector<Event> events_;
  std::vector<KeyRun> runs_;
};

}  // namespace evenkeel::tests
