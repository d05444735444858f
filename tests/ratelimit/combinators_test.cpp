// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <queue>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/ratelimit/any_limiter.hpp>
#include <evenkeel/ratelimit/default_limiter.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/ratelimit/fast_slow.hpp>
#include <evenkeel/ratelimit/limiter.hpp>
#include <evenkeel/ratelimit/max_of.hpp>
#include <evenkeel/ratelimit/shared.hpp>
#include <evenkeel/ratelimit/token_bucket.hpp>
#include <evenkeel/ratelimit/with_jitter.hpp>
#include <evenkeel/ratelimit/with_max_delay.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

// A user-defined limiter: five milliseconds for the first hundred charges, then a thousand seconds.
struct StepLimiter {
  int charges = 0;
  Duration when(const std::string&, TimePoint) { return ++charges <= 100 ? Duration{5ms} : Duration{1000s}; }
  void forget(const std::string&) {}
  int retries(const std::string&) const { return charges; }
};

static_assert(Limiter<StepLimiter, std::string>);
static_assert(!Limiter<StepLimiter, std::vector<int>>);
static_assert(LimiterRule<decltype(exponential(1ms, 1s)), int>);
static_assert(!Limiter<decltype(exponential(1ms, 1s)), int>);
static_assert(Limiter<AnyLimiter<int>, int>);
static_assert(LimiterRule<decltype(max_of(exponential(1ms, 1s), token_bucket(10, 100))), int>);
static_assert(!LimiterOrRule<decltype(max_of(exponential(1ms, 1s), StepLimiter())), int>);

TEST(MaxOf, ChargesAllAndTakesTheLongest) {
  AnyLimiter<std::string> limiter = max_of(fast_slow(5ms, 3s, 3), exponential(1ms, 1s));
  for (const Duration expected : {Duration{5ms}, Duration{5ms}, Duration{5ms}, Duration{3s}, Duration{3s}}) {
    EXPECT_EQ(limiter.when("one", {}), expected);
  }
  EXPECT_EQ(limiter.retries("one"), 5U);
  EXPECT_EQ(limiter.when("two", {}), 5ms);
  EXPECT_EQ(limiter.when("two", {}), 5ms);
  EXPECT_EQ(limiter.retries("two"), 2U);
  limiter.forget("one");
  EXPECT_EQ(limiter.retries("one"), 0U);
  EXPECT_EQ(limiter.when("one", {}), 5ms);
}

TEST(MaxOf, FiveFailuresBeforeGive160MillisecondsWhateverTheBucketReturns) {
  AnyLimiter<std::string> limiter = max_of(exponential(5ms, 1000s), token_bucket(10, 5));
  for (int i = 0; i < 5; ++i) limiter.when("key", {});
  EXPECT_EQ(limiter.when("key", {}), 160ms);
  AnyLimiter<std::string> bucket = token_bucket(10, 5);
  for (int i = 0; i < 5; ++i) bucket.when("key", {});
  EXPECT_EQ(bucket.when("key", {}), 100ms);
}

TEST(MaxOf, MixesRulesWithAUsersOwnLimiter) {
  AnyLimiter<std::string> limiter = max_of(exponential(10ms, 1s), StepLimiter());
  EXPECT_EQ(limiter.when("one", {}), 10ms);
  EXPECT_EQ(limiter.retries("other"), 1U);  // the step limiter counts all keys
}

TEST(MaxOf, TakesLimitersWhoseTypeIsNotKnown) {
  AnyLimiter<std::string> limiter = max_of(default_limiter<std::string>(), StepLimiter());
  EXPECT_EQ(limiter.when("one", {}), 5ms);
  AnyLimiter<std::string> nested = max_of(limiter, with_jitter(AnyLimiter<std::string>(limiter), 0), limiter);
  EXPECT_EQ(nested.when("one", {}), 10ms);
  EXPECT_EQ(nested.retries("one"), 2U);
}

TEST(WithMaxDelay, CapsTheDelayButNotTheCharge) {
  AnyLimiter<std::string> limiter = with_max_delay(StepLimiter(), 500s);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(limiter.when(std::to_string(i), {}), 5ms);
  for (int i = 100; i < 200; ++i) EXPECT_EQ(limiter.when(std::to_string(i), {}), 500s);
  EXPECT_EQ(limiter.retries("any"), 200U);
}

TEST(WithMaxDelay, CapsTheDefaultLimiterExactly) {
  AnyLimiter<std::string> limiter = with_max_delay(default_limiter<std::string>(), 500s);
  for (int i = 0; i < 5200; ++i) {
    const Duration expected = i < 100    ? Duration{5ms}
                              : i < 5100 ? Duration{100ms} * (i - 99)
                                         : Duration{500s};
    ASSERT_EQ(limiter.when(std::to_string(i), {}), expected) << i;
  }
}

