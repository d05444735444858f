// SPDX-License-Identifier: Apache-2.0
// The simulated database must have the same consequences as a real one; otherwise the demo proves nothing.
#include "ring_database.hpp"

#include <gtest/gtest.h>

using namespace std::chrono_literals;

namespace {

constexpr ek::TimePoint start{};

RingStart process(const std::string& id, const std::string& process_class, int host) {
  return {.id = id,
          .address = "10.0.0." + std::to_string(host) + ":4501",
          .process_class = process_class,
          .dc = id.substr(0, 3),
          .version = "7.1.0",
          .command_line = "old"};
}

RingOrder order(std::vector<std::string> targets, std::string action = {}, std::int64_t epoch = 0) {
  return {.targets = std::move(targets), .action = std::move(action), .epoch = epoch};
}

// Three sites with a storage, a log and a stateless process each; three of them coordinate.
RingDatabase nine() {
  RingDatabase ring({.processes = 9, .coordinators = 3, .recovery = 100ms, .move = 1s}, start);
  int host = 1;
  for (const char* site : {"dc1", "dc2", "dc3"}) {
    for (const char* process_class : {"log", "stateless", "storage"})
      ring.start(process(std::string(site) + "-" + process_class + "-1", process_class, host++), start);
  }
  return ring;
}

const RingProcess& find(const RingStatus& status, const std::string& id) {
  for (const RingProcess& process : status.processes) {
    if (process.id == id) return process;
  }
  throw std::out_of_range(id);
}

}  // namespace

TEST(RingDatabase, IsConfiguredWhenAllProcessesRunAndSpreadsItsCoordinators) {
  const RingStatus status = nine().status(start);
  EXPECT_EQ(status.coordinators,
            (std::vector<std::string>{"10.0.0.1:4501", "10.0.0.4:4501", "10.0.0.7:4501"}));
  EXPECT_EQ(status.generation, 2);
  EXPECT_TRUE(status.available);
  EXPECT_EQ(status.recovery_state, "recovering");
  EXPECT_EQ(nine().status(start + 100ms).recovery_state, "fully_recovered");
}

TEST(RingDatabase, OneKillOfManyIsOneRecovery) {
  RingDatabase ring = nine();
  ring.stage("dc1-log-1", "new", "7.1.0");
  ring.kill("dc1", order({"10.0.0.1:4501", "10.0.0.2:4501", "10.9.9.9:4501"}), start + 5s);
  const RingStatus status = ring.status(start + 6s);
  EXPECT_EQ(status.generation, 4);
  EXPECT_EQ(find(status, "dc1-log-1").command_line, "new");
  EXPECT_DOUBLE_EQ(find(status, "dc1-log-1").uptime_seconds, 1);
  EXPECT_DOUBLE_EQ(find(status, "dc1-storage-1").uptime_seconds, 6);
  EXPECT_EQ(ring.journal().back().groups, (std::vector<std::string>{"dc1-log-1", "dc1-stateless-1"}));
  ring.kill("dc1", order({"10.9.9.9:4501"}), start + 7s);
  EXPECT_EQ(ring.status(start + 7s).generation, 4) << "nobody was hit";
}

TEST(RingDatabase, AnExcludedProcessIsNeededUntilItsDataIsMoved) {
  RingDatabase ring = nine();
  ring.exclude("dc1", order({"locality_instance_id:dc1-storage-1", "10.0.0.2"}), start);
  EXPECT_EQ(find(ring.status(start + 999ms), "dc1-storage-1").roles, std::vector<std::string>{"storage"});
  EXPECT_TRUE(find(ring.status(start + 1s), "dc1-storage-1").roles.empty());
  EXPECT_TRUE(find(ring.status(start), "dc1-stateless-1").roles.empty());
  EXPECT_TRUE(find(ring.status(start), "dc1-stateless-1").excluded) << "by an address without port";
  const std::int64_t before = ring.status(start).generation;
  ring.exclude("dc2", order({"locality_instance_id:dc1-storage-1"}), start + 1s);
  EXPECT_EQ(ring.status(start).generation, before) << "it was excluded already";
  ring.include("dc1", order({"locality_instance_id:dc1-storage-1"}), start + 2s);
  EXPECT_EQ(ring.status(start + 2s).generation, before + 2);
  EXPECT_FALSE(find(ring.status(start + 2s), "dc1-storage-1").excluded);
}

