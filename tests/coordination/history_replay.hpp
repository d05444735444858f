// SPDX-License-Identifier: Apache-2.0
// Runs the simulation's histories on another store: every invariant is checked after every commit there as
// well, and the actions are the same as with the memory store.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/memory_store.hpp>

#include "simulation.hpp"

namespace evenkeel::tests {

namespace simulation = coordination::simulation;

/// Plays seeds 1 to `histories`, of 600 events each: 2 to 5 instances with 1 to 5 units.
/// `open` opens the store for keys below a root.
inline void replay_histories(
    const std::function<std::shared_ptr<coordination::Store>(const std::string& root)>& open,
    std::uint64_t histories) {
  simulation::Figures sum;
  for (std::uint64_t seed = 1; seed <= histories; ++seed) {
    simulation::Options options;
    options.seed = seed;
    options.instances = 2 + seed % 4;
    options.units = 1 + seed % 5;
    options.needs_lock = seed % 3 == 0;
    options.ready_subset = seed % 5 == 0;
    options.pieces = seed % 2 == 0;
    options.root = "/sim/" + std::to_string(seed);
    const std::vector<simulation::Event> events = simulation::plan(options, 600);
    options.open = [](const std::string&) { return std::make_shared<coordination::MemoryStore>(); };
    const simulation::Outcome expected = simulation::run(options, events);
    options.open = open;
    const simulation::Outcome outcome = simulation::run(options, events);
    ASSERT_FALSE(outcome.violation) << "seed " << seed << ": " << *outcome.violation;
    ASSERT_EQ(outcome.kills, expected.kills) << "seed " << seed;
    sum.commits += outcome.figures.commits;
    sum.conflicts += outcome.figures.conflicts;
    sum.unknowns += outcome.figures.unknowns;
    sum.claims += outcome.figures.claims;
    sum.kills += outcome.figures.kills;
    sum.moves += outcome.figures.moves;
  }
  std::printf(
      "%llu histories: %zu commits, %zu conflicts, %zu unknown, %zu claims, %zu kills, as in memory\n",
      static_cast<unsigned long long>(histories), sum.commits, sum.conflicts, sum.unknowns, sum.claims,
      sum.kills);
  EXPECT_GT(sum.conflicts, 0u);
  EXPECT_GT(sum.unknowns, 0u);
  EXPECT_GT(sum.kills, 0u);
  EXPECT_GT(sum.moves, 0u);
}

}  // namespace evenkeel::tests
