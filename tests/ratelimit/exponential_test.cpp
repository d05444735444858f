// SPDX-License-Identifier: Apache-2.0
// The exponential limiter: delays double for each failure of a key, up to a ceiling.
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/ratelimit/limiter.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

ExponentialLimiter<std::string> limiter_of(Duration base, Duration max) {
  return limiter_for<std::string>(exponential(base, max));
}

Duration fail(ExponentialLimiter<std::string>& limiter, const std::string& key) {
  return limiter.when(key, TimePoint{});
}

TEST(Exponential, DoublesPerKeyAndStartsOverWhenForgotten) {
  auto limiter = limiter_of(1ms, 1s);
  for (const Duration expected : {1ms, 2ms, 4ms, 8ms, 16ms}) EXPECT_EQ(fail(limiter, "one"), expected);
  EXPECT_EQ(limiter.retries("one"), 5U);
  EXPECT_EQ(fail(limiter, "two"), 1ms);
  EXPECT_EQ(fail(limiter, "two"), 2ms);
  EXPECT_EQ(limiter.retries("two"), 2U);
  limiter.forget("one");
  EXPECT_EQ(limiter.retries("one"), 0U);
  EXPECT_EQ(fail(limiter, "one"), 1ms);
}

// All steps of the back-off.
TEST(Exponential, ReachesTheCeilingAndStaysThere) {
  auto limiter = limiter_of(1ms, 1s);
  for (const Duration expected :
       {1ms, 2ms, 4ms, 8ms, 16ms, 32ms, 64ms, 128ms, 256ms, 512ms, 1000ms, 1000ms}) {
    EXPECT_EQ(fail(limiter, "one"), expected);
  }
}

TEST(Exponential, NeverOverflows) {
  auto seconds = limiter_of(1ms, 1000s);
  for (int i = 0; i < 5; ++i) fail(seconds, "overflow1");
  EXPECT_EQ(fail(seconds, "overflow1"), 32ms);
  for (int i = 0; i < 1000; ++i) fail(seconds, "overflow2");
  EXPECT_EQ(fail(seconds, "overflow2"), 1000s);
  auto hours = limiter_of(1min, 1000h);
  for (int i = 0; i < 2; ++i) fail(hours, "one");
  EXPECT_EQ(fail(hours, "one"), 4min);
  for (int i = 0; i < 1000; ++i) fail(hours, "two");
  EXPECT_EQ(fail(hours, "two"), 1000h);
}

TEST(Exponential, IsMonotonicForEveryNumberOfFailures) {
  for (const auto& [base, max] : std::vector<std::pair<Duration, Duration>>{
           {1024ns, 1000s}, {5ms, 1000s}, {1ns, Duration::max()}, {Duration::max(), Duration::max()}}) {
    auto limiter = limiter_of(base, max);
    Duration previous = base;
    for (int failure = 1; failure <= 200; ++failure) {
      const Duration delay = fail(limiter, "key");
      EXPECT_GE(delay, previous) << failure;
      EXPECT_LE(delay, max) << failure;
      previous = delay;
    }
    EXPECT_EQ(previous, max);
  }
}

TEST(Exponential, DoublesUpToTheLastPowerThatFits) {
  auto limiter = limiter_of(1ns, Duration::max());
  for (int failure = 1; failure <= 63; ++failure) {
    EXPECT_EQ(fail(limiter, "key").count(), std::int64_t{1} << (failure - 1));
  }
  EXPECT_EQ(fail(limiter, "key"), Duration::max());
}

// 5 ms doubling to 1000 s.
TEST(Exponential, FollowsTheLadderOfTheDefaults) {
  auto limiter = limiter_of(5ms, 1000s);
  Duration elapsed{};
  std::vector<Duration> starts;
  for (int failure = 1; failure <= 20; ++failure) {
    starts.push_back(elapsed);
    elapsed += fail(limiter, "key");
  }
  const std::vector<Duration> expected{0ms,     5ms,      15ms,     35ms,     75ms,      155ms,    315ms,
                                       635ms,   1275ms,   2555ms,   5115ms,   10235ms,   20475ms,  40955ms,
                                       81915ms, 163835ms, 327675ms, 655355ms, 1310715ms, 2310715ms};
  EXPECT_EQ(starts, expected);
  int in_the_first_second = 0;
  for (const Duration start : starts) in_the_first_second += start > 0ms && start < 1s ? 1 : 0;
  EXPECT_EQ(in_the_first_second, 7);
}

int failures_until_the_ceiling(Duration base, Duration max) {
  auto limiter = limiter_of(base, max);
  int failures = 1;
  while (fail(limiter, "key") != max) ++failures;
  return failures;
}

TEST(Exponential, ReachesTheCeilingAtThePredictedFailure) {
  EXPECT_EQ(failures_until_the_ceiling(5ms, 1000s), 19);
  EXPECT_EQ(failures_until_the_ceiling(1ms, 1s), 11);
  EXPECT_EQ(failures_until_the_ceiling(1ms, 1000s), 21);
  EXPECT_EQ(failures_until_the_ceiling(1min, 1000h), 17);
  auto limiter = limiter_of(1min, 1000h);
  for (int i = 0; i < 15; ++i) fail(limiter, "key");
  EXPECT_EQ(fail(limiter, "key"), 546h + 8min);
}

TEST(Exponential, AskingAndForgettingUnknownKeysRemembersNothing) {
  auto limiter = limiter_of(1ms, 1s);
  EXPECT_EQ(limiter.retries("unknown"), 0U);
  limiter.forget("unknown");
  EXPECT_EQ(limiter.size(), 0U);
  fail(limiter, "known");
  EXPECT_EQ(limiter.retries("unknown"), 0U);
  EXPECT_EQ(limiter.size(), 1U);
  limiter.forget("known");
  EXPECT_EQ(limiter.size(), 0U);
}

TEST(Exponential, ACopyCountsForItself) {
  auto limiter = limiter_of(1ms, 1s);
  for (int key = 0; key < 100; ++key) fail(limiter, std::to_string(key));
  auto copy = limiter;
  EXPECT_EQ(fail(copy, "7"), 2ms);
  EXPECT_EQ(limiter.retries("7"), 1U);
  EXPECT_EQ(copy.retries("7"), 2U);
  EXPECT_EQ(copy.size(), 100U);
  limiter = std::move(copy);
  EXPECT_EQ(limiter.retries("7"), 2U);
}

// Rejected instead of used.
TEST(Exponential, RefusesBadOptions) {
  EXPECT_THROW(exponential(-1ms, 1000s), std::invalid_argument);
  EXPECT_THROW(exponential(0ms, 1000s), std::invalid_argument);
  EXPECT_THROW(exponential(1ms, -1000s), std::invalid_argument);
  EXPECT_THROW(exponential(2ms, 1ms), std::invalid_argument);
  EXPECT_THROW(ExponentialLimiter<int>({.base_delay = 0ms}), std::invalid_argument);
  EXPECT_NO_THROW(exponential(1ms, 1ms));
}

}  // namespace
}  // namespace evenkeel
