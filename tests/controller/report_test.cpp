// SPDX-License-Identifier: Apache-2.0
#include "controller/report.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using detail::format_delay;

TEST(FormatDelay, IsShortAndExactToThreeDecimals) {
  EXPECT_EQ(format_delay(0ns), "0us");
  EXPECT_EQ(format_delay(250us), "250us");
  EXPECT_EQ(format_delay(1500ns), "1.5us");
  EXPECT_EQ(format_delay(5ms), "5ms");
  EXPECT_EQ(format_delay(640ms), "640ms");
  EXPECT_EQ(format_delay(1280ms), "1.28s");
  EXPECT_EQ(format_delay(163840ms), "163.84s");
  EXPECT_EQ(format_delay(1000s), "1000s");
  EXPECT_EQ(format_delay(90ms + 123456ns), "90.123ms");
}

}  // namespace
}  // namespace evenkeel
