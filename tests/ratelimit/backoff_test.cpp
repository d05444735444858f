// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/ratelimit/any_limiter.hpp>
#include <evenkeel/ratelimit/backoff.hpp>
#include <evenkeel/ratelimit/limiter.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

static_assert(Limiter<Backoff<std::string>, std::string>);

Backoff<std::string> backoff_of(Duration base, Duration max) {
  return Backoff<std::string>({.base_delay = base, .max_delay = max});
}

// Records six failures of "key", a second apart; returns the time of the last.
TimePoint fail_six_times(Backoff<std::string>& backoff) {
  TimePoint now{};
  for (int i = 0; i < 6; ++i) {
    now += 1s;
    backoff.when("key", now);
  }
  return now;
}

TEST(Backoff, DoublesUpToTheCeilingUntilForgotten) {
  auto backoff = backoff_of(1s, 50s);
  TimePoint now{};
  for (const Duration expected : {0s, 1s, 2s, 4s, 8s, 16s, 32s, 50s, 50s, 50s}) {
    now += 1s;
    EXPECT_EQ(backoff.delay("key"), expected);
    backoff.when("key", now);
  }
  EXPECT_EQ(backoff.retries("key"), 10U);
  backoff.when("key", now);
  backoff.forget("key");
  EXPECT_EQ(backoff.delay("key"), 0s);
  EXPECT_EQ(backoff.retries("key"), 0U);
  EXPECT_EQ(backoff.when("key", now), 1s);
}

TEST(Backoff, WaitsUntilTheDelayIsOverAndNotAfterItExpired) {
  auto backoff = backoff_of(1s, 5s);
  const TimePoint last = fail_six_times(backoff);
  EXPECT_TRUE(backoff.is_waiting("key", last, last));
  EXPECT_TRUE(backoff.is_waiting("key", last + 5s - 1ns));
  EXPECT_FALSE(backoff.is_waiting("key", last + 5s));
  EXPECT_FALSE(backoff.is_waiting("key", last, last + 11s));
  EXPECT_FALSE(backoff.is_waiting("key", last + 11s, last + 11s));  // expired by then
  EXPECT_FALSE(backoff.is_waiting("unknown", last, last));
}

TEST(Backoff, StaysAtTheCeilingWhileFailuresGoOn) {
  auto backoff = backoff_of(1s, 5s);
  const TimePoint last = fail_six_times(backoff);
  EXPECT_EQ(backoff.when("key", last + 6s), 5s);
  EXPECT_EQ(backoff.when("key", last + 16s), 5s);        // ten seconds later: not longer than twice 5 s
  EXPECT_EQ(backoff.when("key", last + 26s + 1ns), 1s);  // and starts over when it is
  EXPECT_EQ(backoff.retries("key"), 1U);
}

TEST(Backoff, SweepsOutWhatExpired) {
  auto backoff = backoff_of(1s, 5s);
  const TimePoint last = fail_six_times(backoff);
  backoff.sweep(last + 6s);
  EXPECT_EQ(backoff.size(), 1U);
  backoff.sweep(last + 12s);
  EXPECT_EQ(backoff.size(), 0U);
  EXPECT_EQ(backoff.delay("key"), 0s);
}

TEST(Backoff, KeepsAKeyForTwiceTheCeilingOrForForgetAfter) {
  Backoff<std::string> usual({.base_delay = 1s, .max_delay = 50s});
  Backoff<std::string> longer({.base_delay = 1s, .max_delay = 50s, .forget_after = 200s});
  for (auto* backoff : {&usual, &longer}) {
    TimePoint now = fail_six_times(*backoff);
    now += 5s;
    backoff->sweep(now);
    EXPECT_EQ(backoff->size(), 1U);
    now += 101s;
    backoff->sweep(now);
    EXPECT_EQ(backoff->size(), backoff == &usual ? 0U : 1U);
    now += 501s;
    backoff->sweep(now);
    EXPECT_EQ(backoff->size(), 0U);
  }
}

// An attempt whenever no delay is running, checked every second.
TEST(Backoff, LetsAttemptsThroughExactlyWhenTheDelayEnds) {
  auto backoff = backoff_of(1s, 10s);
  std::vector<std::pair<int, Duration>> attempts;
  for (int tick = 0; tick <= 57; ++tick) {
    if (tick > 35 && tick < 56) continue;  // no attempts for 21 s, which is longer than twice 10 s
    const TimePoint now{1s * tick};
    if (backoff.is_waiting("key", now)) {
      EXPECT_TRUE(tick == 2 || (tick >= 4 && tick <= 34)) << tick;
      continue;
    }
    attempts.emplace_back(tick, backoff.when("key", now));
  }
  const std::vector<std::pair<int, Duration>> expected{{0, 1s},   {1, 2s},   {3, 4s},  {7, 8s}, {15, 10s},
                                                       {25, 10s}, {35, 10s}, {56, 1s}, {57, 2s}};
  EXPECT_EQ(attempts, expected);
}

