// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <evenkeel/cache/watch_health.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

TEST(WatchHealth, SaysWhatIsWrongSinceWhenAndWhenItIsTriedAgain) {
  WatchHealth health{.resource = {"apps", "v1", "Deployment", "deployments"}};
  const TimePoint now = TimePoint{} + 1h;
  EXPECT_EQ(health.describe(now), "deployments (apps/v1)");
  health.problem = WatchProblem::forbidden;
  health.last_error = "list Deployment: 403 Forbidden";
  EXPECT_EQ(health.describe(now), "deployments (apps/v1): list Deployment: 403 Forbidden");
  health.since = now - 5s - 1ns;
  EXPECT_EQ(health.describe(now), "deployments (apps/v1): list Deployment: 403 Forbidden (since 5s)");
  health.next_attempt = now + 1600ms;
  EXPECT_EQ(health.describe(now),
            "deployments (apps/v1): list Deployment: 403 Forbidden (since 5s, next try in 1.6s)");
}

TEST(WatchHealth, NamesOfProblemsAreLabels) {
  EXPECT_EQ(watch_problem_name(WatchProblem::none), "none");
  EXPECT_EQ(watch_problem_name(WatchProblem::no_such_kind), "no_such_kind");
  EXPECT_EQ(watch_problem_name(WatchProblem::forbidden), "forbidden");
  EXPECT_EQ(watch_problem_name(WatchProblem::unauthorized), "unauthorized");
  EXPECT_EQ(watch_problem_name(WatchProblem::unreachable), "unreachable");
  EXPECT_EQ(watch_problem_name(WatchProblem::other), "other");
}

}  // namespace
}  // namespace evenkeel
