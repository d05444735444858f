// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/ratelimit/throttle.hpp>
#include <evenkeel/ratelimit/token_bucket.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

class ThrottleTest {
 public:
  explicit ThrottleTest(std::optional<TokenBucket> bucket) : throttle_(bucket, clock_) {}
  Throttle* operator->() { return &throttle_; }
  Throttle& operator*() { return throttle_; }
  ManualClock& clock() { return *clock_; }
  Duration now() const { return clock_->now().time_since_epoch(); }
  /// Advances the time from one deadline to the next until `all` threads are done.
  void run_until(const std::atomic<int>& done, int all) {
    while (done < all) {
      if (throttle_.waiting() == 0) std::this_thread::yield();
      clock_->advance_to_next();
    }
  }

 private:
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  Throttle throttle_;
};

TEST(Throttle, LetsTheBurstPassAndThenOneForEveryToken) {
  ThrottleTest three(token_bucket(1, 3));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(three->try_take());
  EXPECT_FALSE(three->try_take());
  ThrottleTest one(token_bucket(1, 1));
  EXPECT_TRUE(one->try_take());
  EXPECT_FALSE(one->try_take());
  one.clock().advance(2s);
  EXPECT_TRUE(one->try_take());
  EXPECT_FALSE(one->try_take());
}

// There is a token every 1.03 s, so every two seconds an attempt succeeds, whatever the rate is rounded to.
TEST(Throttle, HoldsAFractionalRateOverManyRounds) {
  ThrottleTest throttle(token_bucket(static_cast<double>(static_cast<float>(1 / 1.031425)), 1));
  for (int round = 0; round < 60; ++round) {
    EXPECT_TRUE(throttle->try_take()) << round;
    throttle.clock().advance(2s);
  }
}

// A throttle that always accepts: an unlimited rate.
TEST(Throttle, WithoutABucketNoCallWaits) {
  ThrottleTest throttle(std::nullopt);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(throttle->try_take());
    EXPECT_TRUE(throttle->wait(1000));
  }
  EXPECT_EQ(throttle->time_until(1000), 0s);
}

TEST(Throttle, RefusesAtOnceWhatCannotBeInTime) {
  ThrottleTest throttle(token_bucket(10, 3));
  EXPECT_FALSE(throttle->wait(4));  // more than the capacity
  EXPECT_TRUE(throttle->wait(2));
  EXPECT_EQ(throttle->time_until(3), 200ms);
  EXPECT_FALSE(throttle->wait(3, {}, 100ms));
  EXPECT_FALSE(throttle->wait(3, {}, 200ms - 1ns));
  EXPECT_TRUE(throttle->try_take(1));  // the failed calls took nothing
  ThrottleTest slow(token_bucket(0.0001, 1));
  EXPECT_TRUE(slow->wait(1, {}, 1s));
  EXPECT_FALSE(slow->wait(1, {}, 1s));
}

TEST(Throttle, RefusesAStopThatWasRequestedAndNegativeCounts) {
  ThrottleTest throttle(token_bucket(10, 3));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(throttle->wait(1, stop.get_token()));
  EXPECT_EQ(throttle->time_until(3), 0s);
  EXPECT_THROW(throttle->wait(-1), std::invalid_argument);
  EXPECT_THROW(throttle->try_take(-1), std::invalid_argument);
  EXPECT_THROW(throttle->time_until(-1), std::invalid_argument);
}

// Two immediately, the third and fourth when they are available.
TEST(ThrottleConcurrency, WaitsExactlyUntilTheTokensAreThere) {
  ThrottleTest throttle(token_bucket(10, 3));
  ASSERT_TRUE(throttle->wait(2));
  std::atomic<int> done = 0;
  std::jthread waiter([&] {
    EXPECT_TRUE(throttle->wait(3, {}, 200ms));
    ++done;
  });
  throttle.clock().wait_for_waiters(1);
  throttle.clock().advance(200ms - 1ns);
  throttle.clock().wait_for_deadline(TimePoint{200ms});
  EXPECT_EQ(done, 0);
  EXPECT_EQ(throttle->waiting(), 1U);
  throttle.clock().advance(1ns);
  waiter.join();
  EXPECT_EQ(done, 1);
  EXPECT_FALSE(throttle->try_take());
}

