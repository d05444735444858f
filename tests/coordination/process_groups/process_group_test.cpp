// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/coordination/process_groups/process_group.hpp>

namespace evenkeel::coordination {
namespace {

using namespace std::chrono_literals;

const WallTime wall_start{1'700'000'000s};

TEST(ProcessGroup, KeepsTheFirstTimeOfACondition) {
  ProcessGroup group{.id = "dc1-storage-1", .process_class = "storage"};
  group.set(condition::missing_processes, wall_start);
  group.set(condition::missing_processes, wall_start + 1min);
  EXPECT_EQ(group.since(condition::missing_processes), std::optional(wall_start));
  EXPECT_FALSE(group.has(condition::pod_pending));
  group.clear(condition::missing_processes);
  EXPECT_FALSE(group.has(condition::missing_processes));
}

TEST(ProcessGroup, IsExcludedByTheDatabaseOrByDecision) {
  ProcessGroup group{.id = "dc1-storage-1", .process_class = "storage"};
  EXPECT_FALSE(group.is_excluded());
  group.exclusion_skipped = true;
  EXPECT_TRUE(group.is_excluded());
  group.exclusion_skipped = false;
  group.exclusion_timestamp = wall_start;
  EXPECT_TRUE(group.is_excluded());
  EXPECT_EQ(group.exclusion_text(), "locality_instance_id:dc1-storage-1");
}

TEST(ProcessGroup, IsAFieldOfAResource) {
  ProcessGroup group{.id = "dc1-log-1", .process_class = "log", .addresses = {"10.1.0.3"}};
  group.removal_timestamp = wall_start;
  group.set(condition::incorrect_command_line, wall_start);
  const std::string text = to_json(group);
  EXPECT_EQ(text, R"({"id":"dc1-log-1","processClass":"log","addresses":["10.1.0.3"],)"
                  R"("removalTimestamp":"2023-11-14T22:13:20.000000Z",)"
                  R"("conditions":[{"type":"IncorrectCommandLine","since":"2023-11-14T22:13:20.000000Z"}]})");
  EXPECT_EQ(from_json<ProcessGroup>(text), group);
}

}  // namespace
}  // namespace evenkeel::coordination
