// SPDX-License-Identifier: Apache-2.0
// The expectations of the FoundationDB operator's controllers/exclude_processes_test.go. Both modes use the
// same functions.
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/process_groups/exclusion.hpp>

#include "clusters.hpp"

namespace evenkeel::coordination {
namespace {

using namespace tests;

using Entries = std::map<std::string, std::vector<ExclusionEntry>, std::less<>>;
using Counts = std::map<std::string, std::size_t, std::less<>>;

/// The 16 groups of "validating getProcessesToExclude".
ProcessCluster sixteen() {
  ProcessCluster cluster{.version = "7.1.57"};
  add_groups(cluster, "", "storage", 3);
  add_groups(cluster, "", "stateless", 9);
  add_groups(cluster, "", "log", 4);
  cluster.process_groups[0].addresses = {"1.1.1.1"};
  cluster.process_groups[1].addresses = {"1.1.1.2"};
  return cluster;
}

class ExclusionNeedTest : public ::testing::TestWithParam<bool> {
 protected:
  ExclusionNeedTest() { cluster.localities_for_exclusion = GetParam(); }
  std::vector<std::string> texts(const ProcessGroup& group) const {
    return GetParam() ? std::vector{group.exclusion_text()} : group.addresses;
  }

  ProcessCluster cluster = sixteen();
  ProcessGroup& first = cluster.process_groups[0];
  ProcessGroup& second = cluster.process_groups[1];
};
INSTANTIATE_TEST_SUITE_P(By, ExclusionNeedTest, ::testing::Bool(),
                         [](const auto& way) { return way.param ? "Locality" : "Address"; });

TEST_P(ExclusionNeedTest, IsNothingWithoutMarks) {
  const ExclusionNeed need = exclusion_need(cluster, {});
  EXPECT_EQ(need.to_exclude, Entries());
  EXPECT_EQ(need.ongoing, Counts());
}

TEST_P(ExclusionNeedTest, IsTheMarkedGroup) {
  first.removal_timestamp = wall_start;
  const ExclusionNeed need = exclusion_need(cluster, {});
  EXPECT_EQ(need.to_exclude, (Entries{{"storage", {{"storage-1", texts(first)}}}}));
  EXPECT_EQ(need.ongoing, Counts());
}

TEST_P(ExclusionNeedTest, AfterANewAddressIsThatAddress) {
  first.removal_timestamp = wall_start;
  first.addresses.emplace_back("100.1.100.2");
  const ExclusionNeed need = exclusion_need(cluster, {"1.1.1.1"});
  const std::vector<std::string> expected = {GetParam() ? first.exclusion_text() : "100.1.100.2"};
  EXPECT_EQ(need.to_exclude, (Entries{{"storage", {{"storage-1", expected}}}}));
  EXPECT_EQ(need.ongoing, Counts());
}

TEST_P(ExclusionNeedTest, IsBothMarkedGroups) {
  first.removal_timestamp = second.removal_timestamp = wall_start;
  const ExclusionNeed need = exclusion_need(cluster, {});
  EXPECT_EQ(need.to_exclude,
            (Entries{{"storage", {{"storage-1", texts(first)}, {"storage-2", texts(second)}}}}));
  EXPECT_EQ(need.ongoing, Counts());
}

TEST_P(ExclusionNeedTest, CountsOneThatIsBeingExcludedAsOngoing) {
  first.removal_timestamp = second.removal_timestamp = wall_start;
  const ExclusionNeed need = exclusion_need(cluster, texts(second));
  EXPECT_EQ(need.to_exclude, (Entries{{"storage", {{"storage-1", texts(first)}}}}));
  EXPECT_EQ(need.ongoing, (Counts{{"storage", 1}}));
}

// If exclusions are by locality, an exclusion by address does not count.
TEST_P(ExclusionNeedTest, OfOneExcludedByAddressDependsOnTheWay) {
  first.removal_timestamp = second.removal_timestamp = wall_start;
  const ExclusionNeed need = exclusion_need(cluster, {"1.1.1.2"});
  EXPECT_EQ(need.to_exclude.at("storage").size(), GetParam() ? 2U : 1U);
  EXPECT_EQ(need.ongoing, GetParam() ? Counts() : (Counts{{"storage", 1}}));
}

// If exclusions are by address, an exclusion by locality counts.
TEST_P(ExclusionNeedTest, OfOneExcludedByLocalityIsOngoing) {
  first.removal_timestamp = second.removal_timestamp = wall_start;
  const ExclusionNeed need = exclusion_need(cluster, {second.exclusion_text()});
  EXPECT_EQ(need.to_exclude, (Entries{{"storage", {{"storage-1", texts(first)}}}}));
  EXPECT_EQ(need.ongoing, (Counts{{"storage", 1}}));
}

TEST_P(ExclusionNeedTest, LeavesOutWhatIsDone) {
  first.removal_timestamp = second.removal_timestamp = wall_start;
  second.exclusion_timestamp = wall_start;
  const ExclusionNeed need = exclusion_need(cluster, texts(second));
  EXPECT_EQ(need.to_exclude, (Entries{{"storage", {{"storage-1", texts(first)}}}}));
  EXPECT_EQ(need.ongoing, Counts());
}

TEST_P(ExclusionNeedTest, LeavesOutTestProcesses) {
  cluster.process_groups.push_back({.id = "test-1", .process_class = "test", .addresses = {"1.1.3.1"}});
  cluster.process_groups.back().removal_timestamp = wall_start;
  EXPECT_EQ(exclusion_need(cluster, {}).to_exclude, Entries());
}

// --- "validating if processes can be excluded" ---

class AllowedExclusionsTest : public ::testing::Test {
 protected:
  AllowedExclusions allowed(std::size_t ongoing = 0) const {
    return allowed_exclusions(cluster, "storage", ongoing, {}, wall_start);
  }
  void lose(std::size_t count, std::chrono::microseconds since, std::string_view process_class = "storage") {
    const auto groups = of_class(cluster, process_class);
    for (std::size_t i = 0; i < count; ++i)
      groups.at(i)->set(condition::missing_processes, wall_start - since);
  }
  void add(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      cluster.process_groups.push_back(
          {.id = "storage-" + std::to_string(1337 + i), .process_class = "storage"});
    }
  }

