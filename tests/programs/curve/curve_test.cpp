// SPDX-License-Identifier: Apache-2.0
// The curves of objects that always fail, as exact numbers: every figure here follows from the rules of the
// limiters with pen and paper.
#include "programs/curve/curve.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/ratelimit/parse.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using curve::Storm;
using curve::StormOptions;
using Curve = std::vector<std::uint64_t>;

constexpr const char* per_item = "exponential(5ms, 1000s)";
constexpr const char* bucket = "token_bucket(10, 100)";
constexpr const char* both = "max_of(exponential(5ms, 1000s), token_bucket(10, 100))";

Curve requeues(const std::string& limiter, std::uint32_t objects, std::uint32_t seconds = 31) {
  return curve::simulate(LimiterText(limiter), {.objects = objects, .seconds = seconds}).requeues;
}

std::uint64_t sum(const Curve& curve) {
  return std::accumulate(curve.begin(), curve.end(), std::uint64_t{0});
}

// 5, 15, 35, 75, 155, 315 and 635 ms; 1.275, 2.555, 5.115, 10.235 and 20.475 s.
Curve ladder(std::uint64_t objects) {
  Curve curve(31);
  curve[0] = 7 * objects;
  for (const std::size_t second : {1U, 2U, 5U, 10U, 20U}) curve[second] = objects;
  return curve;
}

// The burst and nine more in the first second, then ten in each.
Curve drip(std::size_t seconds) {
  Curve curve(seconds, 10);
  curve[0] = 109;
  return curve;
}

