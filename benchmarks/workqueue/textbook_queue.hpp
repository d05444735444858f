// SPDX-License-Identifier: Apache-2.0
// The baseline: client-go's queue in textbook C++, with a mutex and a condition variable, two hash sets and a
// deque, and for delays a second mutex, a thread, a heap and a hash map.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace evenkeel::benchmarks {

/// Source: client-go util/workqueue Typed, without metrics, like an unnamed queue.
template <class Key>
class TextbookQueue {
 public:
  void add(const Key& key) {
    const std::lock_guard lock(mutex_);
    if (shutting_down_) return;
    if (dirty_.contains(key)) {
      if (!processing_.contains(key)) touch(key);
      return;
    }
    dirty_.insert(key);
    if (processing_.contains(key)) return;
    queue_.push_back(key);
    condition_.notify_one();
  }

  std::optional<Key> get() {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return !queue_.empty() || shutting_down_; });
    if (queue_.empty()) return std::nullopt;
    std::optional<Key> key(std::move(queue_.front()));
    queue_.pop_front();
    processing_.insert(*key);
    dirty_.erase(*key);
    return key;
  }

  void done(const Key& key) {
    const std::lock_guard lock(mutex_);
    processing_.erase(key);
    if (dirty_.contains(key)) {
      queue_.push_back(key);
      condition_.notify_one();
    } else if (processing_.empty()) {
      condition_.notify_one();  // for a thread that waits for the end of all processing
    }
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return queue_.size();
  }

  void shut_down() {
    const std::lock_guard lock(mutex_);
    shutting_down_ = true;
    condition_.notify_all();
  }

 private:
  void touch(const Key&) {}  // a list does not reorder keys

  mutable std::mutex mutex_;
  std::condition_variable condition_;
  std::deque<Key> queue_;
  std::unordered_set<Key> dirty_;
  std::unordered_set<Key> processing_;
  bool shutting_down_ = false;
};

/// Delayed keys. More efficient in C++ than the original: the caller inserts into the heap directly instead
/// of using a channel.
/// Source: client-go util/workqueue delayingType.
template <class Key>
class TextbookDelayingQueue {
  using Clock = std::chrono::steady_clock;

 public:
  TextbookDelayingQueue() : thread_([this] { run(); }) {}
  TextbookDelayingQueue(const TextbookDelayingQueue&) = delete;
  TextbookDelayingQueue& operator=(const TextbookDelayingQueue&) = delete;
  ~TextbookDelayingQueue() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      changed_.notify_one();
    }
    thread_.join();
  }

  void add_after(const Key& key, Clock::duration delay) {
    if (delay <= Clock::duration::zero()) return queue_.add(key);
    const Clock::time_point at = Clock::now() + delay;
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(key); known != known_.end()) {
      Entry& entry = *known->second;
      if (at >= entry.at) return;
      entry.at = at;
      sift_up(entry.index);
    } else {
      auto entry = std::make_unique<Entry>(Entry{.key = key, .at = at, .index = heap_.size()});
      heap_.push_back(entry.get());
      known_.emplace(key, std::move(entry));
      sift_up(heap_.size() - 1);
    }
    if (heap_.front()->at == at) changed_.notify_one();
  }

  TextbookQueue<Key>& queue() { return queue_; }

 private:
  struct Entry {
    Key key;
    Clock::time_point at;
    std::size_t index;
  };

  void run() {
    std::unique_lock lock(mutex_);
    while (!stopped_) {
      while (!heap_.empty() && heap_.front()->at <= Clock::now()) {
        queue_.add(heap_.front()->key);
        pop();
      }
      if (heap_.empty()) {
        changed_.wait(lock);
      } else {
        changed_.wait_until(lock, heap_.front()->at);
      }
    }
  }

  void put(Entry* entry, std::size_t index) {
    heap_[index] = entry;
    entry->index = index;
  }

  void sift_up(std::size_t index) {
    Entry* entry = heap_[index];
    while (index > 0 && entry->at < heap_[(index - 1) / 2]->at) {
      put(heap_[(index - 1) / 2], index);
      index = (index - 1) / 2;
    }
    put(entry, index);
  }

  void pop() {
    const auto gone = known_.find(heap_.front()->key);
    Entry* last = heap_.back();
    heap_.pop_back();
    std::size_t index = 0;
    while (!heap_.empty()) {
      std::size_t child = 2 * index + 1;
      if (child + 1 < heap_.size() && heap_[child + 1]->at < heap_[child]->at) ++child;
      if (child >= heap_.size() || heap_[child]->at >= last->at) break;
      put(heap_[child], index);
      index = child;
    }
    if (!heap_.empty()) put(last, index);
    known_.erase(gone);
  }

  TextbookQueue<Key> queue_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry*> heap_;
  std::unordered_map<Key, std::unique_ptr<Entry>> known_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace evenkeel::benchmarks
