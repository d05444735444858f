// SPDX-License-Identifier: Apache-2.0
#include "base/repeated_line.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace evenkeel::repeated_line_tests {
namespace {

using namespace std::chrono_literals;

TEST(RepeatedLine, IsWrittenAtOnceAndThenOnceAMinute) {
  detail::RepeatedLine line;
  const TimePoint start = TimePoint() + 1h;
  EXPECT_EQ(line.on_line(start), 1);
  EXPECT_EQ(line.on_line(start), 0);
  EXPECT_EQ(line.on_line(start + 59s), 0);
  EXPECT_EQ(line.on_line(start + 60s), 3);
  EXPECT_EQ(line.on_line(start + 61s), 0);
  EXPECT_EQ(line.on_line(start + 10min), 2);
  EXPECT_EQ(line.on_line(start + 20min), 1);
}

}  // namespace
}  // namespace evenkeel::repeated_line_tests
