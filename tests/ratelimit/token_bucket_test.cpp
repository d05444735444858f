// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

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

TEST(TokenBucket, PassesTheBurstThenOnePerInterval) {  // cat:L8
  auto bucket = token_bucket(1, 10min, 2);
  EXPECT_EQ(charge(bucket, 0s), 0s);
  EXPECT_EQ(charge(bucket, 0s), 0s);
  EXPECT_EQ(charge(bucket, 0s), 10min);
  EXPECT_EQ(charge(bucket, 1min), 19min);
}

TEST(TokenBucket, FillsWhileItWaits) {  // cat:L9
  auto bucket = token_bucket(1, 2s, 2);
  EXPECT_EQ(charge(bucket, 0s), 0s);
  EXPECT_EQ(charge(bucket, 0s), 0s);
  EXPECT_EQ(charge(bucket, 0s), 2s);
  EXPECT_EQ(charge(bucket, 4s), 0s);
  EXPECT_EQ(charge(bucket, 4s), 2s);
}

// Prediction 3.2: the k-th charge at t=0 of 10 per second, burst 100.
TEST(TokenBucket, GivesTheKthChargeItsPlaceInLine) {
  auto bucket = token_bucket(10, 100);
  for (int k = 1; k <= 10'000; ++k) {
    const Duration expected = k <= 100 ? 0ms : std::chrono::milliseconds{100} * (k - 100);
    ASSERT_EQ(charge(bucket, 0s), expected) << k;
  }
  // A key that fails for the first time at 1.05 s pays for all of them: 9,901 tokens of debt, of which
  // 10.5 have come in.
  EXPECT_EQ(charge(bucket, 1050ms), 990s + 100ms - 1050ms);
}

// Prediction 3.2, 10,000 objects that fail at once and again whenever they run, under the bucket alone:
// the hundred that were let through come back behind everybody else.
TEST(TokenBucket, TheFirstHundredComeBackBehindEverybodyElse) {
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
  EXPECT_EQ(charge(bucket, 13s), 0s);  // at 13 s the third token is there
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

TEST(TokenBucket, CountsExactlyOverALongRun) {  // cat:L19: a try every 2 ms for 5 s at 100 per second
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
  auto slow = token_bucket(0.7692307692307693, 1);  // cat:L20
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

TEST(TokenBucket, NeverOverflows) {
  auto slow = token_bucket(1e-9, 1);  // one token in 31 years
  Duration previous{};
  for (int i = 0; i < 1000; ++i) {
    const Duration delay = charge(slow, 0s);
    EXPECT_GE(delay, previous);
    previous = delay;
  }
  EXPECT_GT(previous, std::chrono::hours{24 * 365 * 100});
  // From one end of time to the other.
  auto bucket = token_bucket(1'000'000'000, 1s, 1);
  bucket.when(0, TimePoint::min());
  bucket.when(0, TimePoint::min());
  EXPECT_EQ(bucket.when(0, TimePoint::max()), 0s);
}

TEST(TokenBucket, RefusesBadOptions) {  // cat:L10
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
