// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/ratelimit/limiter.hpp>
#include <evenkeel/ratelimit/token_bucket.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

static_assert(Limiter<TokenBucket, int>);

Duration charge(TokenBucket& bucket, Duration at) {
  return bucket.when(0, TimePoint{at});
}

TEST(TokenBucket, PassesTheBurstThenOnePerInterval) {
  auto bucket = token_bucket(1, 10min, 2);
  EXPECT_EQ(charge(bucket, 0s), 0s);
  EXPECT_EQ(charge(bucket, 0s), 0s);
  EXPECT_EQ(charge(bucket, 0s), 10min);
  EXPECT_EQ(charge(bucket, 1min), 19min);
}

TEST(TokenBucket, FillsWhileItWaits) {
  auto bucket = token_bucket(1, 2s, 2);
  EXPECT_EQ(charge(bucket, 0s), 0s);
  EXPECT_EQ(charge(bucket, 0s), 0s);
  EXPECT_EQ(charge(bucket, 0s), 2s);
  EXPECT_EQ(charge(bucket, 4s), 0s);
  EXPECT_EQ(charge(bucket, 4s), 2s);
}

// The k-th charge at t=0 of 10 per second, burst 100.
TEST(TokenBucket, GivesTheKthChargeItsPlaceInLine) {
  auto bucket = token_bucket(10, 100);
  for (int k = 1; k <= 10'000; ++k) {
    const Duration expected = k <= 100 ? 0ms : std::chrono::milliseconds{100} * (k - 100);
    ASSERT_EQ(charge(bucket, 0s), expected) << k;
  }
  // A key that fails for the first time at 1.05 s pays for all of them: a debt of 9,901 tokens, of which 10.5
  // were repaid.
  EXPECT_EQ(charge(bucket, 1050ms), 990s + 100ms - 1050ms);
}

