// SPDX-License-Identifier: Apache-2.0
// The expectations of the FoundationDB operator's internal/coordinator/coordinator_test.go.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/process_groups/coordinators.hpp>

#include "clusters.hpp"

namespace evenkeel::coordination {
namespace {

using namespace tests;
using Texts = std::vector<std::string>;
constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

// --- "selecting coordinator candidates" ---

class CandidatesTest : public ::testing::Test {
 protected:
  static DatabaseProcess process(const std::string& id) {
    return {.address = "192.168.0." + id + ":4500",
            .process_class = "storage",
            .locality = {{"instance_id", id}, {"dns_name", id}},
            .version = "7.1.57"};
  }
  std::map<std::string, std::int64_t> candidates(const GroupIds& pending_removal = {}) const {
    std::map<std::string, std::int64_t> out;
    for (const CoordinatorCandidate& one : coordinator_candidates(cluster, status, pending_removal)) {
      out[std::string(one.process->group())] = one.priority;
    }
    return out;
  }
  using Expected = std::map<std::string, std::int64_t>;

  ProcessCluster cluster{.version = "7.1.57"};
  DatabaseStatus status{.processes = {process("1"), process("2")}};
};

TEST_F(CandidatesTest, HaveThePriorityOfTheirClass) {
  EXPECT_EQ(candidates(), (Expected{{"1", 0}, {"2", 0}}));
  cluster.coordinator_classes = {{"storage", 1000}};
  EXPECT_EQ(candidates(), (Expected{{"1", 1000}, {"2", 1000}}));
  status.processes[0].process_class = "log";
  EXPECT_EQ(candidates(), (Expected{{"2", 1000}}));
}

TEST_F(CandidatesTest, ThatAreYetToBeUpgradedComeLast) {
  status.processes[1].version = "7.1.55";
  EXPECT_EQ(candidates(), (Expected{{"1", 0}, {"2", lowest}}));
  cluster.coordinator_classes = {{"storage", 1000}};
  EXPECT_EQ(candidates(), (Expected{{"1", 1000}, {"2", lowest + 1000}}));
}

TEST_F(CandidatesTest, ThatRunFromASharedVolumeComeLast) {
  status.processes[1].command_line = "/var/dynamic-conf/... --public_address=192.168.0.2:4500";
  EXPECT_EQ(candidates(), (Expected{{"1", 0}, {"2", lowest}}));
}

// Groups of any instance.
TEST_F(CandidatesTest, AreNotPendingForRemoval) {
  EXPECT_EQ(candidates({"1"}), (Expected{{"2", 0}}));
}

TEST_F(CandidatesTest, AreNeitherExcludedNorUnderMaintenanceNorBeingRemoved) {
  status.processes[0].excluded = true;
  EXPECT_EQ(candidates(), (Expected{{"2", 0}}));
  status.processes[1].under_maintenance = true;
  EXPECT_EQ(candidates(), Expected());
  status = {.processes = {process("1"), process("2")}};
  cluster.process_groups = {{.id = "2", .process_class = "storage", .removal_timestamp = wall_start}};
  EXPECT_EQ(candidates(), (Expected{{"1", 0}}));
}

TEST_F(CandidatesTest, HaveALocalityAndIfNeededAName) {
  status.processes[0].locality.erase("dns_name");
  EXPECT_EQ(candidates().size(), 2U);
  cluster.dns_in_connection_string = true;
  EXPECT_EQ(candidates(), (Expected{{"2", 0}}));
  status.processes[1].locality.clear();
  EXPECT_EQ(candidates(), Expected());
}

// --- "selectCoordinators" ---

/// The ids of the chosen groups.
class ChooseCoordinatorsTest : public ::testing::Test {
 protected:
  std::vector<const DatabaseProcess*> choose(const GroupIds& pending_removal = {}) const {
    const CoordinatorChoice choice = choose_coordinators(cluster, status, pending_removal);
    EXPECT_EQ(choice.failure, std::nullopt);
    std::vector<const DatabaseProcess*> chosen;
    for (const std::string& name : choice.coordinators) {
      const auto found =
          std::ranges::find_if(status.processes, [&](const auto& one) { return one.is_known_as(name); });
      EXPECT_NE(found, status.processes.end()) << name;
      if (found != status.processes.end()) chosen.push_back(&*found);
    }
    return chosen;
  }
  static std::map<std::string, int> count(const std::vector<const DatabaseProcess*>& chosen,
                                          std::string_view place) {
    std::map<std::string, int> counts;
    for (const DatabaseProcess* one : chosen) {
      ++counts[place == "class" ? one->process_class : std::string(one->where(place))];
    }
    return counts;
  }
  using Counts = std::map<std::string, int>;

