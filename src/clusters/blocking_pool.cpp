// SPDX-License-Identifier: Apache-2.0
#include "clusters/blocking_pool.hpp"

#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

BlockingPool::~BlockingPool() {
  std::vector<std::thread> threads;
  std::deque<std::function<void()>> dropped;
  {
    MutexLock lock(mutex_);
    ending_ = true;
    dropped.swap(work_);
    threads.swap(threads_);
    changed_.notify_all();
  }
  for (std::thread& thread : threads) thread.join();
}

void BlockingPool::submit(std::function<void()> work) {
  MutexLock lock(mutex_);
  if (ending_) return;
  work_.push_back(std::move(work));
  if (idle_ < work_.size() && threads_.size() < most_) {
    threads_.emplace_back([this] { run(); });
  } else {
    changed_.notify_one();
  }
}

void BlockingPool::run() {
  if (on_thread_start_) on_thread_start_("clusters/blocking");
  MutexLock lock(mutex_);
  while (!ending_) {
    if (work_.empty()) {
      ++idle_;
      changed_.wait(lock);
      --idle_;
      continue;
    }
    std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
