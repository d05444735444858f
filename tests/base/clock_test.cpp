// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

TEST(RealClock, NeverStepsBackAndIsSharedByAll) {
  const TimePoint before = real_clock()->now();
  EXPECT_LE(before, real_clock()->now());
  EXPECT_EQ(real_clock().get(), real_clock().get());
  EXPECT_GT(real_clock()->wall_now().time_since_epoch(), std::chrono::hours{24 * 365 * 50});
}

TEST(RealClock, WaitsNoLongerThanUntilTheDeadline) {
  Mutex mutex;
  CondVar condition;
  MutexLock lock(mutex);
  const TimePoint deadline = real_clock()->now();  // already reached
  real_clock()->wait_until(condition, lock, deadline);
  EXPECT_GE(real_clock()->now(), deadline);
}

TEST(ManualClock, MovesOnlyWhenAdvanced) {
  ManualClock clock;
  const TimePoint start = clock.now();
  const WallTime wall = clock.wall_now();
  EXPECT_EQ(clock.now(), start);
  clock.advance(1h + 3ns);
  EXPECT_EQ(clock.now() - start, 1h + 3ns);
  EXPECT_EQ(clock.wall_now() - wall, 1h);
  clock.advance(-1h);
  EXPECT_EQ(clock.now() - start, 1h + 3ns);
  clock.advance(Duration::max());
  EXPECT_EQ(clock.now(), TimePoint::max());
}

TEST(ManualClock, StartsAtTheGivenTime) {
  const WallTime start{std::chrono::seconds{86400}};
  EXPECT_EQ(ManualClock(start).wall_now(), start);
}

TEST(ManualClock, DoesNotBlockForADeadlineThatIsReached) {
  ManualClock clock;
  clock.advance(1s);
  Mutex mutex;
  CondVar condition;
  MutexLock lock(mutex);
  clock.wait_until(condition, lock, clock.now());
  clock.wait_until(condition, lock, clock.now() - 1s);
  EXPECT_EQ(clock.waiters(), 0U);
}

// A thread that waits until `deadline` and records when it woke.
class Sleeper {
 public:
  Sleeper(const Clock& clock, TimePoint deadline)
      : thread_([this, &clock, deadline] { run(clock, deadline); }) {}

  TimePoint woke_at() {
    thread_.join();
    return woke_at_;
  }
  bool awake() const { return awake_; }
  void notify() {
    MutexLock lock(mutex_);
    notified_ = true;
    condition_.notify_all();
  }

 private:
  void run(const Clock& clock, TimePoint deadline) {
    MutexLock lock(mutex_);
    while (!notified_ && clock.now() < deadline) clock.wait_until(condition_, lock, deadline);
    woke_at_ = clock.now();
    awake_ = true;
  }

  Mutex mutex_;
  CondVar condition_;
  bool notified_ = false;
  std::atomic<bool> awake_ = false;
  TimePoint woke_at_{};
  std::jthread thread_;  // last, because it uses the other members
};

TEST(ManualClockConcurrency, WakesAWaiterExactlyWhenItsDeadlineIsReached) {
  ManualClock clock;
  const TimePoint start = clock.now();
  Sleeper sleeper(clock, start + 10s);
  clock.wait_for_waiters(1);
  clock.advance(10s - 1ns);
  EXPECT_FALSE(sleeper.awake());
  EXPECT_EQ(clock.waiters(), 1U);
  clock.advance(1ns);
  EXPECT_EQ(sleeper.woke_at(), start + 10s);
  EXPECT_EQ(clock.waiters(), 0U);
}

TEST(ManualClockConcurrency, ANotificationEndsTheWaitBeforeTheDeadline) {
  ManualClock clock;
  const TimePoint start = clock.now();
  Sleeper sleeper(clock, start + 1h);
  clock.wait_for_waiters(1);
  sleeper.notify();
  EXPECT_EQ(sleeper.woke_at(), start);
}

TEST(ManualClockConcurrency, StepsFromDeadlineToDeadline) {
  ManualClock clock;
  const TimePoint start = clock.now();
  EXPECT_EQ(clock.advance_to_next(), start);  // no thread waits
  Sleeper late(clock, start + 2s);
  Sleeper early(clock, start + 1s);
  clock.wait_for_waiters(2);
  clock.wait_for_deadline(start + 1s);
  EXPECT_EQ(clock.advance_to_next(), start + 1s);
  EXPECT_EQ(early.woke_at(), start + 1s);
  EXPECT_FALSE(late.awake());
  EXPECT_EQ(clock.advance_to_next(), start + 2s);
  EXPECT_EQ(late.woke_at(), start + 2s);
}

TEST(ManualClockConcurrency, AdvancingNeverTouchesAWaiterThatIsGone) {
  // Mutex and condition are destroyed after each wait, while two threads advance: for asan and tsan.
  ManualClock clock;
  std::atomic<bool> finished = false;
  std::vector<std::jthread> advancers;
  advancers.reserve(2);
  for (int i = 0; i < 2; ++i) {
    advancers.emplace_back([&] {
      while (!finished) clock.advance(1us);
    });
  }
  {
    std::vector<std::jthread> waiters;
    waiters.reserve(4);
    for (int i = 0; i < 4; ++i) {
      waiters.emplace_back([&clock, i] {
        for (int round = 0; round < 500; ++round) {
          auto mutex = std::make_unique<Mutex>();
          auto condition = std::make_unique<CondVar>();
          const TimePoint deadline = clock.now() + std::chrono::microseconds{1 + i};
          {
            MutexLock lock(*mutex);
            while (clock.now() < deadline) clock.wait_until(*condition, lock, deadline);
          }
          EXPECT_GE(clock.now(), deadline);
        }
      });
    }
  }
  finished = true;
  advancers.clear();
  EXPECT_EQ(clock.waiters(), 0U);
}

}  // namespace
}  // namespace evenkeel