  ProcessCluster cluster = [] {
    ProcessCluster one = default_cluster();
    one.coordinator_classes = {{"storage", 10}, {"log", 5}};
    return one;
  }();
  DatabaseStatus status = status_of(cluster);
};

TEST_F(ChooseCoordinatorsTest, PrefersTheClassWithTheHigherPriority) {
  EXPECT_EQ(count(choose(), "class"), (Counts{{"storage", 3}}));
  cluster.coordinator_classes = {{"storage", 0}, {"log", 10}};
  EXPECT_EQ(count(choose(), "class"), (Counts{{"log", 3}}));
}

TEST_F(ChooseCoordinatorsTest, LeavesOutWhatGoes) {
  cluster.find("storage-1")->removal_timestamp = wall_start;
  EXPECT_EQ(count(choose(), "instance_id"), (Counts{{"storage-2", 1}, {"storage-3", 1}, {"storage-4", 1}}));
  EXPECT_EQ(count(choose({"storage-4"}), "class"), (Counts{{"storage", 2}, {"log", 1}}));
}

TEST_F(ChooseCoordinatorsTest, IsTheSameEachTime) {
  const Texts first = choose_coordinators(cluster, status, {}).coordinators;
  std::ranges::reverse(status.processes);
  EXPECT_EQ(choose_coordinators(cluster, status, {}).coordinators, first);
}

TEST_F(ChooseCoordinatorsTest, SaysWhatItLacks) {
  cluster.coordinator_count = 9;
  EXPECT_EQ(choose_coordinators(cluster, status, {}).failure,
            "Could only select 8 processes, but 9 are required");
}

/// Two main data centers with eight storage and four log processes each, and satellites with four logs.
class ChooseInRegionsTest : public ChooseCoordinatorsTest {
 protected:
  void build(const std::vector<std::string>& satellites) {
    cluster = ProcessCluster{.version = "7.1.57", .coordinator_count = 9, .primary_dc = "primary"};
    cluster.coordinator_classes = {{"storage", 10}, {"log", 5}};
    cluster.coordinator_limits = {{"zoneid", 1}, {"dcid", 3}};
    status = {};
    for (const std::string dc : {"primary", "remote"}) {
      add(dc, "storage", 8);
      add(dc, "log", 4);
    }
    for (const std::string& dc : satellites) add(dc, "log", 4);
  }
  void add(const std::string& dc, const std::string& process_class, int number) {
    for (int i = 0; i < number; ++i) {
      const std::string id = dc + "-" + process_class + "-" + std::to_string(i);
      status.processes.push_back({.address = "1.1.1." + std::to_string(status.processes.size()) + ":4501",
                                  .process_class = process_class,
                                  .locality = {{"instance_id", id}, {"zoneid", id}, {"dcid", dc}},
                                  .version = "7.1.57"});
    }
  }
  void exclude(std::string_view dc, std::size_t most) {
    for (DatabaseProcess& one : status.processes) {
      if (one.where("dcid") == dc && most > 0) one.excluded = (most--, true);
    }
  }
};

TEST_F(ChooseInRegionsTest, SpreadsOverThreeDataCenters) {
  build({"satellite"});
  EXPECT_EQ(count(choose(), "dcid"), (Counts{{"primary", 3}, {"remote", 3}, {"satellite", 3}}));
  EXPECT_EQ(count(choose(), "class"), (Counts{{"storage", 6}, {"log", 3}}));
  exclude("primary", 2);
  EXPECT_EQ(count(choose(), "dcid"), (Counts{{"primary", 3}, {"remote", 3}, {"satellite", 3}}));
  exclude("primary", 100);
  EXPECT_EQ(choose_coordinators(cluster, status, {}).failure,
            "Could only select 6 processes, but 9 are required");
}

TEST_F(ChooseInRegionsTest, SpreadsOverFourAndTakesOneMoreInThePrimary) {
  build({"satellite-1", "satellite-2"});
  EXPECT_EQ(count(choose(), "dcid"),
            (Counts{{"primary", 3}, {"remote", 2}, {"satellite-1", 2}, {"satellite-2", 2}}));
  EXPECT_EQ(count(choose(), "class"), (Counts{{"storage", 5}, {"log", 4}}));
  exclude("primary", 100);
  EXPECT_EQ(count(choose(), "dcid"), (Counts{{"remote", 3}, {"satellite-1", 3}, {"satellite-2", 3}}));
}

TEST_F(ChooseInRegionsTest, SpreadsOverDataHalls) {
  build({});
  cluster.coordinator_limits = {{"zoneid", 1}, {"data_hall", 3}};
  cluster.primary_dc.clear();
  status = {};
  for (const std::string hall : {"a", "b", "c"}) add(hall, "storage", 8);
  for (DatabaseProcess& one : status.processes) {
    one.locality["data_hall"] = one.where("dcid");
    one.locality.erase("dcid");
  }
  EXPECT_EQ(count(choose(), "data_hall"), (Counts{{"a", 3}, {"b", 3}, {"c", 3}}));
}

// --- Validity of the present coordinators ---

class UndesiredTest : public ::testing::Test {
 protected:
  std::optional<std::string> undesired() const { return undesired_coordinators(cluster, status); }
  std::string first() const { return status.coordinators[0]; }

