// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/stop.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

TEST(SleepUntil, ReturnsAtOnceIfStoppedOrDue) {
  ManualClock clock;
  std::stop_source source;
  EXPECT_TRUE(sleep_until(clock, clock.now(), source.get_token()));
  source.request_stop();
  EXPECT_FALSE(sleep_until(clock, clock.now() + 1h, source.get_token()));
}

TEST(SleepUntilConcurrency, EndsAtTheDeadline) {
  ManualClock clock;
  bool reached = false;
  std::jthread sleeper([&] { reached = sleep_until(clock, TimePoint{1h}, {}); });
  clock.wait_for_waiters(1);
  clock.advance(1h);
  sleeper.join();
  EXPECT_TRUE(reached);
}

TEST(SleepUntilConcurrency, EndsWhenStopped) {
  ManualClock clock;
  bool reached = true;
  std::jthread sleeper([&](std::stop_token stop) { reached = sleep_until(clock, TimePoint{1h}, stop); });
  clock.wait_for_waiters(1);
  sleeper.request_stop();
  sleeper.join();
  EXPECT_FALSE(reached);
}

TEST(SleepUntilConcurrency, AStopAtAnyMomentIsNotMissed) {
  ManualClock clock;
  for (int round = 0; round < 500; ++round) {
    std::jthread sleeper(
        [&](std::stop_token stop) { EXPECT_FALSE(sleep_until(clock, TimePoint{1h}, stop)); });
    sleeper.request_stop();  // before, while or after it starts to wait
  }
}

}  // namespace
}  // namespace evenkeel
