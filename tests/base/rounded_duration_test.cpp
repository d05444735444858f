// SPDX-License-Identifier: Apache-2.0
#include "base/rounded_duration.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

TEST(FormatRounded, IsShortAtEveryScale) {
  EXPECT_EQ(detail::format_rounded(0ns), "0s");
  EXPECT_EQ(detail::format_rounded(250us), "250us");
  EXPECT_EQ(detail::format_rounded(1500ns), "1.5us");
  EXPECT_EQ(detail::format_rounded(5ms), "5ms");
  EXPECT_EQ(detail::format_rounded(640ms), "640ms");
  EXPECT_EQ(detail::format_rounded(90ms + 123456ns), "90ms");
  EXPECT_EQ(detail::format_rounded(1280ms), "1.28s");
  EXPECT_EQ(detail::format_rounded(12345678us), "12.345s");
  EXPECT_EQ(detail::format_rounded(163840ms), "2m43s");
  EXPECT_EQ(detail::format_rounded(723456ms), "12m3s");
  EXPECT_EQ(detail::format_rounded(10min), "10m");
  EXPECT_EQ(detail::format_rounded(1000s), "16m40s");
  EXPECT_EQ(detail::format_rounded(1h), "1h");
  EXPECT_EQ(detail::format_rounded(1h + 1s), "1h0m1s");
  EXPECT_EQ(detail::format_rounded(-1280ms), "-1.28s");
}

}  // namespace
}  // namespace evenkeel
