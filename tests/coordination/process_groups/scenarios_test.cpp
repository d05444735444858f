// SPDX-License-Identifier: Apache-2.0
// Several instances on one database, in virtual time: the number of disruptions in rollouts, migrations,
// deaths, stuck deletions, without a store and in mixed modes.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/coordination/lease_lock.hpp>

#include "scenario.hpp"

namespace evenkeel::coordination {
namespace {

using namespace tests;

/// The scenario with each value of ReadyBy.
class ScenarioTest : public Scenario, public ::testing::WithParamInterface<ReadyBy> {
 protected:
  ScenarioTest() { ready_by = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(By, ScenarioTest,
                         ::testing::Values(ReadyBy::all, ReadyBy::transaction_system, ReadyBy::process_class),
                         [](const auto& of) { return std::string(text_of(of.param)); });

// Arrivals within 20 s. Global: one restart of all 27 processes; local: three, ten minutes apart.
TEST_P(ScenarioTest, ARolloutRestartsOnce) {
  start(Mode::global);
  roll_out_over(10s);
  const Duration took = run_until([&] { return all_restarted(); });
  EXPECT_EQ(database.names(), (Texts{"kill"}));
  EXPECT_EQ(database.killed.size(), 27U);
  EXPECT_LE(took, Duration(60s));
  run(1min);
  EXPECT_EQ(members(), 0U);
  RecordProperty("seconds", static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(took).count()));
}

TEST_P(ScenarioTest, ARolloutInLocalModeRestartsThreeTimes) {
  start(Mode::local);
  roll_out_over(10s);
  const Duration took = run_until([&] { return all_restarted(); });
  EXPECT_EQ(database.names(), (Texts{"kill", "kill", "kill"}));
  EXPECT_GE(took, Duration(20min));
}

// All groups of two classes replaced everywhere; coordinators are among them in every instance.
TEST_P(ScenarioTest, AMigrationExcludesChangesCoordinatorsAndIncludesOnce) {
  start(Mode::global);
  for (const std::string scope : {"dc1", "dc2", "dc3"}) {
    replace(scope, "storage");
    replace(scope, "log");
    run(10s);
  }
  run_until([&] { return calls("exclude") > 0; });
  EXPECT_EQ(database.names(), (Texts{"coordinators", "exclude"}));
  EXPECT_EQ(database.targets_of("exclude").size(), 24U);
  database.move_data();
  run_until([&] { return all_replaced(); });
  EXPECT_EQ(database.names(), (Texts{"coordinators", "exclude", "include"}));
  EXPECT_EQ(database.state.exclusions, Texts());
  EXPECT_EQ(placed_on_doomed, 0);
  run(1min);
  EXPECT_EQ(members(), 0U);
}

// Replacements of the three classes come up one after the other, each in another instance.
TEST_P(ScenarioTest, ClassesThatAreReadyAtDifferentTimesAreExcludedAsReadyBySays) {
  release = LockRelease::after_each_pass;  // so that the next class does not wait for the lock
  start(Mode::global);
  const std::map<std::string, std::string> late{{"dc2", "stateless"}, {"dc3", "storage"}};
  replace("dc1", "log");
  for (const auto& [scope, process_class] : late) {
    replace(scope, process_class);
    operators[scope]->cluster.process_counts[process_class] += 100;  // none may be excluded
  }
  run(60s);
  operators["dc2"]->cluster.process_counts["stateless"] -= 100;
  run(140s);
  operators["dc3"]->cluster.process_counts["storage"] -= 100;
  run_until([&] { return database.targets_of("exclude").size() == 9; });
  const std::map<ReadyBy, std::size_t> exclusions{
      {ReadyBy::all, 1}, {ReadyBy::transaction_system, 2}, {ReadyBy::process_class, 3}};
  EXPECT_EQ(calls("exclude"), exclusions.at(GetParam()));
  database.move_data();
  run_until([&] { return all_replaced(); });
  EXPECT_EQ(placed_on_doomed, 0);
}

TEST_P(ScenarioTest, AMigrationInLocalModeDoesSoThreeTimes) {
  start(Mode::local);
  for (const std::string scope : {"dc1", "dc2", "dc3"}) {
    replace(scope, "storage");
    run(10s);
  }
  run_until([&] { return calls("exclude") == 3; });
  database.move_data();
  run_until([&] { return all_replaced(); });
  EXPECT_EQ(calls("include"), 3U);
  EXPECT_GE(calls("coordinators"), 1U);
}

// Mode local is the present state of the FoundationDB operator: its lock is taken before each command.
TEST_P(ScenarioTest, InLocalModeOneAfterTheOtherActs) {
  start(Mode::local);
  TransactOptions transact;
  transact.delay = Duration::zero();
  transact.clock = clock;
  LeaseLock third(*store, Layout("/db"), {"dc3", "uid-dc3", "run-1"}, {}, transact);
  ASSERT_TRUE(third.take().is_held());
  for (const std::string scope : {"dc1", "dc2"}) operators[scope]->mark(scope + "-storage-4");
  pass();
  EXPECT_EQ(database.names(), Texts());
  for (const std::string scope : {"dc1", "dc2"}) {
    EXPECT_EQ(operators[scope]->coordinator.waits()["exclusion"].why, "held by dc3, silent for 0s of 10m0s");
  }
  ASSERT_TRUE(third.release());
  pass();
  EXPECT_EQ(database.targets_of("exclude"), (Texts{"locality_instance_id:dc1-storage-4"}));
  run(125s);
  EXPECT_EQ(database.names(), (Texts{"exclude"}));
  EXPECT_EQ(operators["dc2"]->coordinator.waits()["exclusion"].why, "held by dc1, silent for 5s of 10m0s");
}

// A pass that began before another instance acted does not act on what it saw then.
TEST_P(ScenarioTest, InLocalModeNobodyActsOnAnOldStatus) {
  release = LockRelease::after_each_pass;
  start(Mode::local);
  database.starts_with = "new";
  for (const std::string scope : {"dc1", "dc2"}) {
    Operator& one = *operators[scope];
    change_command_line(scope);
    sync(scope);
    one.mark(scope + "-storage-4");
    one.coordinator.update_status(one.cluster, one.wanted);
  }
  operators["dc1"]->pass();
  EXPECT_EQ(database.names(), (Texts{"exclude"}));
  Operator& late = *operators["dc2"];
  EXPECT_EQ(late.coordinator.exclude_processes(late.cluster).result().reason(),
            "cannot: exclude processes, clusters last recovery was 0.00 seconds ago, waiting until the last "
            "recovery was 120 seconds ago");
  late.coordinator.update_status(late.cluster, late.wanted);
  late.coordinator.bounce_processes(late.cluster);
  EXPECT_EQ(database.names(), (Texts{"exclude"}));
}

// One of three publishes pending groups, and dies before they are ready; it counts until it is silent.
TEST_P(ScenarioTest, ACrashedInstanceHoldsUpNobodyForLong) {
  start(Mode::global);
  database.starts_with = "new";
  for (const std::string scope : {"dc1", "dc2", "dc3"}) change_command_line(scope);
  pass();
  crashed.insert("dc3");
  for (const std::string scope : {"dc1", "dc2"}) sync(scope);
  std::set<Texts> blockers;
  const Duration took = run_until([&] {
    const auto waits = operators["dc1"]->coordinator.waits();
    if (const auto found = waits.find("restart"); found != waits.end())
      blockers.insert(found->second.blocked_by);
    return calls("kill") > 0;
  });
  EXPECT_TRUE(blockers.contains(Texts{"dc3"})) << "it does not say for whom it waits";
  EXPECT_EQ(operators["dc1"]->coordinator.waits().count("restart"), 0U);
  EXPECT_EQ(database.killed.size(), 18U);
  EXPECT_LE(took, Duration(60s + 2 * step));
}

// A group that is replaced continuously does not keep others from being included.
TEST_P(ScenarioTest, AnInclusionDoesNotWaitForLaterRemovals) {
  start(Mode::global);
  replace("dc1", "log");
  run_until([&] { return calls("exclude") == 1; });
  database.move_data();
  ProcessCluster& busy = operators["dc2"]->cluster;
  busy.fault_tolerance = 0;
  std::size_t marked = 0;
  run_until([&] {
    // Marked, and never allowed: its replacement does not start.
    if (marked < busy.process_groups.size()) {
      busy.process_groups[marked++].removal_timestamp = clock->wall_now();
      busy.process_counts["storage"] = 100;
    }
    return calls("include") == 1;
  });
  EXPECT_GT(operators["dc2"]->coordinator.ledger()->own().sets.at("pendingForInclusion").size(), 3U);
}

// A group whose deletion never ends, with a process that still runs.
TEST_P(ScenarioTest, AStuckDeletionHoldsUpNobodysInclusion) {
  start(Mode::global);
  hanging = {"dc1-log-2"};
  replace("dc1", "log");
  replace("dc2", "log");
  run_until([&] { return calls("exclude") == 1; });
  database.move_data();
  run_until([&] { return calls("include") == 1; });
  EXPECT_EQ(database.targets_of("include").size() % 7, 0U) << "locality and address of seven groups";
  EXPECT_TRUE(std::ranges::count(database.state.exclusions, "locality_instance_id:dc1-log-2") == 1)
      << "it would get data again";
  hanging.clear();
  run_until([&] { return all_replaced(); });
  EXPECT_EQ(database.state.exclusions, Texts());
}

// 'no answer, no action': nobody acts alone, and each reports that; deletions continue.
TEST_P(ScenarioTest, WithoutTheStoreNobodyDisturbsTheDatabase) {
  start(Mode::global);
  operators["dc1"]->mark("dc1-stateless-1");
  run_until([&] { return calls("exclude") == 1; });
  for (auto& [scope, one] : stores) one->set_cut(true);
  database.move_data();
  roll_out_over(10s);
  run(15min);
  EXPECT_EQ(database.names(), (Texts{"exclude"}));
  EXPECT_EQ(removed.count("dc1-stateless-1"), 1U) << "its Pod may go: that disturbs nobody";
  for (const auto& [scope, one] : operators) {
    EXPECT_NE(one->coordinator.waits().count("coordination"), 0U) << scope;
    EXPECT_NE(one->coordinator.waits().count("restart"), 0U) << scope;
  }
  for (auto& [scope, one] : stores) one->set_cut(false);
  run_until([&] { return all_restarted() && all_replaced(); });
  EXPECT_EQ(calls("kill"), 1U);
  EXPECT_EQ(calls("include"), 1U);
}

// Reports what global would do, and acts as local does.
TEST_P(ScenarioTest, ShadowActsAloneAndCounts) {
  start(Mode::shadow);
  roll_out_over(10s);
  run_until([&] { return all_restarted(); });
  EXPECT_EQ(calls("kill"), 3U);
  std::uint64_t waits = 0;
  for (const auto& [scope, one] : operators) {
    const ProcessGroupFigures figures = one->coordinator.figures();
    EXPECT_EQ(figures.shadow_goes + figures.shadow_waits, 1U) << scope;
    waits += figures.shadow_waits;
  }
  EXPECT_GE(waits, 1U) << "the first one would have waited for the others";
  EXPECT_EQ(store->snapshot()->get("/db/arbiter/claims/restart"), std::nullopt);
}

// Global instances agree without the one that is not global.
TEST_P(ScenarioTest, AnInstanceInLocalModeIsLeftOut) {
  start(Mode::global);
  operators["dc3"] = std::make_unique<Operator>(database, nullptr, operators["dc3"]->cluster,
                                                options_of("dc3", Mode::local, clock));
  operators["dc3"]->wanted = [this](const ProcessGroup&) { return command_lines["dc3"]; };
  roll_out_over(10s);
  run_until([&] { return all_restarted(); });
  EXPECT_EQ(calls("kill"), 2U);
}

}  // namespace
}  // namespace evenkeel::coordination
