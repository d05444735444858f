// SPDX-License-Identifier: Apache-2.0
#include "clusters/reach_core.hpp"

#include <chrono>
#include <optional>

#include <gtest/gtest.h>

namespace evenkeel::reach_core {
namespace {

using namespace std::chrono_literals;
using detail::ReachCore;

constexpr TimePoint zero{};

TEST(ReachCore, IsAwayAfterFailuresInARowOnly) {
  ReachCore core({.failures = 3});
  EXPECT_FALSE(core.on_failure(zero));
  EXPECT_FALSE(core.on_failure(zero + 1s));
  EXPECT_FALSE(core.on_answer());
  EXPECT_FALSE(core.on_failure(zero + 2s));
  EXPECT_FALSE(core.on_failure(zero + 3s));
  EXPECT_FALSE(core.is_away());
  EXPECT_TRUE(core.on_failure(zero + 4s));
  EXPECT_TRUE(core.is_away());
}

TEST(ReachCore, CountsTheAbsenceFromTheFirstFailureAndReportsItOnce) {
  ReachCore core({.failures = 2});
  core.on_failure(zero + 10s);
  EXPECT_EQ(core.away_since(), std::nullopt);
  EXPECT_TRUE(core.on_failure(zero + 15s));
  EXPECT_EQ(core.away_since(), zero + 10s);
  EXPECT_FALSE(core.on_failure(zero + 20s));
  EXPECT_EQ(core.away_since(), zero + 10s);
}

TEST(ReachCore, IsBackWithTheFirstAnswerAndReportsItOnce) {
  ReachCore core({.failures = 1});
  core.on_failure(zero);
  EXPECT_TRUE(core.on_answer());
  EXPECT_FALSE(core.is_away());
  EXPECT_EQ(core.next_due(), std::nullopt);
  EXPECT_FALSE(core.on_answer());
}

TEST(ReachCore, ProbesAtIntervalsThatDoubleUpToTheLimit) {
  ReachCore core({.failures = 1, .first_probe = 1s, .longest_probe = 3s});
  core.on_failure(zero);
  EXPECT_EQ(core.next_due(), zero + 1s);
  EXPECT_FALSE(core.on_timeout(zero + 999ms));
  EXPECT_TRUE(core.on_timeout(zero + 1s));
  EXPECT_EQ(core.next_due(), zero + 3s);
  EXPECT_FALSE(core.on_timeout(zero + 1s));
  EXPECT_TRUE(core.on_timeout(zero + 3s));
  EXPECT_EQ(core.next_due(), zero + 6s);
  EXPECT_TRUE(core.on_timeout(zero + 6s));
  EXPECT_EQ(core.next_due(), zero + 9s);
}

TEST(ReachCore, AnAbsenceAfterAReturnBeginsAnew) {
  ReachCore core({.failures = 1, .first_probe = 1s, .longest_probe = 30s});
  core.on_failure(zero);
  core.on_timeout(zero + 1s);
  core.on_answer();
  EXPECT_FALSE(core.on_timeout(zero + 100s));
  EXPECT_TRUE(core.on_failure(zero + 100s));
  EXPECT_EQ(core.away_since(), zero + 100s);
  EXPECT_EQ(core.next_due(), zero + 101s);
}

}  // namespace
}  // namespace evenkeel::reach_core