// 10,000 objects that fail at once and again whenever they run, with only the bucket: the first hundred queue
// behind all others.
TEST(TokenBucket, TheFirstHundredReturnBehindAllOthers) {
  auto bucket = token_bucket(10, 100);
  for (int i = 0; i < 10'000; ++i) charge(bucket, 0s);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(charge(bucket, 0s), 990s + 100ms * (i + 1));
}

TEST(TokenBucket, KeepsNoMoreThanTheBurst) {
  auto bucket = token_bucket(10, 3);
  EXPECT_EQ(charge(bucket, 0s), 0s);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(charge(bucket, 1h), 0s);
  EXPECT_EQ(charge(bucket, 1h), 100ms);
  EXPECT_EQ(charge(bucket, 1h), 200ms);
}

TEST(TokenBucket, ForgettingRefundsNothingAndNothingIsCounted) {
  auto bucket = token_bucket(10, 1);
  charge(bucket, 0s);
  charge(bucket, 0s);
  EXPECT_EQ(bucket.retries(0), 0U);
  bucket.forget(0);
  EXPECT_EQ(charge(bucket, 0s), 200ms);
}

TEST(TokenBucket, AClockThatStepsBackEarnsNothing) {
  auto bucket = token_bucket(1, 1s, 1);
  EXPECT_EQ(charge(bucket, 10s), 0s);
  EXPECT_EQ(charge(bucket, 5s), 1s);   // as if it were still 10 s
  EXPECT_EQ(charge(bucket, 10s), 2s);  // the five seconds do not count twice
  EXPECT_EQ(charge(bucket, 13s), 0s);  // at 13 s the third token is available
}

TEST(TokenBucket, RoundsNothingWhereTheRateDoesNotDivide) {
  auto thirds = token_bucket(3, 1s, 1);
  EXPECT_EQ(charge(thirds, 0s), 0s);
  EXPECT_EQ(charge(thirds, 0s), 333'333'333ns);
  EXPECT_EQ(charge(thirds, 0s), 666'666'666ns);
  EXPECT_EQ(charge(thirds, 0s), 1s);
  for (int i = 4; i < 3'000'000; ++i) charge(thirds, 0s);
  EXPECT_EQ(charge(thirds, 0s), 1'000'000s);  // three million charges later it is exact to the nanosecond
}

// An attempt every 2 ms for 5 s at 100 per second.
TEST(TokenBucket, CountsExactlyOverALongRun) {
  auto bucket = token_bucket(100, 100);
  int passed = 0;
  for (Duration at = 0s; at < 5s; at += 2ms) {
    auto attempt = bucket;
    if (charge(attempt, at) > 0s) continue;
    bucket = attempt;
    ++passed;
  }
  EXPECT_EQ(passed, 599);  // the burst, and one every 10 ms up to 4.99 s
}

TEST(TokenBucket, TakesRatesThatAreNotWhole) {
  auto slow = token_bucket(0.7692307692307693, 1);
  EXPECT_EQ(charge(slow, 0s), 0s);
  EXPECT_EQ(charge(slow, 0s), 1300ms);
  auto half = token_bucket(2.5, 1);
  EXPECT_EQ(charge(half, 0s), 0s);
  EXPECT_EQ(charge(half, 0s), 400ms);
  auto quick = token_bucket(1234.5, 1);
  charge(quick, 0s);
  for (int i = 0; i < 12344; ++i) charge(quick, 0s);
  EXPECT_EQ(charge(quick, 0s), Duration{12345 * 1'000'000'000LL * 10 / 12345});
}

// t(k) is k tenths of a second, the unit of the tables of x/time/rate.
TimePoint t(int tenths) {
  return TimePoint{100ms * tenths};
}

struct Take {
  int at;
  std::int64_t tokens_before;
  std::int64_t count;
  bool taken;
};

void expect_takes(TokenBucket bucket, const std::vector<Take>& takes) {
  for (const Take& take : takes) {
    EXPECT_EQ(bucket.tokens(t(take.at)), take.tokens_before) << "t" << take.at;
    EXPECT_EQ(bucket.try_take(take.count, t(take.at)), take.taken) << "t" << take.at;
  }
}

TEST(TokenBucket, TakesOneAtATimeFromABurstOfOne) {
  expect_takes(token_bucket(10, 1), {{0, 1, 1, true},
                                     {0, 0, 1, false},
                                     {0, 0, 1, false},
                                     {1, 1, 1, true},
                                     {1, 0, 1, false},
                                     {1, 0, 1, false},
                                     {2, 1, 2, false},
                                     {2, 1, 1, true},
                                     {2, 0, 1, false}});
}

TEST(TokenBucket, TakesWhatIsThereAndNothingOfWhatIsNot) {
  expect_takes(token_bucket(10, 3), {{0, 3, 2, true},
                                     {0, 1, 2, false},
                                     {0, 1, 1, true},
                                     {0, 0, 1, false},
                                     {1, 1, 4, false},
                                     {2, 2, 1, true},
                                     {3, 2, 1, true},
                                     {4, 2, 1, true},
                                     {4, 1, 1, true},
                                     {4, 0, 1, false},
                                     {4, 0, 1, false},
                                     {9, 3, 3, true},
                                     {9, 0, 0, true}});
}

// Returns when a reservation at `at` may act, in tenths; nullopt if it is rejected.
std::optional<Duration> reserve(TokenBucket& bucket, int at, std::int64_t count,
                                Duration max_wait = Duration::max()) {
  const auto wait = bucket.reserve(count, t(at), max_wait);
  if (!wait) return std::nullopt;
  return t(at).time_since_epoch() + *wait;
}

TEST(TokenBucket, ReservesInAdvance) {
  auto simple = token_bucket(10, 2);
  EXPECT_EQ(reserve(simple, 0, 2), 0ms);
  EXPECT_EQ(reserve(simple, 0, 2), 200ms);
  EXPECT_EQ(reserve(simple, 3, 2), 400ms);
}

TEST(TokenBucket, MixesReservingWithTaking) {
  auto mix = token_bucket(10, 2);
  EXPECT_EQ(reserve(mix, 0, 3), std::nullopt);  // exceeds the capacity
  EXPECT_EQ(reserve(mix, 0, 2), 0ms);
  EXPECT_FALSE(mix.try_take(2, t(1)));
  EXPECT_EQ(reserve(mix, 1, 2), 200ms);
  EXPECT_EQ(mix.tokens(t(1)), -1);
  EXPECT_FALSE(mix.try_take(1, t(1)));
  EXPECT_TRUE(mix.try_take(1, t(3)));
}

TEST(TokenBucket, RefusesReservationsThatWouldWaitTooLong) {
  auto bucket = token_bucket(10, 2);
  EXPECT_EQ(reserve(bucket, 0, 2, 100ms), 0ms);
  EXPECT_EQ(reserve(bucket, 0, 1, 100ms), 100ms);
  EXPECT_EQ(reserve(bucket, 0, 1, 100ms), std::nullopt);
  EXPECT_EQ(bucket.tokens(t(0)), -1);
}

// Unlike in other limiters the tenth of a second by which the clock stepped back does not count twice, so the
// last three are one token later than in x/time/rate.
TEST(TokenBucket, KeepsReservationsWhenTheClockStepsBack) {
  auto bucket = token_bucket(10, 2);
  EXPECT_EQ(reserve(bucket, 1, 2), 100ms);
  EXPECT_EQ(reserve(bucket, 0, 1), 100ms);
  EXPECT_EQ(reserve(bucket, 2, 2), 400ms);
  EXPECT_EQ(reserve(bucket, 0, 3), std::nullopt);
  EXPECT_EQ(reserve(bucket, 2, 1), 500ms);
  EXPECT_EQ(reserve(bucket, 0, 2, 100ms), std::nullopt);
  EXPECT_EQ(reserve(bucket, 2, 1), 600ms);
}

TEST(TokenBucket, ANewRatePaysBackWhatWasTakenInAdvance) {
  auto bucket = token_bucket(5, 2);
  EXPECT_EQ(reserve(bucket, 0, 2), 0ms);
  EXPECT_EQ(reserve(bucket, 0, 2), 400ms);
  bucket.set_rate(10, t(2));
  EXPECT_EQ(reserve(bucket, 2, 1), 400ms);
}

TEST(TokenBucket, ANewBurstTakesEffectAtOnce) {
  auto bucket = token_bucket(5, 2);
  EXPECT_EQ(reserve(bucket, 0, 2), 0ms);
  EXPECT_EQ(reserve(bucket, 0, 2), 400ms);
  bucket.set_burst(4, t(3));
  EXPECT_EQ(bucket.burst(), 4);
  EXPECT_EQ(reserve(bucket, 0, 4), 900ms);
  auto full = token_bucket(10, 100);
  full.set_burst(3, t(0));
  EXPECT_EQ(full.tokens(t(0)), 3);
  full.set_burst(5, t(0));
  EXPECT_EQ(full.tokens(t(0)), 3);
  EXPECT_EQ(full.tokens(t(100)), 5);
}

TEST(TokenBucket, ANewRateKeepsTokensAndPartsOfThem) {
  auto bucket = token_bucket(3, 1s, 10);
  ASSERT_TRUE(bucket.try_take(10, t(0)));
  bucket.set_rate(1, 1min, TimePoint{500ms});  // one and a half tokens were added
  EXPECT_EQ(bucket.tokens(TimePoint{500ms}), 1);
  EXPECT_EQ(bucket.tokens(TimePoint{500ms + 30s - 1ns}), 1);
  EXPECT_EQ(bucket.tokens(TimePoint{500ms + 30s}), 2);
  EXPECT_EQ(bucket.burst(), 10);
  EXPECT_THROW(bucket.set_rate(0, 1s, t(5)), std::invalid_argument);
  EXPECT_THROW(bucket.set_rate(0.0, t(5)), std::invalid_argument);
  EXPECT_THROW(bucket.set_burst(0, t(5)), std::invalid_argument);
  EXPECT_EQ(bucket.tokens(TimePoint{500ms + 30s}), 2);
}

// More tokens than nanoseconds, which other implementations reject because they cannot count them.
TEST(TokenBucket, CountsMoreTokensThanNanoseconds) {
  auto bucket = token_bucket(100, 1ns, 1000);
  EXPECT_TRUE(bucket.try_take(1000, t(0)));
  EXPECT_EQ(bucket.time_until(1, t(0)), 1ns);
  EXPECT_EQ(bucket.tokens(t(0) + 1ns), 100);
  EXPECT_EQ(bucket.time_until(101, t(0)), 2ns);
  EXPECT_EQ(bucket.tokens(t(0) + 1s), 1000);
}

// A rate of zero or unlimited is rejected at construction; the smallest rate serves the same purpose as a
// rate of zero.
TEST(TokenBucket, TheSmallestRateGivesTheBurstUntilItIsRaised) {
  auto bucket = token_bucket(1e-9, 1);
  EXPECT_TRUE(bucket.try_take(1, t(0)));
  EXPECT_FALSE(bucket.try_take(1, t(0)));
  EXPECT_FALSE(bucket.try_take(1, TimePoint{24h * 365}));
  auto raised = token_bucket(1e-9, 1);
  EXPECT_TRUE(raised.try_take(1, t(0)));
  raised.set_rate(10, t(0));
  EXPECT_EQ(raised.time_until(1, t(0)), 100ms);
}

// One every 100 ms is ten per second.
TEST(TokenBucket, AnIntervalIsARate) {
  auto interval = token_bucket(1, 100ms, 3);
  auto rate = token_bucket(10, 3);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(charge(interval, 30ms * i), charge(rate, 30ms * i));
}

TEST(TokenBucket, ReturnsExactlyWhenTokensWillBeAvailable) {
  for (const std::int64_t rate : {1, 3, 7, 1000, 999'983}) {
    auto bucket = token_bucket(rate, 1s, 20);
    ASSERT_TRUE(bucket.try_take(20, t(0)));
    for (int count = 1; count <= 20; ++count) {
      const TimePoint there = t(0) + bucket.time_until(count, t(0));
      auto early = bucket;
      EXPECT_FALSE(early.try_take(count, there - 1ns)) << rate << " " << count;
      auto in_time = bucket;
      EXPECT_TRUE(in_time.try_take(count, there)) << rate << " " << count;
    }
  }
  auto later = token_bucket(10, 1);
  ASSERT_TRUE(later.try_take(1, t(10)));
  EXPECT_EQ(later.time_until(1, t(5)), 600ms);  // the clock has to return to t10 first
  EXPECT_EQ(later.time_until(std::numeric_limits<std::int64_t>::max(), t(10)), Duration::max());
}

TEST(TokenBucket, RefusesNegativeCounts) {
  auto bucket = token_bucket(10, 1);
  EXPECT_THROW(bucket.try_take(-1, t(0)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(bucket.reserve(-1, t(0))), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(bucket.time_until(-1, t(0))), std::invalid_argument);
}

// Regression: x/time/rate once overflowed when converting a large debt at a small rate to a time.
TEST(TokenBucket, DebtAtASmallRateIsAnEndlessWaitNotANegativeOne) {
  auto bucket = token_bucket(1, Duration::max() / 4, 1);
  Duration previous{};
  for (int i = 0; i < 100; ++i) {
    const auto wait = bucket.reserve(1, t(0));
    ASSERT_TRUE(wait.has_value());
    EXPECT_GE(*wait, previous);
    previous = *wait;
  }
  EXPECT_LT(bucket.tokens(t(0)), 0);
  bucket.set_rate(1e9, t(0));
  EXPECT_GE(bucket.time_until(1, t(0)), 0s);
  bucket.set_rate(1e-9, t(0));
  EXPECT_GT(bucket.time_until(1, t(0)), 0s);
}

TEST(TokenBucket, NeverOverflows) {
  auto slow = token_bucket(1e-9, 1);  // one token in 31 years
  Duration previous{};
  for (int i = 0; i < 1000; ++i) {
    const Duration delay = charge(slow, 0s);
    EXPECT_GE(delay, previous);
    previous = delay;
  }
  EXPECT_GT(previous, std::chrono::hours{24 * 365 * 100});
  // From the minimum to the maximum of time.
  auto bucket = token_bucket(1'000'000'000, 1s, 1);
  bucket.when(0, TimePoint::min());
  bucket.when(0, TimePoint::min());
  EXPECT_EQ(bucket.when(0, TimePoint::max()), 0s);
}

TEST(TokenBucket, RefusesBadOptions) {
  EXPECT_THROW(token_bucket(10, 1s, 0), std::invalid_argument);
  EXPECT_THROW(token_bucket(10, 1s, -2), std::invalid_argument);
  EXPECT_THROW(token_bucket(-1, 1s, 2), std::invalid_argument);
  EXPECT_THROW(token_bucket(0, 1s, 2), std::invalid_argument);
  EXPECT_THROW(token_bucket(1, -1ns, 2), std::invalid_argument);
  EXPECT_THROW(token_bucket(1, 0ns, 2), std::invalid_argument);
  EXPECT_THROW(token_bucket(1, 1000h, std::numeric_limits<std::int64_t>::max()), std::invalid_argument);
  EXPECT_THROW(token_bucket(0.0, 1), std::invalid_argument);
  EXPECT_THROW(token_bucket(-1.0, 1), std::invalid_argument);
  EXPECT_THROW(token_bucket(1e10, 1), std::invalid_argument);
  EXPECT_THROW(token_bucket(std::nan(""), 1), std::invalid_argument);
  EXPECT_NO_THROW(token_bucket(1'000'000'000, 1s, 1));
}

}  // namespace
}  // namespace evenkeel
