// SPDX-License-Identifier: Apache-2.0
#include "controller/timer_core.hpp"

#include <chrono>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evenkeel::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr TimePoint zero{};

TEST(TimerCore, FiresEachInItsOwnPeriod) {
  TimerCore timers;
  timers.add(10s);
  timers.add(4s);
  EXPECT_EQ(timers.next_due(), std::nullopt) << "not started";
  timers.start(zero + 1s);
  EXPECT_EQ(timers.next_due(), zero + 5s);
  EXPECT_THAT(timers.on_timeout(zero + 4s), IsEmpty());
  EXPECT_THAT(timers.on_timeout(zero + 5s), ElementsAre(1));
  EXPECT_THAT(timers.on_timeout(zero + 5s), IsEmpty());
  EXPECT_EQ(timers.next_due(), zero + 9s);
  EXPECT_THAT(timers.on_timeout(zero + 12s), ElementsAre(1, 0)) << "9 s, then 11 s";
}

TEST(TimerCore, WhatIsLateComesOnceAndKeepsStep) {
  TimerCore timers;
  timers.add(10s);
  timers.start(zero);
  EXPECT_THAT(timers.on_timeout(zero + 57s), ElementsAre(0));
  EXPECT_EQ(timers.next_due(), zero + 60s);
  EXPECT_THAT(timers.on_timeout(zero + 60s), ElementsAre(0));
  EXPECT_EQ(timers.next_due(), zero + 70s);
}

TEST(TimerCore, RefusesAPeriodOfNothing) {
  TimerCore timers;
  EXPECT_THROW(timers.add(0s), std::invalid_argument);
  EXPECT_THROW(timers.add(-1s), std::invalid_argument);
}

TEST(TimerCore, APeriodWithoutEndIsNeverDue) {
  TimerCore timers;
  timers.add(Duration::max());
  timers.start(zero + 1s);
  EXPECT_EQ(timers.next_due(), std::nullopt);
}

}  // namespace
}  // namespace evenkeel::detail
