// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <gtest/gtest.h>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

TEST(DeadlineAfter, AddsAndNeverPassesTheEnd) {
  const TimePoint start{5s};
  EXPECT_EQ(deadline_after(start, 1ns), TimePoint{5s + 1ns});
  EXPECT_EQ(deadline_after(start, Duration::max()), TimePoint::max());
  EXPECT_EQ(deadline_after(TimePoint::max() - 1ns, 1ns), TimePoint::max());
  EXPECT_EQ(deadline_after(TimePoint::max(), 1ns), TimePoint::max());
  EXPECT_EQ(deadline_after(TimePoint::min(), Duration::max()), TimePoint::min() + Duration::max());
}

TEST(DeadlineAfter, TakesDelaysThatAreNotPositiveAsNone) {
  EXPECT_EQ(deadline_after(TimePoint{5s}, 0ns), TimePoint{5s});
  EXPECT_EQ(deadline_after(TimePoint{5s}, -1s), TimePoint{5s});
  EXPECT_EQ(deadline_after(TimePoint::min(), Duration::min()), TimePoint::min());
}

}  // namespace
}  // namespace evenkeel
