// SPDX-License-Identifier: Apache-2.0
// Runs the simulation's histories on KubernetesStore: every invariant is checked after every commit, and the
// actions are the same as with the memory store. With by_scope, no commit of another instance comes between
// an instance's list and its write, and nothing is moved: moves take several commits there, and have separate
// histories.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/client/client.hpp>
#include <evenkeel/coordination/kubernetes_store.hpp>
#include <evenkeel/coordination/memory_store.hpp>

#include "simulation.hpp"

namespace evenkeel::tests {

/// Seeds 1 to `histories`, of 600 events each: 2 to 5 instances with 1 to 5 units.
inline void replay_on_kubernetes(const Client& client, coordination::KubernetesObjects objects,
                                 std::uint64_t histories) {
  namespace simulation = coordination::simulation;
  const bool is_one = objects == coordination::KubernetesObjects::one;
  const std::string name = is_one ? "sim-one-" : "sim-";
  for (std::uint64_t seed = 1; seed <= histories; ++seed) {
    simulation::Options options{.seed = seed,
                                .instances = 2 + seed % 4,
                                .units = 1 + seed % 5,
                                .needs_lock = seed % 3 == 0,
                                .renames = is_one,
                                .interleaved = is_one,
                                .root = "/sim/" + std::to_string(seed)};
    const auto events = simulation::plan(options, 600);
    options.open = [](const std::string&) { return std::make_shared<coordination::MemoryStore>(); };
    const simulation::Outcome expected = simulation::run(options, events);
    options.open = [&](const std::string& root) {
      return std::make_shared<coordination::KubernetesStore>(
          client, coordination::KubernetesStoreOptions{.namespace_ = "default",
                                                       .name = name + std::to_string(seed),
                                                       .root = root,
                                                       .objects = objects});
    };
    const simulation::Outcome outcome = simulation::run(options, events);
    ASSERT_FALSE(outcome.violation) << "seed " << seed << ": " << *outcome.violation;
    EXPECT_EQ(outcome.kills, expected.kills) << "seed " << seed;
    EXPECT_GT(outcome.figures.kills, 0U);
  }
}

/// A history in which scopes are moved from object to object, in several commits, by movers that die.
inline void move_scopes_on_kubernetes(const Client& client, std::uint64_t seed) {
  namespace simulation = coordination::simulation;
  simulation::Options options{
      .seed = seed, .instances = 3, .units = 2, .root = "/moves/" + std::to_string(seed)};
  options.open = [&](const std::string& root) {
    return std::make_shared<coordination::KubernetesStore>(
        client, coordination::KubernetesStoreOptions{.namespace_ = "default",
                                                     .name = "moves-" + std::to_string(seed),
                                                     .root = root,
                                                     .objects = coordination::KubernetesObjects::by_scope});
  };
  const simulation::Outcome outcome = simulation::run(options, simulation::plan(options, 600));
  ASSERT_FALSE(outcome.violation) << "seed " << seed << ": " << *outcome.violation;
  EXPECT_GT(outcome.figures.moves, 0U);
  EXPECT_GT(outcome.figures.kills, 0U);
}

}  // namespace evenkeel::tests
