// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/process_groups/database.hpp>

#include "coordination/process_groups/processes_by_group.hpp"

namespace evenkeel::coordination {
namespace {

DatabaseProcess process(const std::string& group, const std::string& address) {
  return {.address = address, .process_class = "storage", .locality = {{"instance_id", group}}};
}

std::vector<std::string> addresses_of(const DatabaseStatus& status, std::string_view group) {
  std::vector<std::string> out;
  for (const DatabaseProcess* one : status.of_group(group)) out.push_back(one->address);
  return out;
}

// GetProcessesFromProcessMap of the FoundationDB operator: several servers in one Pod.
TEST(DatabaseStatus, FindsTheProcessesOfAGroup) {
  const DatabaseStatus status{
      .processes = {process("dc1-storage-1-1", "10.0.0.1:4501"), process("dc1-storage-1-2", "10.0.0.1:4503"),
                    process("dc1-storage-10", "10.0.0.2:4501"), process("dc1-storage-2", "10.0.0.3:4501"),
                    process("dc1-storage-2", "10.0.0.3:4503")}};
  EXPECT_EQ(addresses_of(status, "dc1-storage-1"),
            (std::vector<std::string>{"10.0.0.1:4501", "10.0.0.1:4503"}));
  EXPECT_EQ(addresses_of(status, "dc1-storage-10"), (std::vector<std::string>{"10.0.0.2:4501"}));
  EXPECT_EQ(addresses_of(status, "dc1-storage-2"),
            (std::vector<std::string>{"10.0.0.3:4501", "10.0.0.3:4503"}));
  EXPECT_EQ(addresses_of(status, "dc1-storage-3"), (std::vector<std::string>{}));
}

TEST(ProcessesByGroup, FindsWhatTheStatusFinds) {
  const DatabaseStatus status{
      .processes = {process("log-1-1", "1"), process("log-1-2", "2"), process("log-1", "3"),
                    process("log-2-7", "4"), process("log-", "5"), process("log", "6"), process("-1", "7"),
                    process("", "8"), process("log-2-x", "9"), process("7", "10"), process("a-1-2", "11")}};
  const ProcessesByGroup index(status);
  for (const std::string id :
       {"log-1", "log-2", "log-1-1", "log-2-7", "log-", "log", "", "-1", "7", "a", "a-1", "b"})
    EXPECT_EQ(index.of(id), status.of_group(id)) << id;
  EXPECT_EQ(index.of("log-1").size(), 1U) << "not those that have a number";
  EXPECT_EQ(index.of("a-1").size(), 1U);
}

TEST(DatabaseStatus, KnowsCoordinatorsByRoleAndByAddress) {
  DatabaseStatus status{
      .processes = {process("dc1-storage-1", "10.0.0.1:4501"), process("dc1-storage-2", "10.0.0.2:4501"),
                    process("dc1-storage-3", "10.0.0.3:4501")},
      .coordinators = {"10.0.0.1:4501"}};
  status.processes[1].roles = {"storage", "coordinator"};
  EXPECT_TRUE(status.is_coordinator(status.processes[0]));
  EXPECT_TRUE(status.is_coordinator(status.processes[1]));
  EXPECT_FALSE(status.is_coordinator(status.processes[2]));
}

}  // namespace
}  // namespace evenkeel::coordination