TEST(WithMaxDelay, RefusesANegativeCeiling) {
  EXPECT_THROW(with_max_delay(token_bucket(1, 1), -1ns), std::invalid_argument);
  EXPECT_NO_THROW(with_max_delay(token_bucket(1, 1), 0ns));
}

TEST(WithJitter, SpreadsOverTheWholeRangeAndNoFurther) {
  AnyLimiter<std::string> limiter = with_jitter(fast_slow(100ms, 100ms, 0), 0.5, 42);
  Duration least = Duration::max();
  Duration most{};
  for (int i = 0; i < 1000; ++i) {
    const Duration delay = limiter.when("key", {});
    least = std::min(least, delay);
    most = std::max(most, delay);
  }
  EXPECT_GE(least, 100ms);
  EXPECT_LT(least, 101ms);
  EXPECT_LT(most, 150ms);
  EXPECT_GT(most, 149ms);
  EXPECT_EQ(limiter.retries("key"), 1000U);
}

TEST(WithJitter, RepeatsFromTheSameSeedAndTimes) {
  const auto rule = with_jitter(exponential(5ms, 1000s), 1.0, 7);
  auto one = limiter_for<std::string>(rule);
  auto two = limiter_for<std::string>(rule);
  auto later = limiter_for<std::string>(rule);
  int differs = 0;
  for (int i = 0; i < 20; ++i) {
    const Duration delay = one.when("key", TimePoint{1s * i});
    EXPECT_EQ(two.when("key", TimePoint{1s * i}), delay);
    differs += later.when("key", TimePoint{1s * i + 1ns}) != delay ? 1 : 0;
  }
  EXPECT_GT(differs, 15);
}

TEST(WithJitter, NeverOverflowsAndRefusesBadFactors) {
  auto limiter = limiter_for<std::string>(with_jitter(exponential(Duration::max(), Duration::max()), 1000.0));
  EXPECT_EQ(limiter.when("key", {}), Duration::max());
  EXPECT_THROW(with_jitter(token_bucket(1, 1), -0.1), std::invalid_argument);
  EXPECT_THROW(with_jitter(token_bucket(1, 1), 1001.0), std::invalid_argument);
  auto none = limiter_for<std::string>(with_jitter(exponential(5ms, 1s), 0.0));
  EXPECT_EQ(none.when("key", {}), 5ms);
}

TEST(Shared, CopiesDrawFromOneBucket) {
  const auto bucket = shared(token_bucket(10, 2));
  AnyLimiter<std::string> one = max_of(exponential(1ms, 1s), bucket);
  AnyLimiter<int> two = max_of(exponential(1ms, 1s), bucket);
  EXPECT_EQ(one.when("key", {}), 1ms);
  EXPECT_EQ(two.when(1, {}), 1ms);
  EXPECT_EQ(one.when("other", {}), 100ms);
  EXPECT_EQ(two.when(2, {}), 200ms);
  EXPECT_EQ(one.retries("key"), 1U);
}

TEST(Shared, LetsItsLimitBeChangedWhileItIsInUse) {
  auto bucket = shared(token_bucket(10, 1));
  AnyLimiter<int> limiter = bucket;
  EXPECT_EQ(limiter.when(1, {}), 0ms);
  bucket.with([](TokenBucket& held) { held.set_rate(1, TimePoint{}); });
  EXPECT_EQ(limiter.when(1, {}), 1s);
  EXPECT_EQ(bucket.with([](const TokenBucket& held) { return held.tokens({}); }), -1);
}

TEST(Shared, HoldsAKeyedLimiterToo) {
  const auto failures = shared<std::string>(exponential(1ms, 1s));
  AnyLimiter<std::string> one = failures;
  AnyLimiter<std::string> two = failures;
  EXPECT_EQ(one.when("key", {}), 1ms);
  EXPECT_EQ(two.when("key", {}), 2ms);
  EXPECT_EQ(one.retries("key"), 2U);
  one.forget("key");
  EXPECT_EQ(two.retries("key"), 0U);
}

TEST(SharedConcurrency, ChargesFromManyThreadsAreNotLost) {
  const auto bucket = shared(token_bucket(1, 1s, 1));
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([handle = bucket]() mutable {
        for (int i = 0; i < 1000; ++i) handle.when(i, TimePoint{});
      });
    }
  }
  auto handle = bucket;
  EXPECT_EQ(handle.when(0, TimePoint{}), 4000s);
}

