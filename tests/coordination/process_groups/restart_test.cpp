// SPDX-License-Identifier: Apache-2.0
// The expectations of the FoundationDB operator's controllers/bounce_processes_test.go that need no I/O.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/process_groups/restart.hpp>

#include "clusters.hpp"

namespace evenkeel::coordination {
namespace {

using namespace tests;
using Texts = std::vector<std::string>;

class RestartPlanTest : public ::testing::Test {
 protected:
  RestartPlan plan() const { return plan_restart(cluster, status, {}, wall_start); }
  void forget(const ProcessGroup& group) {
    std::erase_if(status.processes, [&](const auto& one) { return one.group() == group.id; });
  }
  void begin_upgrade() {
    cluster.running_version = "7.1.57";
    cluster.version = "7.3.0";
    for (ProcessGroup& one : cluster.process_groups) one.set(condition::incorrect_command_line, wall_start);
  }

  ProcessCluster cluster = default_cluster();
  DatabaseStatus status = status_of(cluster);
  ProcessGroup& first = *of_class(cluster, "storage").at(0);
  ProcessGroup& second = *of_class(cluster, "storage").at(1);
};

TEST_F(RestartPlanTest, OfAClusterAtRestIsEmpty) {
  EXPECT_EQ(plan().pending, Texts());
  EXPECT_EQ(plan().addresses, Texts());
  EXPECT_FALSE(plan().wait);
}

// Marked for removal or not, excluded or not.
TEST_F(RestartPlanTest, TakesGroupsWithAWrongCommandLine) {
  for (ProcessGroup* group : {&first, &second}) group->set(condition::incorrect_command_line, wall_start);
  EXPECT_EQ(plan().ready, (Texts{first.id, second.id}));
  EXPECT_EQ(plan().addresses, (Texts{first.addresses[0] + ":4501", second.addresses[0] + ":4501"}));
  first.removal_timestamp = wall_start;
  status.processes[0].excluded = true;
  EXPECT_EQ(plan().addresses.size(), 2U);
}

TEST_F(RestartPlanTest, TakesAllProcessesOfAPod) {
  first.set(condition::incorrect_command_line, wall_start);
  status.processes.push_back(status.processes[0]);
  status.processes.back().address = first.addresses[0] + ":4503";
  EXPECT_EQ(plan().addresses, (Texts{first.addresses[0] + ":4501", first.addresses[0] + ":4503"}));
}

TEST_F(RestartPlanTest, LeavesOutPendingPodsAndMissingProcesses) {
  for (ProcessGroup* group : {&first, &second}) group->set(condition::incorrect_command_line, wall_start);
  first.set(condition::pod_pending, wall_start - 6min);
  EXPECT_EQ(plan().ready, (Texts{second.id}));
  first.clear(condition::pod_pending);
  first.set(condition::missing_processes, wall_start - 2min);
  EXPECT_EQ(plan().ready, (Texts{second.id}));
  EXPECT_FALSE(plan().wait);
}

TEST_F(RestartPlanTest, WaitsForTheConfigurationOfEveryPod) {
  first.set(condition::incorrect_command_line, wall_start);
  second.set(condition::incorrect_config_map, wall_start);
  EXPECT_EQ(plan().pending, (Texts{first.id}));
  EXPECT_EQ(plan().ready, Texts());
  EXPECT_EQ(plan().wait, "Waiting for config map to sync to all pods");
}

TEST_F(RestartPlanTest, WaitsForAnAddress) {
  first.set(condition::incorrect_command_line, wall_start);
  forget(first);
  EXPECT_EQ(plan().pending, (Texts{first.id}));
  EXPECT_EQ(plan().ready, Texts());
  EXPECT_EQ(plan().wait, "could not find address for processes: [storage-1]");
}

TEST_F(RestartPlanTest, DoesNotRestartIntoAnOldPod) {
  for (const std::string_view type : {condition::incorrect_pod_spec, condition::sidecar_unreachable}) {
    first.conditions.clear();
    first.set(condition::incorrect_command_line, wall_start);
    first.set(type, wall_start);
    EXPECT_EQ(plan().pending, Texts()) << type;
  }
}

TEST_F(RestartPlanTest, OfAnUpgradeNeedsAllProcesses) {
  begin_upgrade();
  EXPECT_EQ(plan().addresses.size(), 17U);
  // An excluded group restarts with the others, whatever its conditions.
  first.removal_timestamp = first.exclusion_timestamp = wall_start;
  first.conditions.clear();
  cluster.process_groups.push_back(
      {.id = "storage-5", .process_class = "storage", .addresses = {"1.1.0.99"}});
  cluster.process_groups.back().set(condition::incorrect_command_line, wall_start);
  status.processes.push_back(
      {.address = "1.1.0.99:4501", .process_class = "storage", .locality = {{"instance_id", "storage-5"}}});
  EXPECT_EQ(plan().addresses.size(), 18U);
  EXPECT_FALSE(plan().wait);
}

TEST_F(RestartPlanTest, OfAnUpgradeWaitsForProcessesThatAreNotPrepared) {
  begin_upgrade();
  cluster.process_groups[5].set(condition::incorrect_sidecar_image, wall_start);
  EXPECT_EQ(plan().wait, "expected 17 processes, got 16 processes ready to restart");
  EXPECT_EQ(plan().ready, Texts());
}

TEST_F(RestartPlanTest, OfAnUpgradeWaitsAShortTimeForMissingProcesses) {
  begin_upgrade();
  forget(cluster.process_groups[0]);
  cluster.process_groups[0].set(condition::missing_processes, wall_start);
  EXPECT_EQ(plan().wait, "could not find address for processes: [storage-1]");
  cluster.process_groups[0].clear(condition::missing_processes);
  cluster.process_groups[0].set(condition::missing_processes, wall_start - 5min);
  EXPECT_EQ(plan().addresses.size(), 16U);
  EXPECT_FALSE(plan().wait);
}

TEST(ProcessCluster, KnowsVersionsThatDoNotUnderstandEachOther) {
  const auto incompatible = [](std::string running, std::string wanted) {
    return ProcessCluster{.version = std::move(wanted), .running_version = std::move(running)}
        .has_incompatible_upgrade();
  };
  EXPECT_FALSE(incompatible("7.1.56", "7.1.57"));
  EXPECT_TRUE(incompatible("7.1.57", "7.3.0"));
  EXPECT_TRUE(incompatible("6.3.43", "7.1.57"));
  EXPECT_FALSE(incompatible("", "7.1.57"));
}

// "when getting all the addresses to upgrade from the current status".
TEST(UpgradeNeed, IsAllOldProcessesOfTheDatabase) {
  DatabaseStatus status{.processes = {{.address = "192.168.0.2:4500:tls",
                                       .process_class = "storage",
                                       .locality = {{"instance_id", "1"}},
                                       .version = "6.3.43"}}};
  const auto need = [&] { return upgrade_need(status, {"1"}, "7.1.56"); };
  const Texts only = {"192.168.0.2:4500:tls"};
  EXPECT_EQ(need().addresses, only);
  status.processes.push_back({.address = "192.168.0.3:4500:tls",
                              .process_class = "test",
                              .locality = {{"instance_id", "2"}},
                              .version = "6.3.43"});
  status.processes.push_back(
      {.address = "192.168.0.4:4500:tls", .process_class = "storage", .version = "6.3.43"});
  status.processes.push_back({.address = "192.168.0.5:4500:tls",
                              .process_class = "storage",
                              .locality = {{"instance_id", "4"}},
                              .version = "7.1.56"});
  EXPECT_EQ(need().addresses, only);
  EXPECT_EQ(need().not_ready, Texts());
  status.processes.push_back({.address = "192.168.0.6:4500:tls",
                              .process_class = "storage",
                              .locality = {{"instance_id", "5"}},
                              .version = "6.3.43"});
  EXPECT_EQ(need().addresses, only);
  EXPECT_EQ(need().not_ready, (Texts{"5"}));
}

TEST(AddressesOf, AreThoseOfTheStatus) {
  ProcessCluster cluster = default_cluster();
  add_groups(cluster, "", "test", 1);
  EXPECT_EQ(addresses_of(status_of(cluster), {"log-1", "test-1", "unknown-1"}),
            (Texts{of_class(cluster, "log").front()->addresses[0] + ":4501"}));
}

}  // namespace
}  // namespace evenkeel::coordination
