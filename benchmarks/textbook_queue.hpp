// SPDX-License-Identifier: Apache-2.0
// The yardstick: the well-known algorithm written down as it is taught, with two sets, a list, a mutex
// and a condition variable.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_set>

namespace evenkeel::benchmarks {

template <class Key>
class TextbookQueue {
 public:
  void add(const Key& key) {
    const std::lock_guard lock(mutex_);
    if (shutting_down_ || !dirty_.insert(key).second) return;
    if (processing_.contains(key)) return;
    queue_.push_back(key);
    condition_.notify_one();
  }

  std::optional<Key> get() {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return !queue_.empty() || shutting_down_; });
    if (queue_.empty()) return std::nullopt;
    std::optional<Key> key = queue_.front();
    queue_.pop_front();
    processing_.insert(*key);
    dirty_.erase(*key);
    return key;
  }

  void done(const Key& key) {
    const std::lock_guard lock(mutex_);
    processing_.erase(key);
    if (!dirty_.contains(key)) return;
    queue_.push_back(key);
    condition_.notify_one();
  }

  void shut_down() {
    const std::lock_guard lock(mutex_);
    shutting_down_ = true;
    condition_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  std::deque<Key> queue_;
  std::unordered_set<Key> dirty_;
  std::unordered_set<Key> processing_;
  bool shutting_down_ = false;
};

}  // namespace evenkeel::benchmarks