// Sixteen at ten per second, burst five.
TEST(ThrottleConcurrency, SixteenOfTenPerSecondTakeElevenTenths) {
  ThrottleTest throttle(token_bucket(10, 5));
  std::atomic<int> done = 0;
  std::jthread caller([&] {
    for (int i = 0; i < 16; ++i) EXPECT_TRUE(throttle->wait());
    ++done;
  });
  throttle.run_until(done, 1);
  EXPECT_EQ(throttle.now(), 1100ms);
}

// Ten threads collect a hundred tokens after the first.
TEST(ThrottleConcurrency, ManyThreadsGetTheRateTogether) {
  ThrottleTest throttle(token_bucket(100, 1));
  ASSERT_TRUE(throttle->try_take());
  std::atomic<int> done = 0;
  std::vector<std::jthread> threads;
  threads.reserve(10);
  for (int t = 0; t < 10; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) EXPECT_TRUE(throttle->wait());
      ++done;
    });
  }
  throttle.run_until(done, 10);
  EXPECT_EQ(throttle.now(), 1s);
}

TEST(ThrottleConcurrency, SimultaneousCallersGetTheBurstAndNoMore) {
  ThrottleTest throttle(token_bucket(1, 5));
  std::atomic<int> passed = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(15);
    for (int t = 0; t < 15; ++t) {
      threads.emplace_back([&] { passed += throttle->try_take() ? 1 : 0; });
    }
  }
  EXPECT_EQ(passed, 5);
}

// A throttle that never accepts; a caller that gives up leaves the tokens to others.
TEST(ThrottleConcurrency, AStopEndsAWaitWithoutCostingAToken) {
  ThrottleTest throttle(token_bucket(1, 1h, 2));
  ASSERT_TRUE(throttle->wait(2));
  EXPECT_FALSE(throttle->try_take());
  std::stop_source stop;
  std::optional<bool> taken;
  {
    std::jthread waiter([&] { taken = throttle->wait(2, stop.get_token()); });
    throttle.clock().wait_for_waiters(1);
    throttle.clock().advance(1h);
    stop.request_stop();
  }
  EXPECT_EQ(taken, false);
  EXPECT_TRUE(throttle->try_take(1));
}

TEST(ThrottleConcurrency, WaitersPassInTheOrderOfTheirArrival) {
  ThrottleTest throttle(token_bucket(10, 5));
  ASSERT_TRUE(throttle->wait(5));
  std::vector<int> order;
  std::vector<std::jthread> threads;
  threads.reserve(3);
  for (int t = 0; t < 3; ++t) {  // the first asks for the most
    threads.emplace_back([&, t] {
      EXPECT_TRUE(throttle->wait(t == 0 ? 5 : 1));
      order.push_back(t);  // one at a time, a token apart
    });
    throttle.clock().wait_for_waiters(static_cast<std::size_t>(t) + 1);
  }
  EXPECT_EQ(throttle->time_until(1), 800ms);
  throttle.clock().advance(100ms);
  EXPECT_FALSE(throttle->try_take());  // there is one, but it belongs to a waiting caller
  throttle.clock().advance(400ms);
  threads[0].join();
  throttle.clock().wait_for_deadline(TimePoint{600ms});
  throttle.clock().advance(100ms);
  threads[1].join();
  throttle.clock().wait_for_deadline(TimePoint{700ms});
  throttle.clock().advance(100ms);
  threads[2].join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST(ThrottleConcurrency, ANewRateHoldsForThoseThatWait) {
  ThrottleTest throttle(token_bucket(1, 1));
  ASSERT_TRUE(throttle->wait());
  std::optional<bool> patient;
  std::jthread waiter([&] { patient = throttle->wait(); });
  throttle.clock().wait_for_waiters(1);
  throttle->set_rate(10);
  throttle.clock().wait_for_deadline(TimePoint{100ms});
  throttle.clock().advance(100ms);
  waiter.join();
  EXPECT_EQ(patient, true);
  std::optional<bool> hasty;
  std::jthread other([&] { hasty = throttle->wait(1, {}, 100ms); });
  throttle.clock().wait_for_waiters(1);
  throttle->set_rate(1);  // too late for the caller with 100 ms
  throttle.clock().advance(100ms);
  other.join();
  EXPECT_EQ(hasty, false);
  EXPECT_EQ(throttle.now(), 200ms);
}

}  // namespace
}  // namespace evenkeel