TEST(RingDatabase, WhatGoesTooEarlyIsNoted) {
  RingDatabase ring = nine();
  ring.exclude("dc1", order({"locality_instance_id:dc1-storage-1", "locality_instance_id:dc2-storage-1"}),
               start);
  ring.stop("dc1-storage-1", start + 1s);
  EXPECT_EQ(ring.journal().back().call, "exclude") << "its data was moved";
  ring.stop("dc2-storage-1", start + 500ms);
  EXPECT_EQ(ring.journal().back().call, "process lost");
  EXPECT_FALSE(ring.journal().back().recovery);
  ring.stop("dc3-log-1", start + 2s);
  EXPECT_EQ(ring.journal().back().call, "process lost");
  EXPECT_TRUE(ring.journal().back().recovery) << "a log that takes part in every transaction";
}

TEST(RingDatabase, RefusesWithoutAMajorityOfItsCoordinators) {
  RingDatabase ring = nine();
  ring.stop("dc1-log-1", start);
  EXPECT_TRUE(ring.status(start).available);
  ring.stop("dc2-log-1", start);
  EXPECT_FALSE(ring.status(start).available);
  const RingAnswer answer = ring.exclude("dc1", order({"locality_instance_id:dc3-log-1"}), start);
  EXPECT_FALSE(answer.done);
  EXPECT_EQ(answer.problem, "no majority of the coordinators is live");
  EXPECT_TRUE(ring.status(start).exclusions.empty());
  EXPECT_EQ(ring.journal().back().refused, answer.problem);
}

TEST(RingDatabase, RefusesCoordinatorsThatAreExcludedOrDoNotRun) {
  RingDatabase ring = nine();
  ring.exclude("dc1", order({"locality_instance_id:dc1-storage-1"}), start);
  EXPECT_EQ(ring.set_coordinators("dc1", order({"10.0.0.3:4501"}), start).problem,
            "10.0.0.3:4501 is excluded");
  EXPECT_EQ(ring.set_coordinators("dc1", order({"10.9.9.9:4501"}), start).problem,
            "10.9.9.9:4501 is not running");
  const std::int64_t before = ring.status(start).generation;
  EXPECT_TRUE(ring.set_coordinators("dc1", order({"10.0.0.6:4501", "10.0.0.9:4501"}), start).done);
  EXPECT_EQ(ring.status(start).generation, before + 2);
  EXPECT_EQ(find(ring.status(start), "dc2-storage-1").roles,
            (std::vector<std::string>{"coordinator", "storage"}));
}

// A holder that was paused past the end of its claim acts with an old epoch.
TEST(RingDatabase, RefusesAnEpochThatIsOver) {
  RingDatabase ring = nine();
  EXPECT_TRUE(ring.kill("dc2", order({"10.0.0.4:4501"}, "restart", 7), start).done);
  const RingAnswer late = ring.kill("dc1", order({"10.0.0.1:4501"}, "restart", 6), start);
  EXPECT_FALSE(late.done);
  EXPECT_EQ(late.problem, "epoch 6 of restart is obsolete, the present one is 7");
  EXPECT_TRUE(ring.kill("dc1", order({"10.0.0.1:4501"}, "exclusion", 1), start).done) << "another action";
  EXPECT_TRUE(ring.kill("dc1", order({"10.0.0.1:4501"}), start).done) << "without a claim, as in local mode";
}

// An instance that takes over a claim raises the fence before it reads the status, so that nothing is done
// afterwards.
TEST(RingDatabase, RefusesOldEpochsFromWhenTheFenceIsRaised) {
  RingDatabase ring = nine();
  EXPECT_TRUE(ring.raise_fence(order({}, "restart", 7)).done);
  EXPECT_FALSE(ring.kill("dc1", order({"10.0.0.1:4501"}, "restart", 6), start).done);
  EXPECT_FALSE(ring.raise_fence(order({}, "restart", 6)).done);
  EXPECT_TRUE(ring.kill("dc2", order({"10.0.0.4:4501"}, "restart", 7), start).done);
  EXPECT_EQ(ring.journal().back().caller, "dc2");
}

TEST(RingDatabase, CannotBeReachedWhileItsProcessesSpeakTwoProtocols) {
  RingDatabase ring = nine();
  for (const RingProcess& each : ring.status(start).processes) ring.stage(each.id, "old", "7.3.1");
  ring.kill("dc1", order({"10.0.0.1:4501"}), start);
  EXPECT_FALSE(ring.status(start).available);
  std::vector<std::string> all;
  for (const RingProcess& each : ring.status(start).processes) all.push_back(each.address);
  ring.kill("dc1", order(all), start);
  EXPECT_TRUE(ring.status(start).available);
}
