// SPDX-License-Identifier: Apache-2.0
// The plan that an operator of the example makes for its resource before it coordinates with others.
#include "ring_plan.hpp"

#include <gtest/gtest.h>

#include "ring_pods.hpp"

using namespace std::chrono_literals;

namespace {

constexpr ek::WallTime now{1000s};

RingClusterSpec two_logs() {
  return {.process_group_id_prefix = "dc1", .knobs = {{"cache", "1"}}, .processes = {.log = 2}};
}

std::vector<std::string> ids(const std::vector<ec::ProcessGroup>& groups) {
  std::vector<std::string> result;
  for (const ec::ProcessGroup& group : groups) result.push_back(group.id);
  return result;
}

}  // namespace

TEST(RingPlan, AddsWhatIsMissingAndReplacesWhatIsToGo) {
  RingClusterSpec spec = two_logs();
  std::vector<ec::ProcessGroup> groups;
  plan_groups(spec, groups, now);
  EXPECT_EQ(ids(groups), (std::vector<std::string>{"dc1-log-1", "dc1-log-2"}));
  plan_groups(spec, groups, now);
  EXPECT_EQ(groups.size(), 2U);
  spec.process_groups_to_remove = {"dc1-log-1"};
  plan_groups(spec, groups, now);
  EXPECT_EQ(ids(groups), (std::vector<std::string>{"dc1-log-1", "dc1-log-2", "dc1-log-3"}));
  EXPECT_TRUE(groups[0].is_marked_for_removal());
  EXPECT_FALSE(groups[2].is_marked_for_removal());
}

TEST(RingPlan, NeverUsesAnIdTwice) {
  RingClusterSpec spec = two_logs();
  spec.process_groups_to_remove = {"dc1-log-7"};
  std::vector<ec::ProcessGroup> groups;
  plan_groups(spec, groups, now);
  EXPECT_EQ(ids(groups), (std::vector<std::string>{"dc1-log-8", "dc1-log-9"}));
}

// A new prefix renames the scope; the process groups keep their names.
TEST(RingPlan, AnotherPrefixReplacesNothing) {
  RingClusterSpec spec = two_logs();
  std::vector<ec::ProcessGroup> groups;
  plan_groups(spec, groups, now);
  spec.process_group_id_prefix = "unicorn";
  plan_groups(spec, groups, now);
  EXPECT_EQ(ids(groups), (std::vector<std::string>{"dc1-log-1", "dc1-log-2"}));
  EXPECT_FALSE(groups[0].is_marked_for_removal());
}

TEST(RingPlan, CreatesNoPodForWhatIsToGo) {
  RingClusterSpec spec = two_logs();
  std::vector<ec::ProcessGroup> groups;
  plan_groups(spec, groups, now);
  EXPECT_EQ(missing_pods(groups, {{"dc1-log-1", {}}}), std::vector<std::string>{"dc1-log-2"});
  groups[1].removal_timestamp = now;
  EXPECT_TRUE(missing_pods(groups, {{"dc1-log-1", {}}}).empty());
}

TEST(RingPlan, SeesWhatPodsAreLike) {
  const RingClusterSpec spec = two_logs();
  std::vector<ec::ProcessGroup> groups;
  plan_groups(spec, groups, now);
  const std::string text = configuration_text(spec.version, "--knob_cache=1");
  PodsByGroup pods{{"dc1-log-1", {.address = "10.0.0.1", .synced = text}},
                   {"dc1-log-2", {.address = std::nullopt, .synced = ""}}};
  observe_pods(spec, pods, groups, now);
  EXPECT_EQ(groups[0].addresses, std::vector<std::string>{"10.0.0.1"});
  EXPECT_TRUE(groups[1].has(ec::condition::pod_pending));
  groups[0].clear(ec::condition::missing_processes);
  EXPECT_EQ(count_ready(groups), 1);
  EXPECT_FALSE(is_complete(spec, groups));

  RingClusterSpec other = spec;
  other.knobs["cache"] = "2";
  observe_pods(other, pods, groups, now);
  EXPECT_TRUE(groups[0].has(ec::condition::incorrect_config_map));
  pods["dc1-log-1"].synced = configuration_text(spec.version, "--knob_cache=2");
  pods["dc1-log-1"].terminating = true;
  observe_pods(other, pods, groups, now);
  EXPECT_FALSE(groups[0].has(ec::condition::incorrect_config_map));
  EXPECT_TRUE(groups[0].has(ec::condition::resources_terminating));
}

TEST(RingPlan, IsCompleteOnlyWithoutGroupsThatAreToGo) {
  RingClusterSpec spec = two_logs();
  std::vector<ec::ProcessGroup> groups;
  plan_groups(spec, groups, now);
  for (ec::ProcessGroup& group : groups) group.conditions.clear();
  EXPECT_TRUE(is_complete(spec, groups));
  spec.process_groups_to_remove = {"dc1-log-1"};
  plan_groups(spec, groups, now);
  groups.back().conditions.clear();
  EXPECT_EQ(count_ready(groups), 2);
  EXPECT_FALSE(is_complete(spec, groups)) << "the old one is still there";
}
