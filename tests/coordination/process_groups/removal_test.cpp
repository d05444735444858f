// SPDX-License-Identifier: Apache-2.0
// The expectations of the FoundationDB operator's controllers/remove_process_groups_test.go that need no I/O.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/process_groups/removal.hpp>

#include "clusters.hpp"

namespace evenkeel::coordination {
namespace {

using namespace tests;
using Texts = std::vector<std::string>;

class RemovalPlanTest : public ::testing::Test {
 protected:
  RemovalPlan plan() const { return plan_removal(cluster, status); }
  DatabaseProcess& process(const ProcessGroup& of) {
    return *std::ranges::find(status.processes, of.id, &DatabaseProcess::group);
  }

  ProcessCluster cluster = default_cluster();
  DatabaseStatus status = status_of(cluster);
  ProcessGroup& coordinator = cluster.process_groups[0];
  ProcessGroup& group = cluster.process_groups[6];
};

TEST_F(RemovalPlanTest, LeavesCoordinators) {
  coordinator.removal_timestamp = coordinator.exclusion_timestamp = wall_start;
  EXPECT_EQ(plan().removable, Texts());
  EXPECT_FALSE(plan().all_excluded);
  EXPECT_EQ(plan().newly_done, Texts());
}

TEST_F(RemovalPlanTest, TakesGroupsOnceTheyAreEmpty) {
  group.removal_timestamp = wall_start;
  EXPECT_FALSE(plan().all_excluded);
  process(group).excluded = true;
  EXPECT_FALSE(plan().all_excluded) << "it still has a role";
  process(group).roles.clear();
  EXPECT_EQ(plan().removable, Texts{group.id});
  EXPECT_EQ(plan().newly_done, Texts{group.id});
  EXPECT_TRUE(plan().all_excluded);
  group.exclusion_timestamp = wall_start;
  EXPECT_EQ(plan().removable, Texts{group.id});
  EXPECT_EQ(plan().newly_done, Texts());
}

// Upstream's issue 1912: the status of the database counts, not the recorded timestamps.
TEST_F(RemovalPlanTest, DoesNotBelieveATimestampAgainstTheDatabase) {
  group.removal_timestamp = group.exclusion_timestamp = wall_start;
  EXPECT_EQ(plan().removable, Texts());
  EXPECT_FALSE(plan().all_excluded);
}

TEST_F(RemovalPlanTest, OfAMissingGroupNeedsItsExclusion) {
  group.removal_timestamp = wall_start;
  std::erase_if(status.processes, [&](const auto& one) { return one.group() == group.id; });
  EXPECT_EQ(plan().removable, Texts());
  status.exclusions = {group.exclusion_text()};
  EXPECT_EQ(plan().removable, Texts{group.id});
  status.exclusions = group.addresses;
  EXPECT_EQ(plan().removable, Texts{group.id});
}

TEST_F(RemovalPlanTest, TakesWhatNeedsNoExclusion) {
  group.removal_timestamp = wall_start;
  group.exclusion_skipped = true;
  cluster.process_groups.push_back({.id = "test-1", .process_class = "test"});
  cluster.process_groups.back().removal_timestamp = wall_start;
  EXPECT_EQ(plan().removable, (Texts{group.id, "test-1"}));
}

// "validating getProcessesToInclude".
class InclusionNeedTest : public ::testing::Test {
 protected:
  InclusionNeedTest() {
    add_groups(cluster, "", "storage", 3);
    add_groups(cluster, "", "stateless", 9);
    add_groups(cluster, "", "log", 4);
    add_groups(cluster, "", "test", 3);
    cluster.find("storage-1")->addresses = {"1.1.1.1"};
    cluster.find("log-1")->addresses = {"1.1.2.4"};
    cluster.find("test-3")->addresses = {"1.1.3.1"};
  }
  InclusionNeed need(const GroupIds& gone, const Texts& exclusions) {
    for (const std::string& id : gone) cluster.find(id)->removal_timestamp = wall_start;
    return inclusion_need(cluster, gone, exclusions);
  }