TEST(Backoff, JitterAddsUpToItsFactorOfTheLastDelay) {
  Backoff<std::string> backoff({.base_delay = 100ms, .max_delay = 1min, .jitter = 0.1, .seed = 9});
  TimePoint now{};
  Duration last = backoff.when("key", now);
  EXPECT_GE(last, 100ms);
  EXPECT_LT(last, 110ms);
  std::set<Duration> spread_over;
  for (int i = 0; i < 10; ++i) {
    now += 1s;
    const Duration next = backoff.when("key", now);
    EXPECT_TRUE(next == 1min || (next >= 2 * last && next < last * 21 / 10 + 1ns)) << next.count();
    spread_over.insert(next);
    last = next;
  }
  EXPECT_EQ(last, 1min);
  EXPECT_GT(spread_over.size(), 5U);
  auto same = Backoff<std::string>({.base_delay = 100ms, .max_delay = 1min, .jitter = 0.1, .seed = 9});
  auto other = Backoff<std::string>({.base_delay = 100ms, .max_delay = 1min, .jitter = 0.1, .seed = 10});
  const Duration first = same.when("key", {});
  EXPECT_NE(other.when("key", {}), first);
}

TEST(Backoff, StartsOverAfterForgetAfter) {
  auto usual = backoff_of(1s, 50s);
  usual.when("key", TimePoint{});
  EXPECT_GE(usual.when("key", TimePoint{5s}), 2s);
  EXPECT_EQ(usual.when("key", TimePoint{106s}), 1s);
  Backoff<std::string> shorter({.base_delay = 1s, .max_delay = 50s, .forget_after = 8s});
  shorter.when("key", TimePoint{});
  EXPECT_GE(shorter.when("key", TimePoint{5s}), 2s);
  EXPECT_EQ(shorter.when("key", TimePoint{14s}), 1s);
}

TEST(Backoff, ForgetsByItselfWhenUsedAsALimiter) {
  Backoff<int> backoff({.base_delay = 1s, .max_delay = 5s});
  for (int key = 0; key < 100'000; ++key) {
    backoff.when(key, TimePoint{1s * key});
    ASSERT_LE(backoff.size(), 65U) << key;  // eleven keys are alive at any time
  }
  EXPECT_EQ(backoff.retries(99'999), 1U);
}

TEST(Backoff, AskingRemembersNothing) {
  auto backoff = backoff_of(1s, 5s);
  EXPECT_EQ(backoff.delay("unknown"), 0s);
  EXPECT_EQ(backoff.retries("unknown"), 0U);
  EXPECT_FALSE(backoff.is_waiting("unknown", TimePoint{}));
  backoff.forget("unknown");
  EXPECT_EQ(backoff.size(), 0U);
}

TEST(Backoff, NeverOverflows) {
  Backoff<std::string> backoff(
      {.base_delay = Duration::max() / 2, .max_delay = Duration::max(), .jitter = 1000});
  for (int i = 0; i < 100; ++i) EXPECT_GE(backoff.when("key", TimePoint::max()), Duration::max() / 2);
  EXPECT_EQ(backoff.delay("key"), Duration::max());
  EXPECT_EQ(backoff.retries("key"), 100U);  // nothing is later than the maximum time, so it never expires
}

TEST(Backoff, ACopyRemembersForItself) {
  AnyLimiter<std::string> one = backoff_of(1s, 50s);
  one.when("key", {});
  AnyLimiter<std::string> two = one;
  EXPECT_EQ(two.when("key", {}), 2s);
  EXPECT_EQ(two.retries("key"), 2U);
  EXPECT_EQ(one.retries("key"), 1U);
  one = std::move(two);
  EXPECT_EQ(one.retries("key"), 2U);
  auto moved_from = backoff_of(1s, 50s);
  moved_from.when("key", {});
  auto moved_to = std::move(moved_from);
  EXPECT_EQ(moved_to.retries("key"), 1U);
}

TEST(Backoff, RefusesBadOptions) {
  EXPECT_THROW(backoff_of(0s, 1s), std::invalid_argument);
  EXPECT_THROW(backoff_of(-1s, 1s), std::invalid_argument);
  EXPECT_THROW(backoff_of(2s, 1s), std::invalid_argument);
  EXPECT_THROW(Backoff<int>({.jitter = -0.1}), std::invalid_argument);
  EXPECT_THROW(Backoff<int>({.jitter = 1001}), std::invalid_argument);
  EXPECT_THROW(Backoff<int>({.forget_after = -1ns}), std::invalid_argument);
}

}  // namespace
}  // namespace evenkeel
