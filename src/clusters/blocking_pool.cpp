// SPDX-License-Identifier: Apache-2.0
#include "clusters/blocking_pool.hpp"

#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

BlockingPool::~BlockingPool() {
  std::vector<std::thread> threads;
  FairWorkQueue dropped;
  {
    MutexLock lock(mutex_);
    ending_ = true;
    std::swap(dropped, queue_);
    threads.swap(threads_);
    changed_.notify_all();
  }
  for (std::thread& thread : threads) thread.join();
}

FairWorkQueue::Owner BlockingPool::add_owner() {
  MutexLock lock(mutex_);
  return ++last_owner_;
}

void BlockingPool::submit(FairWorkQueue::Owner owner, std::function<void()> work) {
  MutexLock lock(mutex_);
  if (ending_) return;
  queue_.add(owner, std::move(work));
  if (idle_ < queue_.ready() && threads_.size() < most_) {
    threads_.emplace_back([this] { run(); });
  } else {
    changed_.notify_one();
  }
}

// The thread that ends a piece of work takes the next one, so nobody has to be woken for it.
void BlockingPool::run() {
  if (on_thread_start_) on_thread_start_("clusters/blocking");
  MutexLock lock(mutex_);
  while (!ending_) {
    auto turn = queue_.next_turn();
    if (!turn) {
      ++idle_;
      changed_.wait(lock);
      --idle_;
      continue;
    }
    lock.unlock();
    turn->work();
    turn->work = nullptr;
    lock.lock();
    queue_.on_done(turn->owner);
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
