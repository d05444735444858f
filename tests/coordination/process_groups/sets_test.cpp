// SPDX-License-Identifier: Apache-2.0
// The expectations of the FoundationDB operator's internal/coordination/coordination_test.go, "updating the
// coordination state", global mode; local mode publishes nothing at all (steps_test.cpp).
#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/coordination/process_groups/sets.hpp>

#include "clusters.hpp"

namespace evenkeel::coordination {
namespace {

using namespace tests;

class GroupSetsTest : public ::testing::Test {
 protected:
  GroupSets next(const GroupSets& current = {}) const {
    return next_sets(cluster, status_of(cluster), current, {}, wall_start);
  }

  ProcessCluster cluster = default_cluster();
  ProcessGroup& group = *of_class(cluster, "storage").at(1);
  const GroupIds only = {group.id};
};

TEST_F(GroupSetsTest, AreTheSevenOfTheDocument) {
  GroupSets sets;
  const GroupIds names = {"pendingForRemoval", "pendingForExclusion", "pendingForInclusion",
                          "pendingForRestart", "readyForExclusion",   "readyForInclusion",
                          "readyForRestart"};
  std::set<GroupIds*> found;
  for (const std::string& name : names) found.insert(sets.named(name));
  EXPECT_EQ(found.size(), 7U);
  EXPECT_FALSE(found.contains(nullptr));
  EXPECT_EQ(sets.named("readyForRemoval"), nullptr);
}

TEST_F(GroupSetsTest, OfAClusterAtRestAreEmpty) {
  EXPECT_EQ(next(), GroupSets());
}

// Source, here and below: upstream's tests of UpdateGlobalCoordinationState.
TEST_F(GroupSetsTest, AMarkedGroupIsPendingForRemovalExclusionAndInclusion) {
  group.removal_timestamp = wall_start;
  EXPECT_EQ(next(), (GroupSets{.pending_for_removal = only,
                               .pending_for_exclusion = only,
                               .pending_for_inclusion = only,
                               .addresses = {{group.id, group.addresses}}}));
}

TEST_F(GroupSetsTest, WithoutExclusionItIsReadyForInclusion) {
  group.removal_timestamp = wall_start;
  group.exclusion_skipped = true;
  EXPECT_EQ(next(), (GroupSets{.pending_for_removal = only,
                               .pending_for_inclusion = only,
                               .ready_for_inclusion = only,
                               .addresses = {{group.id, group.addresses}}}));
}

TEST_F(GroupSetsTest, AnExcludedGroupLeavesTheExclusionSets) {
  group.removal_timestamp = wall_start;
  group.exclusion_skipped = true;
  const GroupSets after = next({.pending_for_exclusion = only, .ready_for_exclusion = only});
  EXPECT_EQ(after.pending_for_exclusion, GroupIds());
  EXPECT_EQ(after.ready_for_exclusion, GroupIds());
  EXPECT_EQ(after.pending_for_removal, only);
}

// An exclusion in the database counts as much as one in the resource.
TEST_F(GroupSetsTest, AGroupThatTheDatabaseExcludesLeavesTheExclusionSets) {
  group.removal_timestamp = wall_start;
  const GroupSets before{.pending_for_exclusion = only, .ready_for_exclusion = only};
  EXPECT_EQ(next(before).ready_for_exclusion, only);
  DatabaseStatus status = status_of(cluster);
  std::ranges::find(status.processes, group.id, &DatabaseProcess::group)->excluded = true;
  const GroupSets after = next_sets(cluster, status, before, {}, wall_start);
  EXPECT_EQ(after.pending_for_exclusion, GroupIds());
  EXPECT_EQ(after.ready_for_exclusion, GroupIds());
  EXPECT_EQ(after.pending_for_inclusion, only);
  EXPECT_EQ(after.ready_for_inclusion, GroupIds());
}

TEST_F(GroupSetsTest, AWrongCommandLineIsPendingForRestart) {
  group.set(condition::incorrect_command_line, wall_start);
  EXPECT_EQ(next(), (GroupSets{.pending_for_restart = only}));
  EXPECT_EQ(next({.pending_for_restart = only, .ready_for_restart = only}),
            (GroupSets{.pending_for_restart = only, .ready_for_restart = only}));
}

// Both sets, where upstream's test reads the pending one twice (lines 265 and 287).
TEST_F(GroupSetsTest, ARightCommandLineLeavesTheRestartSets) {
  EXPECT_EQ(next({.pending_for_restart = only, .ready_for_restart = only}), GroupSets());
}

TEST_F(GroupSetsTest, OnlyTheGroupThatIsStillWrongStaysForRestart) {
  ProcessGroup& other = *of_class(cluster, "stateless").front();
  other.set(condition::incorrect_command_line, wall_start);
  const GroupIds both = {group.id, other.id};
  const GroupSets after = next({.pending_for_restart = both, .ready_for_restart = both});
  EXPECT_EQ(after.pending_for_restart, GroupIds{other.id});
  EXPECT_EQ(after.ready_for_restart, GroupIds{other.id});
}

// 'no leftovers': of all seven sets and the addresses.
TEST_F(GroupSetsTest, AGroupThatIsNoMoreLeavesAllSets) {
  const GroupIds gone = {"storage-99"};
  GroupSets before{.addresses = {{"storage-99", {"1.1.9.9"}}}};
  for (const std::string_view name :
       {set_name::pending_for_removal, set_name::pending_for_exclusion, set_name::ready_for_exclusion,
        set_name::pending_for_inclusion, set_name::ready_for_inclusion, set_name::pending_for_restart,
        set_name::ready_for_restart}) {
    ASSERT_NE(before.named(name), nullptr) << name;
    *before.named(name) = gone;
  }
  EXPECT_EQ(before.named("readyForRemoval"), nullptr);
  EXPECT_EQ(next(before), GroupSets());
}

TEST_F(GroupSetsTest, TestProcessesAreInNone) {
  cluster.process_groups.push_back({.id = "test-1", .process_class = "test"});
  cluster.process_groups.back().removal_timestamp = wall_start;
  cluster.process_groups.back().set(condition::incorrect_command_line, wall_start);
  EXPECT_EQ(next(), GroupSets());
}

// Groups that a restart does not wait for.
TEST_F(GroupSetsTest, MissingPendingAndTerminatingGroupsAreNotForRestart) {
  group.set(condition::incorrect_command_line, wall_start);
  const auto is_pending = [&] { return !next().pending_for_restart.empty(); };
  const auto with = [&](std::string_view type, Duration since) {
    group.clear(condition::missing_processes);
    group.clear(condition::pod_pending);
    group.clear(condition::resources_terminating);
    group.set(type, wall_start - std::chrono::duration_cast<std::chrono::microseconds>(since));
    return is_pending();
  };
  EXPECT_TRUE(with(condition::missing_processes, 30s));
  EXPECT_FALSE(with(condition::missing_processes, 31s));
  EXPECT_TRUE(with(condition::pod_pending, 5min));
  EXPECT_FALSE(with(condition::pod_pending, 5min + 1s));
  EXPECT_FALSE(with(condition::resources_terminating, 0s));
}

// It has been pending since it was marked, so upstream's rule would never make it ready.
TEST_F(GroupSetsTest, AGroupThatHangsInDeletionHoldsUpNobody) {
  group.removal_timestamp = wall_start - 1h;
  group.exclusion_timestamp = wall_start - 20min;
  group.set(condition::resources_terminating, wall_start - 5min);
  const GroupSets before{.pending_for_removal = only, .pending_for_inclusion = only};
  EXPECT_EQ(next(before).pending_for_inclusion, only);
  EXPECT_EQ(next(before).ready_for_inclusion, GroupIds());
  group.clear(condition::resources_terminating);
  group.set(condition::resources_terminating, wall_start - 5min - 1s);
  EXPECT_EQ(next(before).pending_for_inclusion, GroupIds()) << "its process runs, so it must stay excluded";
  EXPECT_EQ(next(before).pending_for_removal, only);
  DatabaseStatus status = status_of(cluster);
  std::erase_if(status.processes, [&](const auto& one) { return one.group() == group.id; });
  const GroupSets after = next_sets(cluster, status, before, {}, wall_start);
  EXPECT_EQ(after.pending_for_inclusion, only);
  EXPECT_EQ(after.ready_for_inclusion, only);
}

}  // namespace
}  // namespace evenkeel::coordination