  ProcessCluster cluster = default_cluster();
  DatabaseStatus status = status_of(cluster);
};

TEST_F(UndesiredTest, NoneOfAClusterAtRest) {
  EXPECT_EQ(undesired(), std::nullopt);
}

TEST_F(UndesiredTest, AnExcludedOne) {
  status.processes[0].excluded = true;
  EXPECT_EQ(undesired(), first() + " is excluded");
}

TEST_F(UndesiredTest, OneThatIsNotReported) {
  status.processes.erase(status.processes.begin());
  EXPECT_EQ(undesired(), first() + " is not reported");
}

// The others are replaced when they are excluded.
TEST_F(UndesiredTest, OneThatIsRemovedWithoutExclusion) {
  cluster.process_groups[0].removal_timestamp = wall_start;
  EXPECT_EQ(undesired(), std::nullopt);
  cluster.process_groups[0].exclusion_skipped = true;
  EXPECT_EQ(undesired(), first() + " is to be removed without being excluded");
}

TEST_F(UndesiredTest, OneOfAnotherClass) {
  cluster.coordinator_classes = {{"log"}};
  EXPECT_EQ(undesired(), first() + " is of class storage");
}

TEST_F(UndesiredTest, OneByItsAddressWhereNamesAreWanted) {
  cluster.dns_in_connection_string = true;
  EXPECT_EQ(undesired(), std::nullopt) << "it has no name";
  status.processes[0].locality["dns_name"] = "storage-1.example";
  EXPECT_EQ(undesired(), first() + " is not listed by its current address");
  status.coordinators[0] = "storage-1.example:4501";
  EXPECT_EQ(undesired(), std::nullopt);
}

TEST_F(UndesiredTest, TooFewAndTwoInOneZone) {
  status.processes[1].locality["zoneid"] = "storage-1";
  EXPECT_EQ(undesired(), "too many coordinators in zoneid storage-1");
  cluster.coordinator_count = 5;
  EXPECT_EQ(undesired(), "3 coordinators instead of 5");
}

// The processes of all operators.
TEST(CoordinatorGroups, AreThoseOfTheWholeDatabase) {
  const ProcessCluster other = default_cluster("dc2-");
  EXPECT_EQ(coordinator_groups(status_of(other)),
            (GroupIds{"dc2-storage-1", "dc2-storage-2", "dc2-storage-3"}));
}

}  // namespace
}  // namespace evenkeel::coordination
