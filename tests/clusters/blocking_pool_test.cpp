// SPDX-License-Identifier: Apache-2.0
// Work that hangs for one cluster, beside that of another one.
#include "clusters/blocking_pool.hpp"

#include <atomic>
#include <memory>

#include <gtest/gtest.h>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>

#include "clusters/cluster_loop.hpp"
#include "http/event_loop_state.hpp"

namespace evenkeel::blocking_pool_tests {
namespace {

using detail::BlockingPool;
using detail::ClusterLoop;

/// Opens once.
class Gate {
 public:
  void open() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait() {
    MutexLock lock(mutex_);
    while (!open_) changed_.wait(lock);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool open_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

TEST(BlockingPoolConcurrency, WorkThatHangsForOneOwnerLeavesThreadsToOthers) {
  Gate end;
  Gate done;
  std::atomic<int> hanging = 0;
  BlockingPool pool(2, {});
  const auto first = pool.add_owner();
  const auto second = pool.add_owner();
  for (int i = 0; i < 5; ++i) {
    pool.submit(first, [&] {
      ++hanging;
      end.wait();
    });
  }
  pool.submit(second, [] {});
  pool.submit(second, [&] { done.open(); });
  done.wait();
  EXPECT_LE(hanging.load(), 1);
  end.open();
}

TEST(BlockingPoolConcurrency, AllWorkIsDoneByAsManyThreadsAsPermitted) {
  std::atomic<int> threads = 0;
  std::atomic<int> count = 0;
  Gate done;
  BlockingPool pool(3, [&](std::string_view) { ++threads; });
  for (int owner = 0; owner < 10; ++owner) {
    const auto number = pool.add_owner();
    for (int i = 0; i < 10; ++i) {
      pool.submit(number, [&] {
        if (++count == 100) done.open();
      });
    }
  }
  done.wait();
  EXPECT_LE(threads.load(), 3);
}

TEST(BlockingPoolConcurrency, EachClientOfALoopIsAnOwner) {
  Gate end;
  Gate done;
  Gate ended;
  BlockingPool pool(2, {});
  const auto loop = std::make_shared<ClusterLoop>("test", pool, nullptr);
  const auto hangs = loop->loop_of_owner(1 << 20);
  const auto works = loop->loop_of_owner(1 << 20);
  for (int i = 0; i < 3; ++i) hangs->state()->offload([&] { end.wait(); }, [] {});
  works->state()->offload([] {}, [&] { done.open(); });
  done.wait();
  hangs->state()->offload([] {}, [&] { ended.open(); });
  end.open();
  ended.wait();
}

}  // namespace
}  // namespace evenkeel::blocking_pool_tests
