// SPDX-License-Identifier: Apache-2.0
// The invariants of docs/coordination.md, after every step of random histories. EVENKEEL_COORDINATION_SEED
// sets the first seed, EVENKEEL_COORDINATION_RUNS the number of seeds.
#include "simulation.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/memory_store.hpp>

namespace evenkeel::coordination::simulation {
namespace {

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

Options options_of(std::uint64_t seed) {
  Options options;
  options.seed = seed;
  options.instances = 2 + seed % 4;
  options.units = 1 + seed % 5;
  options.needs_lock = seed % 3 == 0;
  options.ready_subset = seed % 5 == 0;
  options.pieces = seed % 2 == 0;
  options.open = [](const std::string&) { return std::make_shared<MemoryStore>(); };
  return options;
}

std::string texts(const std::vector<Event>& events) {
  std::string text;
  for (const Event& event : events) text += "\n  " + text_of(event);
  return text;
}

void add(Figures& sum, const Figures& one) {
  sum.commits += one.commits;
  sum.conflicts += one.conflicts;
  sum.unknowns += one.unknowns;
  sum.claims += one.claims;
  sum.moves += one.moves;
  sum.cut_moves += one.cut_moves;
  sum.amid_moves += one.amid_moves;
  sum.without_denied += one.without_denied;
  sum.take_overs += one.take_overs;
  sum.superseded += one.superseded;
  sum.kills += one.kills;
  sum.fenced += one.fenced;
  sum.restarted += one.restarted;
  sum.late += one.late;
}

void expect_met(const Figures& sum) {
  EXPECT_GT(sum.conflicts, 0U);
  EXPECT_GT(sum.unknowns, 0U);
  EXPECT_GT(sum.late, 0U);
  EXPECT_GT(sum.take_overs, 0U);
  EXPECT_GT(sum.superseded, 0U);
  EXPECT_GT(sum.without_denied, 0U) << "no claim left out a denied instance";
  EXPECT_GT(sum.moves, 0U) << "no scope was moved";
  EXPECT_GT(sum.cut_moves, 0U);
  EXPECT_GT(sum.amid_moves, 0U);
  EXPECT_GT(sum.fenced, 0U);
  EXPECT_GT(sum.kills, sum.claims / 2) << "most claims come to something";
}

TEST(CoordinationSimulation, KeepsItsInvariants) {
  const std::uint64_t first = number("EVENKEEL_COORDINATION_SEED", 1);
  const std::uint64_t runs = number("EVENKEEL_COORDINATION_RUNS", 40);
  Figures sum;
  for (std::uint64_t seed = first; seed < first + runs; ++seed) {
    const Options options = options_of(seed);
    const std::vector<Event> events = plan(options, 600);
    const Outcome outcome = run(options, events);
    add(sum, outcome.figures);
    if (!outcome.violation) continue;
    const std::vector<Event> fewer = shrink(options, events);
    FAIL() << "seed " << seed << ": " << *run(options, fewer).violation
           << "\nof these events:" << texts(fewer);
  }
  std::printf(
      "%llu runs: %zu commits, %zu conflicts, %zu unknown (%zu came late), %zu claims (%zu without denied "
      "ones), "
      "%zu taken over, "
      "%zu superseded, %zu kills, %zu fenced off, %zu units restarted, %zu moves (%zu cut, %zu claims amid "
      "one)\n",
      static_cast<unsigned long long>(runs), sum.commits, sum.conflicts, sum.unknowns, sum.late, sum.claims,
      sum.without_denied, sum.take_overs, sum.superseded, sum.kills, sum.fenced, sum.restarted, sum.moves,
      sum.cut_moves, sum.amid_moves);
  if (runs >= 40) expect_met(sum);
}

// Decisions do not depend on the version numbers of a store.
TEST(CoordinationSimulation, IsTheSameEachTime) {
  const Options options = options_of(7);
  const std::vector<Event> events = plan(options, 600);
  EXPECT_EQ(run(options, events).kills, run(options, events).kills);
}

}  // namespace
}  // namespace evenkeel::coordination::simulation