TEST(RequeueCurve, OfTheBackOffGrowsWithTheObjects) {
  EXPECT_EQ(requeues(per_item, 1), ladder(1));
  EXPECT_EQ(requeues(per_item, 100), ladder(100));
  EXPECT_EQ(requeues(per_item, 10'000), ladder(10'000));
  EXPECT_EQ(sum(requeues(per_item, 1)), 12U);
  EXPECT_EQ(requeues(per_item, 10'000)[0], 70'000U);
  EXPECT_EQ(sum(requeues(per_item, 10'000)), 120'000U);
}

TEST(RequeueCurve, OfTheBucketIsTheSameForAnyNumberOfObjects) {
  for (const std::uint32_t objects : {1U, 100U, 10'000U}) {
    EXPECT_EQ(requeues(bucket, objects), drip(31)) << objects;
  }
  EXPECT_EQ(sum(drip(31)), 409U);
}

TEST(RequeueCurve, OfTheDefaultFollowsTheBackOffForFewAndTheBucketForMany) {
  EXPECT_EQ(requeues(both, 1), ladder(1));
  EXPECT_EQ(requeues(both, 10), ladder(10));
  for (const std::uint32_t objects : {100U, 1000U, 10'000U}) {
    EXPECT_EQ(requeues(both, objects), drip(31)) << objects;
  }
  for (const std::uint32_t objects : {1U, 10U, 100U, 1000U, 10'000U}) {
    EXPECT_EQ(requeues("default()", objects), requeues(both, objects)) << objects;
  }
}

TEST(RequeueCurve, OfTenTokensPerMinuteIsOneEverySixSeconds) {
  Curve expected(31);
  expected[0] = 100;
  for (std::size_t second = 6; second <= 30; second += 6) expected[second] = 1;
  EXPECT_EQ(requeues("max_of(exponential(5ms, 1000s), token_bucket(10, 1m, 100))", 10'000), expected);
  EXPECT_EQ(sum(expected), 105U);
}

TEST(RequeueCurve, OfTheBucketStaysSteadyForAsLongAsTheStormLasts) {
  for (const char* limiter : {bucket, both}) {
    EXPECT_EQ(requeues(limiter, 10'000, 1002), drip(1002)) << limiter;  // 100 + 10 * s by s + 50 ms
  }
}

TEST(RequeueCurve, OfACappedDefaultFloodsWhenTheCapIsReached) {
  const Curve capped = requeues("with_max_delay(default(), 10s)", 10'000);
  EXPECT_EQ(capped[0], 109U);
  for (std::size_t second = 1; second < 10; ++second) EXPECT_EQ(capped[second], 10U) << second;
  EXPECT_EQ(capped[10],
            10'000U - 199U + 109U);  // all that got a longer delay, and those of second 0
}

TEST(RequeueCurve, OfFastSlowIsThreeQuickAttemptsAndThenSlowOnes) {
  Curve expected(31);
  expected[0] = 300;
  for (const std::size_t second : {10U, 20U, 30U}) expected[second] = 100;
  EXPECT_EQ(requeues("fast_slow(5ms, 10s, 3)", 100), expected);
}

TEST(RequeueCurve, CountsAKeyWhenItComesBackNotWhenItRuns) {
  // One worker and a second per run: of three objects one fails at each of 1, 2, 3, ... s.
  StormOptions options{.objects = 3, .seconds = 8, .run_time = 1s};
  EXPECT_EQ(curve::simulate(LimiterText("fast_slow(500ms, 500ms, 0)"), options).requeues,
            (Curve{0, 1, 1, 1, 1, 1, 1, 1}));
  // Three workers: all fail at 1 s, come back at 1.5 s, fail at 2.5 s, come back at 3 s.
  options.workers = 3;
  EXPECT_EQ(curve::simulate(LimiterText("fast_slow(500ms, 500ms, 0)"), options).requeues,
            (Curve{0, 3, 0, 3, 3, 0, 3, 3}));
}

TEST(RequeueCurve, RunTimeSlowsTheFirstSecondDown) {
  // It fails at 100, 205, 315, 435, 575, 755, 1015 and 1435 ms.
  const StormOptions options{.objects = 1, .seconds = 3, .run_time = 100ms};
  EXPECT_EQ(curve::simulate(LimiterText(per_item), options).requeues, (Curve{6, 1, 1}));
}

Duration newcomer_waits(const std::string& limiter, std::uint32_t objects, Duration at) {
  const Storm storm =
      curve::simulate(LimiterText(limiter), {.objects = objects, .seconds = 31, .newcomer = at});
  return storm.newcomer_waits.value_or(Duration{-1});
}

TEST(RequeueCurve, ANewcomerPaysForTheDebtOfAll) {
  EXPECT_EQ(newcomer_waits(bucket, 10'000, 1050ms), 1000s + 50ms);
  EXPECT_EQ(newcomer_waits(both, 10'000, 1050ms), 1000s + 50ms);
  EXPECT_EQ(newcomer_waits(per_item, 10'000, 1050ms), 5ms);
  EXPECT_EQ(newcomer_waits("with_max_delay(default(), 1m)", 10'000, 1050ms), 1min);
  EXPECT_EQ(newcomer_waits(both, 1, 1050ms), 5ms);
  EXPECT_EQ(newcomer_waits(both, 10'000, 0s), 990s + 100ms);  // behind the ten thousand of time zero
}

TEST(RequeueCurve, TheNewcomerChangesNothingForTheOthers) {
  const Storm storm = curve::simulate(LimiterText(both), {.objects = 200, .seconds = 31, .newcomer = 500ms});
  EXPECT_EQ(storm.requeues, requeues(both, 200));
}

TEST(RequeueCurve, RefusesWhatMakesNoSense) {
  const LimiterText limiter("default()");
  EXPECT_THROW(curve::simulate(limiter, {.objects = 0}), std::invalid_argument);
  EXPECT_THROW(curve::simulate(limiter, {.seconds = 0}), std::invalid_argument);
  EXPECT_THROW(curve::simulate(limiter, {.run_time = -1ns}), std::invalid_argument);
  EXPECT_THROW(curve::simulate(limiter, {.workers = 0}), std::invalid_argument);
  EXPECT_THROW(curve::simulate(limiter, {.newcomer = -1ns}), std::invalid_argument);
  EXPECT_THROW(curve::simulate(limiter, {.seconds = 5, .newcomer = 5s}), std::invalid_argument);
}

}  // namespace
}  // namespace evenkeel
