// SPDX-License-Identifier: Apache-2.0
// Replicas that share slots through storms of faults: no key runs twice at a time, and after the faults end,
// all work is done.
#include <string>

#include <gtest/gtest.h>

#include "../support/sanitized.hpp"
#include "sharding_world.hpp"

namespace evenkeel::sharding_simulation {
namespace {

TEST(ShardingSimulation, NoSlotRunsTwiceAtATimeAndNothingIsLostInTenThousandMoves) {
  std::size_t moves = 0;
  constexpr std::uint64_t storms = tests::sanitized ? 16 : 80;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + storms; ++seed) {
    SCOPED_TRACE("EVENKEEL_SHARDING_SEED=" + std::to_string(seed));
    World world(seed, 2 + static_cast<int>(seed % 4));
    world.run(200s, seed % 2 == 0 ? 0.3 : 0.05);
    if (HasFatalFailure()) return;
    // Requests of up to 18 s, pauses and outages of 25 s; then expiry at the slowest rate, and the moves.
    world.run(75s, 0);
    if (HasFatalFailure()) return;
    EXPECT_EQ(world.undone(), 0U);
    EXPECT_EQ(world.owned(), slot_count);
    EXPECT_LE(world.most_owned(), (slot_count + world.members() - 1) / world.members());
    moves += world.moves();
  }
  EXPECT_GE(moves, storms * 125) << "the faults did not cause enough moves";
}

TEST(ShardingSimulation, ALeavingReplicaHandsOverWithinASecond) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 10; ++seed) {
    SCOPED_TRACE("EVENKEEL_SHARDING_SEED=" + std::to_string(seed));
    World world(seed, 4);
    world.run(30s, 0);
    ASSERT_EQ(world.owned(), slot_count);
    EXPECT_EQ(world.most_owned(), slot_count / 4);
    Replica& one = world.replica(seed % 4);
    world.leave(one);
    world.run(1s, 0);
    std::size_t others = 0;
    for (std::size_t i = 0; i < 4; ++i) others += i == seed % 4 ? 0 : world.replica(i).owned.size();
    EXPECT_EQ(others, slot_count);
  }
}

TEST(ShardingSimulation, ACrashedReplicasSlotsAreTakenWithinTheLeaseDuration) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 10; ++seed) {
    SCOPED_TRACE("EVENKEEL_SHARDING_SEED=" + std::to_string(seed));
    World world(seed, 4);
    world.run(30s, 0);
    world.crash(world.replica(0), 1h);
    world.run(10s, 0);
    EXPECT_EQ(world.owned(), slot_count * 3 / 4);
    world.run(9s, 0);  // 15 s at the slowest rate, and the writes
    EXPECT_EQ(world.owned(), slot_count);
  }
}

TEST(ShardingSimulation, ADeletedTableIsMadeAgainWhenItsHoldersHaveEnded) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 10; ++seed) {
    SCOPED_TRACE("EVENKEEL_SHARDING_SEED=" + std::to_string(seed));
    World world(seed, 4);
    world.run(30s, 0);
    ASSERT_EQ(world.owned(), slot_count);
    Replica& late = world.replica(seed % 4);  // runs its slots until it sees the deletion
    late.watch_late_until = 42s;
    world.server().remove(Json(world.server().leases.at(ring)));
    for (int second = 0; second < 12; ++second) {
      world.run(1s, 0);
      ASSERT_EQ(late.owned.size(), slot_count / 4) << second;
      ASSERT_EQ(world.owned(), slot_count / 4) << "another replica has slots, " << second;
    }
    world.run(20s, 0);  // 15 s at the slowest rate, and the writes
    EXPECT_EQ(world.owned(), slot_count);
    EXPECT_EQ(world.most_owned(), slot_count / 4);
  }
}

// Leases with the label of the ring, which no process renews: anybody who may write Leases can make them.
TEST(ShardingSimulation, LeasesWithoutAProcessGetNoSlotsAndDelayNothing) {
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 10; ++seed) {
    SCOPED_TRACE("EVENKEEL_SHARDING_SEED=" + std::to_string(seed));
    World world(seed, 3);
    for (int i = 0; i < 50; ++i) {
      Json ghost;
      const std::string name = (i % 2 == 0 ? "aaa-" : "zzz-") + std::to_string(i);
      ghost["metadata"]["name"] = name;
      ghost["metadata"]["labels"][ShardCore::label] = ring;
      ghost["metadata"]["labels"][ShardTable::division_label] = "object";
      ghost["spec"]["holderIdentity"] = name;
      ghost["spec"]["leaseDurationSeconds"] = i % 3 == 0 ? 20 : INT32_MAX;
      world.server().create(ghost);
    }
    world.run(30s, 0);
    EXPECT_EQ(world.owned(), slot_count);
    EXPECT_LE(world.most_owned(), slot_count / 3 + 1);
    world.crash(world.replica(0), 1h);
    world.run(19s, 0);  // 15 s at the slowest rate, and the writes
    EXPECT_EQ(world.owned(), slot_count);
  }
}

TEST(ShardingSimulation, ASilentRingWritesRenewalsOnly) {
  World world(7, 4);
  world.run(60s, 0);
  const auto table = world.table_writes();
  const auto all = world.server().changes.size();
  world.run(60s, 0);
  EXPECT_EQ(world.table_writes(), table);
  EXPECT_LE(world.server().changes.size() - all, 4U * 34U);  // every 2 s, at rates of up to 1.08
  EXPECT_GE(world.server().changes.size() - all, 4U * 26U);
}

}  // namespace
}  // namespace evenkeel::sharding_simulation
