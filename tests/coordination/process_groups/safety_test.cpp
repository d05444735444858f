// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/coordination/process_groups/safety.hpp>

#include "clusters.hpp"

namespace evenkeel::coordination {
namespace {

using namespace tests;

class SafetyTest : public ::testing::Test {
 protected:
  const ProcessCluster cluster = default_cluster();
  DatabaseStatus status = status_of(cluster);
  ProcessGroupTimes times = {};
};

TEST_F(SafetyTest, OfADatabaseAtRestIsGiven) {
  EXPECT_EQ(refuse_exclusion(status, times), std::nullopt);
  EXPECT_EQ(refuse_inclusion(status, times), std::nullopt);
  EXPECT_EQ(refuse_restart(status, times), std::nullopt);
  EXPECT_EQ(refuse_coordinator_change(status, times), std::nullopt);
}

TEST_F(SafetyTest, NeedsAnAvailableDatabase) {
  status.available = false;
  EXPECT_EQ(refuse_exclusion(status, times), "cluster is unavailable, cannot exclude processes");
  EXPECT_EQ(refuse_inclusion(status, times), "cluster is unavailable, cannot include processes");
  EXPECT_EQ(refuse_restart(status, times), "cluster is unavailable, cannot bounce processes");
  EXPECT_EQ(refuse_coordinator_change(status, times), "cluster is unavailable, cannot change coordinators");
}

TEST_F(SafetyTest, RefusesManyGenerations) {
  status.active_generations = 11;
  EXPECT_EQ(refuse_restart(status, times),
            "cluster has 11 active generations, but only 10 active generations are allowed to safely bounce "
            "processes");
}

TEST_F(SafetyTest, NeedsTimeSinceTheLastRecovery) {
  status.since_last_recovery = 119s;
  EXPECT_EQ(
      refuse_exclusion(status, times),
      "cannot: exclude processes, clusters last recovery was 119.00 seconds ago, waiting until the last "
      "recovery was 120 seconds ago");
  status.since_last_recovery = 120s;
  EXPECT_EQ(refuse_exclusion(status, times), std::nullopt);
  EXPECT_NE(refuse_inclusion(status, times), std::nullopt);
  status.since_last_recovery = 600s;
  EXPECT_EQ(refuse_inclusion(status, times), std::nullopt);
}

TEST_F(SafetyTest, OfAnInclusionNeedsARecoveredDatabase) {
  status.recovery_state = "accepting_commits";
  EXPECT_EQ(refuse_inclusion(status, times),
            R"(cannot: include processes, cluster recovery state is accepting_commits, but it must be )"
            R"("fully_recovered" or "all_logs_recruited")");
  EXPECT_EQ(refuse_exclusion(status, times), std::nullopt);
  status.recovery_state = "all_logs_recruited";
  EXPECT_EQ(refuse_inclusion(status, times), std::nullopt);
}

TEST_F(SafetyTest, OfARestartCountsTheYoungestProcess) {
  status.processes[4].uptime = 60s;
  EXPECT_EQ(minimum_uptime(status), Duration(60s));
  EXPECT_EQ(refuse_restart(status, times),
            "cluster has only been up for 60.00 seconds, but must be up for 600.00 seconds to safely bounce");
  status.processes[4].excluded = true;
  EXPECT_EQ(refuse_restart(status, times), std::nullopt);
  status.processes[5].uptime = 0s;  // not reported
  EXPECT_EQ(refuse_restart(status, times), std::nullopt);
}

TEST_F(SafetyTest, OfARestartNeedsACleanBounce) {
  status.can_clean_bounce = false;
  status.recovery_state = "all_logs_recruited";
  EXPECT_EQ(refuse_restart(status, times),
            "cannot perform a clean bounce based on cluster status, current recovery state: "
            "all_logs_recruited");
}

TEST_F(SafetyTest, ReplacesAMissingCoordinatorSooner) {
  status.since_last_recovery = 120s;
  EXPECT_EQ(
      refuse_coordinator_change(status, times),
      "cannot: change coordinators: cluster is not up for long enough, clusters last recovery was 120.00 "
      "seconds ago, waiting until the last recovery was 300 seconds ago");
  status.processes.erase(status.processes.begin());
  status.available = false;
  EXPECT_EQ(refuse_coordinator_change(status, times), std::nullopt);
  status.since_last_recovery = 119s;
  EXPECT_EQ(
      refuse_coordinator_change(status, times),
      "cannot: change coordinators: cluster has 1 missing coordinators, clusters last recovery was 119.00 "
      "seconds ago, waiting until the last recovery was 120 seconds ago");
}

}  // namespace
}  // namespace evenkeel::coordination
