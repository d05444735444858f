// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/process_groups/database.hpp>

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