  ProcessCluster cluster = [] {
    ProcessCluster small = default_cluster();
    small.fault_tolerance = 0;  // single redundancy
    return small;
  }();
};

TEST_F(AllowedExclusionsTest, AreAsManyAsTheRedundancyCanMiss) {
  for (const std::size_t tolerance : {0U, 1U, 2U}) {
    cluster.fault_tolerance = tolerance;
    EXPECT_EQ(allowed().count, tolerance);
    EXPECT_TRUE(allowed().missing.empty());
  }
}

TEST_F(AllowedExclusionsTest, AreFewerByThoseThatFailedLongAgo) {
  lose(1, 10min);
  for (const std::size_t tolerance : {0U, 1U, 2U}) {
    cluster.fault_tolerance = tolerance;
    EXPECT_EQ(allowed().count, tolerance == 0 ? 0 : tolerance - 1);
    EXPECT_EQ(allowed().missing, (std::vector<std::string>{"storage-1"}));
  }
}

TEST_F(AllowedExclusionsTest, GrowWithReplacements) {
  add(1);
  EXPECT_EQ(allowed().count, 1U);
  EXPECT_EQ(allowed(1).count, 0U);
  cluster.process_groups.back().removal_timestamp = wall_start;  // still counts: it is not excluded
  EXPECT_EQ(allowed().count, 1U);
  cluster.process_groups.back().exclusion_timestamp = wall_start;
  EXPECT_EQ(allowed().count, 0U);
}

TEST_F(AllowedExclusionsTest, AreNoneWhileOneIsMissingForAShortTime) {
  lose(1, 0min);
  EXPECT_EQ(allowed().count, 0U);
  add(2);
  EXPECT_EQ(allowed().count, 0U);
  EXPECT_EQ(allowed(1).count, 0U);
  EXPECT_EQ(allowed().missing.size(), 1U);
}

TEST_F(AllowedExclusionsTest, WaitFiveMinutesForAMissingOne) {
  add(2);
  lose(1, 5min - 1s);
  EXPECT_EQ(allowed().count, 0U);
  of_class(cluster, "storage").front()->clear(condition::missing_processes);
  lose(1, 5min);
  EXPECT_EQ(allowed().count, 1U);
}

TEST_F(AllowedExclusionsTest, DoNotCareForOtherClasses) {
  lose(2, 0min, "log");
  EXPECT_EQ(allowed().count, 0U);
  EXPECT_TRUE(allowed().missing.empty());
  add(1);
  EXPECT_EQ(allowed().count, 1U);
}

TEST_F(AllowedExclusionsTest, OfALargeClusterCountAlike) {
  cluster = ProcessCluster{.fault_tolerance = 0};
  add_groups(cluster, "", "storage", 20);
  lose(2, 0min);
  EXPECT_EQ(allowed().count, 0U);
  add(4);
  EXPECT_EQ(allowed().count, 0U);
  for (ProcessGroup* group : of_class(cluster, "storage")) group->clear(condition::missing_processes);
  lose(2, 10min);
  EXPECT_EQ(allowed().count, 2U);
  EXPECT_EQ(allowed().missing.size(), 2U);
}

// --- Exclusions that are allowed now ---

class ExclusionPlanTest : public ::testing::Test {
 protected:
  ExclusionPlan plan() const { return plan_exclusion(cluster, status_of(cluster), {}, wall_start); }
  ProcessGroup& mark(std::string_view process_class) {
    ProcessGroup& group = *of_class(cluster, process_class).front();
    group.removal_timestamp = wall_start;
    return group;
  }
  void replace(const std::string& process_class) {
    cluster.process_groups.push_back(
        {.id = process_class + "-99", .process_class = process_class, .addresses = {"1.1.9.9"}});
  }

