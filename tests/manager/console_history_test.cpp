// SPDX-License-Identifier: Apache-2.0
// Rates and latencies of the console, in virtual time.
#include "manager/console_history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evenkeel {
namespace console_history_test {
namespace {

using namespace std::chrono_literals;
using detail::ConsoleHistory;
using detail::ConsoleSeries;
using detail::ControllerSample;
using ::testing::IsEmpty;
using ::testing::SizeIs;

float at(const ConsoleHistory::Point& point, ConsoleSeries series) {
  return point.at(static_cast<std::size_t>(series));
}

TEST(ConsoleHistory, TurnsTotalsIntoRatesOfTheInterval) {
  ConsoleHistory history;
  ControllerSample sample{.controller = "demo", .reconciles = 100, .errors = 5, .run_seconds = 1};
  sample.latency.record(10s);
  history.on_sample(TimePoint{0s}, {sample});
  EXPECT_THAT(history.points("demo", 0), IsEmpty());
  EXPECT_EQ(history.next_due(), TimePoint{2s});
  sample.reconciles = 140;
  sample.errors = 7;
  sample.retries = 6;
  sample.run_seconds = 5;
  sample.depth = 9;
  sample.busy = 3;
  sample.latency.record(1ms);
  history.on_sample(TimePoint{4s}, {sample});
  const auto points = history.points("demo", 0);
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_FLOAT_EQ(at(points[0], ConsoleSeries::rate), 10);
  EXPECT_FLOAT_EQ(at(points[0], ConsoleSeries::errors), 0.5);
  EXPECT_FLOAT_EQ(at(points[0], ConsoleSeries::retries), 1.5);
  EXPECT_FLOAT_EQ(at(points[0], ConsoleSeries::run_mean), 0.1F);
  EXPECT_FLOAT_EQ(at(points[0], ConsoleSeries::depth), 9);
  EXPECT_FLOAT_EQ(at(points[0], ConsoleSeries::busy), 3);
  EXPECT_NEAR(at(points[0], ConsoleSeries::wait_p99), 0.001, 0.0001);  // the wait of 10 s was before
}

TEST(ConsoleHistory, KeepsTheNewestPointsInFixedMemory) {
  ConsoleHistory history({.points = 10});
  ControllerSample sample{.controller = "demo"};
  history.on_sample(TimePoint{0s}, {sample});
  const std::size_t bytes = history.bytes();
  for (int second = 1; second <= 1000; ++second) {
    sample.depth = second;
    history.on_sample(TimePoint{std::chrono::seconds{second}}, {sample});
  }
  EXPECT_EQ(history.bytes(), bytes);
  EXPECT_EQ(history.sequence(), 1000U);
  const auto points = history.points("demo", 0);
  ASSERT_THAT(points, SizeIs(10));
  EXPECT_FLOAT_EQ(at(points.front(), ConsoleSeries::depth), 991);
  EXPECT_FLOAT_EQ(at(points.back(), ConsoleSeries::depth), 1000);
  EXPECT_THAT(history.points("demo", 997), SizeIs(3));
  EXPECT_THAT(history.points("demo", 1000), IsEmpty());
  EXPECT_THAT(history.points("nobody", 0), IsEmpty());
}

TEST(ConsoleHistory, TracksNoMoreControllersThanItMay) {
  ConsoleHistory history({.max_controllers = 2});
  const std::vector<ControllerSample> samples{{.controller = "a"}, {.controller = "b"}, {.controller = "c"}};
  history.on_sample(TimePoint{0s}, samples);
  history.on_sample(TimePoint{2s}, samples);
  EXPECT_THAT(history.points("b", 0), SizeIs(1));
  EXPECT_THAT(history.points("c", 0), IsEmpty());
}

// No rate is negative, as after an exchange of the controller.
TEST(ConsoleHistory, ACounterThatWentBackGivesNoNegativeRate) {
  ConsoleHistory history;
  history.on_sample(TimePoint{0s}, {{.controller = "a", .reconciles = 10}});
  history.on_sample(TimePoint{2s}, {{.controller = "a", .reconciles = 1}});
  EXPECT_FLOAT_EQ(at(history.points("a", 0).at(0), ConsoleSeries::rate), 0);
}

}  // namespace
}  // namespace console_history_test
}  // namespace evenkeel