  ProcessCluster cluster = {};
};

TEST_F(InclusionNeedTest, IsNothingWhileNothingIsGone) {
  const InclusionNeed none = need({}, {"1.1.1.1"});
  EXPECT_EQ(none.targets, Texts());
  EXPECT_EQ(none.ready, Texts());
  EXPECT_EQ(none.to_drop, Texts());
}

TEST_F(InclusionNeedTest, IsTheWayInWhichTheGroupIsExcluded) {
  EXPECT_EQ(need({"storage-1"}, {"1.1.1.1"}).targets, (Texts{"1.1.1.1"}));
  EXPECT_EQ(need({"storage-1"}, {"locality_instance_id:storage-1"}).targets,
            (Texts{"locality_instance_id:storage-1"}));
  const InclusionNeed both = need({"storage-1"}, {"1.1.1.1", "locality_instance_id:storage-1"});
  EXPECT_EQ(both.targets, (Texts{"locality_instance_id:storage-1", "1.1.1.1"}));
  EXPECT_EQ(both.ready, (Texts{"storage-1"}));
  EXPECT_EQ(both.to_drop, Texts());
}

TEST_F(InclusionNeedTest, IsNothingForWhatIsNotExcluded) {
  const InclusionNeed some = need({"storage-1", "storage-2"}, {"locality_instance_id:storage-2"});
  EXPECT_EQ(some.targets, (Texts{"locality_instance_id:storage-2"}));
  EXPECT_EQ(some.ready, (Texts{"storage-2"}));
  EXPECT_EQ(some.to_drop, (Texts{"storage-1"}));
}

TEST_F(InclusionNeedTest, OfALogIsItsAddressesToo) {
  EXPECT_EQ(need({"log-1"}, {"locality_instance_id:log-1"}).targets,
            (Texts{"locality_instance_id:log-1", "1.1.2.4"}));
}

TEST_F(InclusionNeedTest, LeavesOutTestProcesses) {
  const InclusionNeed some = need({"test-3", "storage-1"}, {"1.1.3.1", "1.1.1.1"});
  EXPECT_EQ(some.targets, (Texts{"1.1.1.1"}));
  EXPECT_EQ(some.ready, (Texts{"storage-1"}));
  EXPECT_EQ(some.to_drop, (Texts{"test-3"}));
}

// The expectations of internal/removals/remove_test.go: the zone, the groups, the pause.
class NextRemovalsTest : public RemovalPlanTest {
 protected:
  NextRemovalsTest() {
    for (const std::size_t at : {4U, 5U, 6U, 7U}) removable.push_back(cluster.process_groups[at].id);
    for (const std::size_t at : {5U, 6U}) process(cluster.process_groups[at]).locality["zoneid"] = "zone-2";
  }
  RemovalBatch next(RemovalMode mode) {
    cluster.removal_mode = mode;
    return next_removals(cluster, status, removable, {}, wall_start);
  }

  Texts removable;  // log-1, log-2 and log-3 of one zone, log-4
};

TEST_F(NextRemovalsTest, AreThoseOfTheLargestZone) {
  const RemovalBatch batch = next(RemovalMode::zone);
  EXPECT_EQ(batch.zone, "zone-2");
  EXPECT_EQ(batch.begin, (Texts{"log-2", "log-3"}));
  EXPECT_EQ(batch.under_way, Texts());
  EXPECT_EQ(batch.wait, Duration::zero());
}

TEST_F(NextRemovalsTest, AreAllOrOneOrNone) {
  EXPECT_EQ(next(RemovalMode::all).zone, "cluster");
  EXPECT_EQ(next(RemovalMode::all).begin.size(), 4U);
  EXPECT_EQ(next(RemovalMode::process_group).begin, Texts{"log-1"});
  EXPECT_EQ(next(RemovalMode::none).begin, Texts());
}

TEST_F(NextRemovalsTest, TakeWhatTheDatabaseDoesNotReportForOneZone) {
  std::erase_if(status.processes, [](const DatabaseProcess& one) {
    return one.group() == "log-1" || one.group() == "log-2" || one.group() == "log-3";
  });
  EXPECT_EQ(next(RemovalMode::zone).zone, "foundationdb.org/unknown");
  EXPECT_EQ(next(RemovalMode::zone).begin, (Texts{"log-1", "log-2", "log-3"}));
}

TEST_F(NextRemovalsTest, WaitForThoseBefore) {
  for (const auto& [ago, wait] : {std::pair{10s, 50s}, {59s, 1s}, {60s, 0s}, {600s, 0s}}) {
    cluster.find("log-2")->clear(condition::resources_terminating);
    cluster.find("log-2")->set(condition::resources_terminating, wall_start - ago);
    const RemovalBatch batch = next(RemovalMode::zone);
    EXPECT_EQ(batch.wait, wait) << ago.count();
    EXPECT_EQ(batch.under_way, Texts{"log-2"}) << "it is looked at all the same";
    EXPECT_EQ(batch.begin.empty(), wait > 0s) << ago.count();
  }
  cluster.find("log-2")->set(condition::resources_terminating, wall_start);
  EXPECT_EQ(next(RemovalMode::all).begin, (Texts{"log-1", "log-4", "log-3"})) << "without a pause";
}

}  // namespace
}  // namespace evenkeel::coordination