  ProcessCluster cluster = default_cluster();
};

TEST_F(ExclusionPlanTest, IsNothingToDoWithoutMarks) {
  EXPECT_FALSE(plan().needed);
  EXPECT_FALSE(plan().wait);
}

// A stateless and a log group are marked, and both have replacements.
TEST_F(ExclusionPlanTest, TakesAllClassesOfTheTransactionSystem) {
  mark("log");
  mark("stateless");
  replace("log");
  replace("stateless");
  EXPECT_EQ(plan().ready.size(), 2U);
  EXPECT_TRUE(plan().all);
  EXPECT_FALSE(plan().wait);
}

// ... a process of the transaction system is missing: for a short time, and for more than ten minutes.
TEST_F(ExclusionPlanTest, WaitsForAMissingProcessOfTheTransactionSystem) {
  mark("log");
  mark("stateless");
  replace("stateless");
  replace("log");
  cluster.process_groups.push_back({.id = "log-98", .process_class = "log"});
  cluster.process_groups.back().set(condition::missing_processes, wall_start);
  EXPECT_TRUE(plan().ready.empty());
  EXPECT_EQ(plan().wait,
            "more exclusions needed but not allowed, have to wait until new processes for the transaction "
            "system are up to reduce number of recoveries.");
  cluster.process_groups.back().conditions.clear();
  cluster.process_groups.back().set(condition::missing_processes, wall_start - 10min);
  EXPECT_EQ(plan().ready.size(), 2U);
  EXPECT_FALSE(plan().wait);
}

TEST_F(ExclusionPlanTest, WaitsForReplacements) {
  cluster.fault_tolerance = 0;
  mark("storage");
  EXPECT_TRUE(plan().needed);
  EXPECT_EQ(plan().wait, "more exclusions needed but not allowed, have to wait for new processes to come up");
}

TEST_F(ExclusionPlanTest, TakesAsManyAsAreAllowed) {
  for (ProcessGroup* group : of_class(cluster, "storage")) group->removal_timestamp = wall_start;
  EXPECT_EQ(plan().ready, (std::vector<ExclusionEntry>{{"storage-1", {"locality_instance_id:storage-1"}}}));
  EXPECT_FALSE(plan().all);
  EXPECT_FALSE(plan().wait);
}

}  // namespace
}  // namespace evenkeel::coordination