TEST(AnyLimiter, CopiesRememberApart) {
  AnyLimiter<std::string> one = exponential(1ms, 1s);
  one.when("key", {});
  AnyLimiter<std::string> two = one;
  EXPECT_EQ(two.when("key", {}), 2ms);
  EXPECT_EQ(one.retries("key"), 1U);
  one = two;
  EXPECT_EQ(one.retries("key"), 2U);
  const AnyLimiter<std::string> three = std::move(two);
  EXPECT_EQ(three.retries("key"), 2U);
}

// The default with ten tokens per minute instead of per second.
TEST(MaxOf, OfABucketThatFillsByTheMinuteHoldsUpAKeyThatNeverFailed) {
  AnyLimiter<std::string> limiter = max_of(exponential(5ms, 1000s), token_bucket(10, 1min, 100));
  for (const Duration expected : {5ms, 10ms, 20ms}) EXPECT_EQ(limiter.when("one", {}), expected);
  for (int i = 0; i < 20; ++i) limiter.when("one", {});
  EXPECT_EQ(limiter.when("one", {}), 1000s);
  EXPECT_EQ(limiter.when("one", {}), 1000s);
  for (int i = 0; i < 75; ++i) limiter.when("one", {});
  EXPECT_EQ(limiter.when("one", {}), 1000s);
  EXPECT_EQ(limiter.when("two", {}), 12s);
  AnyLimiter<std::string> ours = default_limiter<std::string>();
  for (int i = 0; i < 101; ++i) ours.when("one", {});
  EXPECT_EQ(ours.when("two", {}), 200ms);
}

// Returns the requeues per second of N objects that all fail at t=0 and whenever they run.
std::vector<int> requeues_per_second(AnyLimiter<int> limiter, int objects, int seconds) {
  using Event = std::tuple<Duration, std::uint64_t, int>;  // time, order, object
  std::priority_queue<Event, std::vector<Event>, std::greater<>> due;
  std::uint64_t order = 0;
  const auto fail = [&](int object, Duration now) {
    due.emplace(now + limiter.when(object, TimePoint{now}), order++, object);
  };
  for (int object = 0; object < objects; ++object) fail(object, 0s);
  std::vector<int> counts(static_cast<std::size_t>(seconds));
  while (std::get<0>(due.top()) < std::chrono::seconds{seconds}) {
    const auto [at, unused, object] = due.top();
    due.pop();
    ++counts[static_cast<std::size_t>(at / 1s)];
    fail(object, at);
  }
  return counts;
}

std::vector<int> times(const std::vector<int>& ladder, int factor) {
  std::vector<int> product;
  product.reserve(ladder.size());
  for (const int count : ladder) product.push_back(count * factor);
  return product;
}

TEST(RequeueCurve, OfThePerItemLimiterGrowsWithTheObjects) {
  const std::vector<int> one{7, 1, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0,
                             0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(requeues_per_second(exponential(5ms, 1000s), 1, 31), one);
  EXPECT_EQ(requeues_per_second(exponential(5ms, 1000s), 10'000, 31), times(one, 10'000));
  EXPECT_EQ(requeues_per_second(default_limiter<int>(), 1, 31), one);
  EXPECT_EQ(requeues_per_second(default_limiter<int>(), 10, 31), times(one, 10));
}

TEST(RequeueCurve, OfTheBucketDoesNotDependOnTheObjects) {
  std::vector<int> expected(31, 10);
  expected[0] = 109;
  for (const int objects : {1, 100, 10'000}) {
    EXPECT_EQ(requeues_per_second(token_bucket(10, 100), objects, 31), expected) << objects;
  }
  for (const int objects : {100, 1000, 10'000}) {
    EXPECT_EQ(requeues_per_second(default_limiter<int>(), objects, 31), expected) << objects;
  }
}

TEST(DefaultLimiter, MakesALateFirstFailureWaitForTheDebtOfOthers) {
  auto limiter = default_limiter<int>();
  using Event = std::tuple<Duration, std::uint64_t, int>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> due;
  std::uint64_t order = 0;
  for (int object = 0; object < 10'000; ++object)
    due.emplace(limiter.when(object, TimePoint{}), order++, object);
  while (std::get<0>(due.top()) <= 1050ms) {
    const auto [at, unused, object] = due.top();
    due.pop();
    due.emplace(at + limiter.when(object, TimePoint{at}), order++, object);
  }
  for (int object = 0; object < 10'000; ++object) limiter.forget(object);  // does not shorten it
  EXPECT_EQ(limiter.when(10'000, TimePoint{1050ms}), 1000s + 50ms);
}

}  // namespace
}  // namespace evenkeel
