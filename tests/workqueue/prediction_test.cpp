// SPDX-License-Identifier: Apache-2.0
// The delays of ten thousand objects that all fail, object by object and exact to the nanosecond: the times
// follow from the rules by hand. evenkeel-curve tests the number of retries in each second.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/ratelimit/any_limiter.hpp>
#include <evenkeel/ratelimit/default_limiter.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/ratelimit/fast_slow.hpp>
#include <evenkeel/ratelimit/max_of.hpp>
#include <evenkeel/ratelimit/token_bucket.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>

#include "simulation.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using tests::Core;

// Objects 0 .. n-1, added in this order at time zero; each run fails immediately.
class FailingObjects {
 public:
  FailingObjects(AnyLimiter<int> limiter, int objects)
      : limiter_(std::move(limiter)), returns_(static_cast<std::size_t>(objects)) {
    for (int object = 0; object < objects; ++object) queue_.add(object);
  }

  /// Runs everything due up to and including `end`.
  void run(Duration end) {
    for (;;) {
      while (auto* node = queue_.pop()) fail(node);
      const std::optional<TimePoint> due = queue_->next_due();
      if (!due || due->time_since_epoch() > end) return;
      now_ = due->time_since_epoch();
      queue_.on_timeout(now_);
    }
  }

  /// Returns the times at which `object` became ready again, in order.
  const std::vector<Duration>& returns(int object) const {
    return returns_[static_cast<std::size_t>(object)];
  }
  /// Returns the total number of those times up to `end`.
  std::size_t returns_by(Duration end) const {
    std::size_t count = 0;
    for (const auto& times : returns_) {
      for (const Duration at : times) count += at <= end ? 1 : 0;
    }
    return count;
  }

 private:
  void fail(Core<int, FifoStore>::Node* node) {
    const int object = node->key();
    if (first_runs_ < returns_.size()) {
      ++first_runs_;
    } else {
      returns_[static_cast<std::size_t>(object)].push_back(now_);
    }
    queue_.add_at(object, now_ + limiter_.when(object, TimePoint{now_}), now_);
    queue_.done(node);
  }

  AnyLimiter<int> limiter_;
  Core<int, FifoStore> queue_;
  std::vector<std::vector<Duration>> returns_;
  std::size_t first_runs_ = 0;
  Duration now_{};
};

std::vector<Duration> every_thousand_seconds(Duration first, Duration end) {
  std::vector<Duration> times;
  for (Duration at = first; at <= end; at += 1000s) times.push_back(at);
  return times;
}

// With only the bucket, the first hundred return immediately, the others then queue behind.
TEST(FailingObjects, UnderTheBucketTakeTurnsOfATenthOfASecond) {
  FailingObjects objects(token_bucket(10, 100), 10'000);
  objects.run(3000s);
  for (int object = 0; object < 100; ++object) {
    std::vector<Duration> expected = every_thousand_seconds(990s + 100ms * (object + 1), 3000s);
    expected.insert(expected.begin(), 0s);
    ASSERT_EQ(objects.returns(object), expected) << object;
  }
  for (int object = 100; object < 10'000; ++object) {
    ASSERT_EQ(objects.returns(object), every_thousand_seconds(100ms * (object - 99), 3000s)) << object;
  }
  EXPECT_EQ(objects.returns(9999).front(), 990s);
}

// With the back-off, too, the first hundred return after 5 ms instead, and everything else is equal.
TEST(FailingObjects, UnderTheDefaultDifferByFiveMillisecondsOnly) {
  FailingObjects objects(default_limiter<int>(), 10'000);
  objects.run(3000s);
  for (int object = 0; object < 100; ++object) {
    ASSERT_EQ(objects.returns(object).front(), 5ms) << object;
    ASSERT_EQ(objects.returns(object)[1], 990s + 100ms * (object + 1)) << object;
  }
  for (int object = 100; object < 10'000; ++object) {
    ASSERT_EQ(objects.returns(object), every_thousand_seconds(100ms * (object - 99), 3000s)) << object;
  }
}

// After s seconds and 50 ms there must have been 100 + 10 * s requeues.
void expect_ten_per_second(FailingObjects& objects, const std::vector<int>& seconds) {
  objects.run(1s * seconds.back() + 50ms);
  for (const int second : seconds) {
    EXPECT_EQ(objects.returns_by(1s * second + 50ms), 100U + 10U * static_cast<unsigned>(second)) << second;
  }
}

TEST(FailingObjects, ComeBackTenPerSecondAfterTheBurst) {
  const std::vector<int> seconds{0, 1, 2, 10, 30, 999, 1000, 1001};
  for (const int count : {100, 1000, 10'000}) {
    FailingObjects objects(token_bucket(10, 100), count);
    expect_ten_per_second(objects, seconds);
  }
  for (const int count : {1000, 10'000}) {
    FailingObjects objects(default_limiter<int>(), count);
    expect_ten_per_second(objects, seconds);
  }
}

// A hundred objects have their turn every ten seconds. From the twelfth failure on the back-off of each is
// longer than that and the bucket fills up again: 17 returns each by second 999, the 18th 655 s later.
TEST(FailingObjects, LeaveTheBucketBehindWhenTheirBackOffIsLongerThanTheirTurn) {
  FailingObjects objects(default_limiter<int>(), 100);
  expect_ten_per_second(objects, {0, 1, 2, 10, 30});
  objects.run(999s);
  for (int object = 0; object < 100; ++object) ASSERT_EQ(objects.returns(object).size(), 17U) << object;
  FailingObjects always(token_bucket(10, 100), 100);
  always.run(999s);
  EXPECT_EQ(always.returns_by(999s), 100U + 9990U);
}

// Every object has its own back-off.
TEST(FailingObjects, UnderTheBackOffAloneComeBackAllTogether) {
  FailingObjects objects(exponential(5ms, 1000s), 10'000);
  objects.run(30s);
  const std::vector<Duration> ladder{5ms,   15ms,   35ms,   75ms,   155ms,   315ms,
                                     635ms, 1275ms, 2555ms, 5115ms, 10235ms, 20475ms};
  for (int object = 0; object < 10'000; ++object) ASSERT_EQ(objects.returns(object), ladder) << object;
}

std::vector<Duration> steps(const std::vector<Duration>& times) {
  std::vector<Duration> between;
  Duration last{};
  for (const Duration at : times) between.push_back(at - std::exchange(last, at));
  return between;
}

// The log of an operator whose worker slept for a second after every error. The back-off with a minimum of
// one second has exactly these steps; without the minimum, the thirteen take 40.955 s.
TEST(FailingObjects, UnderAFloorOfASecondShowOnlyTheUpperLadder) {
  FailingObjects floored(max_of(exponential(5ms, 1000s), fast_slow(0s, 1s, 0)), 1);
  floored.run(48s);
  EXPECT_EQ(steps(floored.returns(0)), (std::vector<Duration>{1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 1280ms, 2560ms,
                                                              5120ms, 10240ms, 20480ms}));
  EXPECT_EQ(floored.returns(0).back(), 47'680ms);
  FailingObjects ours(default_limiter<int>(), 1);
  ours.run(48s);
  EXPECT_EQ(ours.returns(0).size(), 13U);
  EXPECT_EQ(ours.returns(0).back(), 40'955ms);
}

}  // namespace
}  // namespace evenkeel
