// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/ratelimit/fast_slow.hpp>
#include <evenkeel/ratelimit/limiter.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

TEST(FastSlow, IsFastAFewTimesPerKeyThenSlow) {
  auto limiter = limiter_for<std::string>(fast_slow(5ms, 10s, 3));
  for (const Duration expected :
       {Duration{5ms}, Duration{5ms}, Duration{5ms}, Duration{10s}, Duration{10s}}) {
    EXPECT_EQ(limiter.when("one", {}), expected);
  }
  EXPECT_EQ(limiter.retries("one"), 5U);
  EXPECT_EQ(limiter.when("two", {}), 5ms);
  EXPECT_EQ(limiter.when("two", {}), 5ms);
  EXPECT_EQ(limiter.retries("two"), 2U);
  limiter.forget("one");
  EXPECT_EQ(limiter.retries("one"), 0U);
  EXPECT_EQ(limiter.when("one", {}), 5ms);
  EXPECT_EQ(limiter.retries("unknown"), 0U);
  EXPECT_EQ(limiter.size(), 2U);
}

TEST(FastSlow, WithoutFastAttemptsIsAlwaysSlow) {
  for (const int attempts : {-1, 0}) {
    auto limiter = limiter_for<std::string>(fast_slow(5ms, 10s, attempts));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.when("key", {}), 10s);
  }
}

TEST(FastSlow, RefusesNegativeDelays) {
  EXPECT_THROW(fast_slow(-1ms, 10s, 3), std::invalid_argument);
  EXPECT_THROW(fast_slow(1ms, -10s, 3), std::invalid_argument);
  EXPECT_NO_THROW(fast_slow(0ms, 0s, 3));
}

}  // namespace
}  // namespace evenkeel
