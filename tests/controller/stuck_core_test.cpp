// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/stuck_core.hpp"

#include <gtest/gtest.h>

namespace evenkeel::stuck_core_tests {
namespace {

using namespace std::chrono_literals;
using detail::check_stuck;
using detail::FlightRun;
using detail::limit_of;
using detail::StuckCheck;

TimePoint at(Duration time) {
  return TimePoint(time);
}

FlightRun run(std::uint64_t key, TimePoint since, Duration limit) {
  return {.key = key, .since = since, .limit = since + limit, .warn_at = since + limit};
}

// Runs that outlive their deadlines are reported.
TEST(StuckCore, ALimitIsTheOptionElseTheDeadlineElseTenMinutes) {
  EXPECT_EQ(limit_of(at(1h), std::nullopt, {}), at(1h + 10min));
  EXPECT_EQ(limit_of(at(1h), at(1h + 5s), {}), at(1h + 35s));
  EXPECT_EQ(limit_of(at(1h), at(1h + 5s), {.after = 1min}), at(1h + 1min));
  EXPECT_EQ(limit_of(at(1h), std::nullopt, {.after = Duration::max()}), TimePoint::max());
}

TEST(StuckCore, TellsOfARunAtItsLimitAndEachTimeItHasDoubled) {
  std::vector<FlightRun> runs = {run(1, at(100s), 10s)};
  StuckCheck check = check_stuck(runs, at(109s));
  EXPECT_TRUE(check.to_report.empty());
  EXPECT_EQ(check.next_due, at(110s));
  std::vector<Duration> told;
  for (TimePoint now = at(109s); now < at(500s); now += 1s) {
    if (!check_stuck(runs, now).to_report.empty()) told.push_back(now - runs[0].since);
  }
  EXPECT_EQ(told, (std::vector<Duration>{10s, 20s, 40s, 80s, 160s, 320s}));
}

TEST(StuckCore, LooksAgainWhenTheFirstRunIsDue) {
  std::vector<FlightRun> runs = {run(1, at(100s), 10s), run(2, at(50s), 10s), run(3, at(104s), 10s)};
  const StuckCheck check = check_stuck(runs, at(105s));
  ASSERT_EQ(check.to_report.size(), 1u);
  EXPECT_EQ(check.to_report[0].key, 2u);
  EXPECT_EQ(check.next_due, at(110s));
}

TEST(StuckCore, LooksAgainInTimeForRunsThatBeginMeanwhile) {
  std::vector<FlightRun> runs = {run(1, at(0s), 10s)};
  EXPECT_EQ(check_stuck(runs, at(1000s)).next_due, at(1010s));
}

TEST(StuckCore, WithoutARunThereIsNothingToLookFor) {
  std::vector<FlightRun> none;
  EXPECT_EQ(check_stuck(none, at(1s)).next_due, std::nullopt);
}

}  // namespace
}  // namespace evenkeel::stuck_core_tests
