// SPDX-License-Identifier: Apache-2.0
// Threads for work that blocks, begun when there is such work.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>

#include "clusters/fair_work_queue.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Each owner, such as a cluster, has at most one of the threads at a time: what hangs for one delays the
/// others only if as many hang as there are threads.
/// Thread safety: all members may be called concurrently.
/// Lifetime: the destructor drops work that has not begun, and joins.
class BlockingPool {
 public:
  BlockingPool(std::size_t most, std::function<void(std::string_view)> on_thread_start)
      : most_(most), on_thread_start_(std::move(on_thread_start)) {}
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  /// Returns a new owner.
  FairWorkQueue::Owner add_owner() EVENKEEL_EXCLUDES(mutex_);
  void submit(FairWorkQueue::Owner owner, std::function<void()> work) EVENKEEL_EXCLUDES(mutex_);

 private:
  void run() EVENKEEL_EXCLUDES(mutex_);

  const std::size_t most_;
  const std::function<void(std::string_view)> on_thread_start_;
  Mutex mutex_;
  CondVar changed_;
  FairWorkQueue queue_ EVENKEEL_GUARDED_BY(mutex_);
  FairWorkQueue::Owner last_owner_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_ EVENKEEL_GUARDED_BY(mutex_);
  std::size_t idle_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  bool ending_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
