// SPDX-License-Identifier: Apache-2.0
// Replicas that divide the keys in two ways, in one ring: no key runs twice at a time, those of one division
// do all work, and those of the other when the first are gone.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../support/sanitized.hpp"
#include "sharding_world.hpp"

namespace evenkeel::sharding_simulation {
namespace {

/// Ends all members of the table's division, which join again later.
void interrupt(World& world, bool crash) {
  const std::vector<std::string> divisions = world.divisions();
  for (Replica& each : world.replicas()) {
    if (divisions.empty() || each.division != divisions.back()) continue;
    if (crash)
      world.crash(each, 30s);
    else
      world.leave(each);
  }
}

/// Lets all members of a division leave, or crash, for good.
void retire_all(World& world, const std::string& division, bool crash) {
  for (Replica& each : world.replicas()) {
    if (each.division == division) world.retire(each, crash);
  }
}

TEST(ShardDivisionSimulation, NoKeyRunsTwiceAtATimeAndTheOtherDivisionGoesOnWhenOneIsGone) {
  std::size_t changes = 0;
  constexpr std::uint64_t storms = tests::sanitized ? 10 : 50;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + storms; ++seed) {
    SCOPED_TRACE("EVENKEEL_SHARDING_SEED=" + std::to_string(seed));
    std::vector<std::string> replicas = {"object", "namespace"};
    if (seed % 4 > 0) replicas.emplace_back("namespace");
    if (seed % 4 > 1) replicas.emplace_back("object");
    World world(seed, replicas);
    for (std::uint64_t round = 0; round < 4; ++round) {
      world.run(60s, seed % 2 == 0 ? 0.3 : 0.05);
      if (HasFatalFailure()) return;
      interrupt(world, (seed + round) % 2 == 0);
    }
    world.run(75s, 0);
    if (HasFatalFailure()) return;
    const std::string first = world.divisions().back();
    const std::string second = first == "object" ? "namespace" : "object";
    EXPECT_EQ(world.undone(), 0U);
    EXPECT_EQ(world.owned_by(first), slot_count);
    EXPECT_EQ(world.owned_by(second), 0U);

    retire_all(world, first, seed % 3 == 0);
    world.ask_for_all();
    world.run(45s, 0);
    if (HasFatalFailure()) return;
    EXPECT_EQ(world.divisions().back(), second);
    EXPECT_EQ(world.undone(), 0U);
    EXPECT_EQ(world.owned_by(second), slot_count);
    changes += world.divisions().size() - 1;
  }
  EXPECT_GE(changes, storms * 2) << "the faults did not cause enough changes of the division";
}

TEST(ShardDivisionSimulation, AReplicaOfAnotherDivisionDisturbsNothing) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 10; ++seed) {
    SCOPED_TRACE("EVENKEEL_SHARDING_SEED=" + std::to_string(seed));
    World world(seed, {"object", "object", "namespace"});
    Replica& other = world.replica(2);
    world.crash(other, 30s);
    world.run(30s, 0);
    ASSERT_EQ(world.owned(), slot_count);
    const std::size_t writes = world.table_writes();
    const std::size_t moves = world.moves();
    world.run(30s, 0);
    EXPECT_EQ(world.members(), 3U);
    EXPECT_NE(other.shards->problem(), "");
    EXPECT_EQ(world.owned_by("object"), slot_count);
    EXPECT_EQ(world.table_writes(), writes);
    EXPECT_EQ(world.moves(), moves);

    world.leave(other);
    world.run(1s, 0);
    EXPECT_EQ(world.members(), 2U);
    EXPECT_EQ(world.table_writes(), writes);
  }
}

// Both believe for half a minute what they saw last: the one that waits, that the holder has expired, and the
// holder, that the table is as it was.
TEST(ShardDivisionSimulation, AReplicaThatSeesRenewalsLateTakesNothing) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 10; ++seed) {
    SCOPED_TRACE("EVENKEEL_SHARDING_SEED=" + std::to_string(seed));
    World world(seed, {"object", "namespace"});
    world.run(30s, 0);
    ASSERT_EQ(world.owned(), slot_count);
    for (Replica& each : world.replicas()) each.watch_late_until = 60s;
    for (int i = 0; i < 300; ++i) {
      world.ask_for_all();
      world.run(100ms, 0);
      if (HasFatalFailure()) return;
    }
    EXPECT_EQ(world.divisions().size(), 1U);
    EXPECT_EQ(world.owned_by(world.divisions().back()), slot_count);
  }
}

TEST(ShardDivisionSimulation, ARollingUpdateChangesTheDivisionWhenTheLastOldReplicaHasLeft) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 10; ++seed) {
    SCOPED_TRACE("EVENKEEL_SHARDING_SEED=" + std::to_string(seed));
    World world(seed, {"object", "object", "object", "namespace", "namespace", "namespace"});
    for (std::size_t i = 3; i < 6; ++i) world.crash(world.replica(i), 15s * static_cast<int>(i));
    world.run(30s, 0);
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_EQ(world.owned_by("object"), slot_count);
      world.ask_for_all();
      world.run(30s, 0);
      EXPECT_EQ(world.undone(), 0U);
      world.retire(world.replica(i), false);
      world.run(15s, 0);
    }
    EXPECT_EQ(world.divisions(), (std::vector<std::string>{"object", "namespace"}));
    EXPECT_EQ(world.owned_by("namespace"), slot_count);
    EXPECT_EQ(world.most_owned(), (slot_count + 2) / 3);
    world.ask_for_all();
    world.run(15s, 0);
    if (HasFatalFailure()) return;
    EXPECT_EQ(world.undone(), 0U);
  }
}

}  // namespace
}  // namespace evenkeel::sharding_simulation
