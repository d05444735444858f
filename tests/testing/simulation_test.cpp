// SPDX-License-Identifier: Apache-2.0
// Simulations of a small operator: that the run-time keeps its invariants under all faults, that each fault
// occurs, and that a seed repeats.
#include <chrono>
#include <cstdio>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/sanitized.hpp"
#include "../support/simulation_seeds.hpp"
#include "simulation_operators.hpp"

namespace evenkeel::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Each seed draws its own faults.
TEST(Simulation, KeepsItsInvariants) {
  const SimulationOptions options = tests::simulation_options({.seeds = tests::sanitized ? 4U : 25U});
  const SimulationResult result = simulate(store_controller, change_store, options);
  std::printf("%s%s", result.describe().c_str(), result.trace.c_str());
  EXPECT_TRUE(result.ok()) << result.describe();
  if (options.seeds >= 20) {
    EXPECT_THAT(result.never_fired(), IsEmpty());
  }
}

// The watch of the stores falls silent, that of what they own does not: the garbage collector deletes what
// the operator makes for a store that was deleted, and each deletion runs the key of the store.
TEST(Simulation, DoesNotLoopForAnOwnerThatWasDeleted) {
  const auto workload = [](SimulatedCluster& cluster) {
    for (int i = 0; i < 30; ++i) {
      cluster.create({store()});
      cluster.run_for(5s);
      cluster.remove<Store>(main_store);
    }
    cluster.create({store()});
  };
  const SimulationResult result = simulate(
      store_controller, workload,
      {.seeds = tests::sanitized ? 2U : 8U, .replicas = 1, .rates = SimulationRates{.silence = 0.005}});
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.fired.at("silence"), 0U);
}

TEST(Simulation, OneReplicaNeedsNoElection) {
  SimulationOptions options = tests::simulation_options({.seeds = tests::sanitized ? 1U : 5U});
  options.replicas = 1;
  const SimulationResult result = simulate(store_controller, change_store, options);
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_EQ(result.fired.at("elections"), 0U);
}

TEST(Simulation, ASeedRepeatsByteForByte) {
  const SimulationOptions options{.first_seed = 7, .seeds = 1, .storm = 2min, .whole_trace = true};
  const SimulationResult first = simulate(store_controller, change_store, options);
  const SimulationResult second = simulate(store_controller, change_store, options);
  EXPECT_FALSE(first.trace.empty());
  EXPECT_EQ(first.trace, second.trace);
  EXPECT_EQ(first.fingerprint, second.fingerprint);
  EXPECT_EQ(first.fired, second.fired);
}

TEST(SimulationConcurrency, ThreadsDoNotChangeTheResult) {
  SimulationOptions options{.first_seed = 40, .seeds = 4, .storm = 1min};
  const SimulationResult alone = simulate(store_controller, change_store, options);
  options.threads = 2;
  const SimulationResult together = simulate(store_controller, change_store, options);
  EXPECT_EQ(alone.fingerprint, together.fingerprint);
  EXPECT_EQ(alone.fired, together.fired);
  EXPECT_TRUE(together.ok()) << together.describe();
}

TEST(Simulation, WithoutFaultsNothingFires) {
  const SimulationResult result =
      simulate(store_controller, change_store, {.seeds = 1, .storm = 1min, .rates = SimulationRates()});
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_EQ(result.never_fired().size(), 15U);
  EXPECT_EQ(result.fired.at("elections"), 1U);
}

TEST(Simulation, LeavesSingleFaultsOut) {
  const SimulationResult result = simulate(store_controller, change_store,
                                           {.seeds = 3, .storm = 1min, .without = {"clock_jumps", "drift"}});
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_FALSE(result.fired.contains("clock_jumps"));
  EXPECT_THAT(result.never_fired(), ::testing::Not(::testing::Contains("drift")));
  EXPECT_THAT(result.describe(), ::testing::Not(HasSubstr("clock_jumps")));
  EXPECT_GT(result.fired.at("crashes") + result.fired.at("pauses") + result.fired.at("slow"), 0U);
}

// Controllers of others, which the operator waits for.
TEST(Simulation, OtherControllersTakePart) {
  const SimulationOptions options{.seeds = 2, .storm = 1min, .others = {play_kubelet}};
  const SimulationResult result = simulate(store_controller, change_store, options);
  EXPECT_TRUE(result.ok()) << result.describe();
}

TEST(Simulation, ReportsAReconcilerThatDependsOnMoreThanTheCluster) {
  const SimulationResult result = simulate(timing_controller, change_store, {.seeds = 1});
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.seeds_run, 0U);
  EXPECT_THAT(result.describe(),
              HasSubstr("two runs without any fault differ: configmaps default/main-data"));
}

std::string refusal_of(const SimulationOptions& options) {
  try {
    simulate(store_controller, change_store, options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(Simulation, RefusesOptionsOutOfRange) {
  // Regression: a simulation without seeds passed.
  EXPECT_EQ(refusal_of({.seeds = 0}), "SimulationOptions: seeds must be at least 1");
  EXPECT_EQ(refusal_of({.threads = 0}), "SimulationOptions: threads must be at least 1");
  EXPECT_EQ(
      refusal_of({.without = {"clock_jump"}}),
      "SimulationOptions::without: \"clock_jump\" is not one of lose_request, lose_answer, refuse, slow, "
      "pause_at_write, crash_at_write, cut, silence, crashes, stops, pauses, partitions, breaks, "
      "clock_jumps, drift");
  EXPECT_EQ(refusal_of({.replicas = 0}), "SimulationOptions: replicas must be at least 1");
  EXPECT_EQ(refusal_of({.storm = -1s}), "SimulationOptions: storm must not be negative");
  EXPECT_EQ(refusal_of({.limit = 1min}), "SimulationOptions: limit must be longer than a minute");
  EXPECT_EQ(refusal_of({.rates = SimulationRates{.cut = 1.5}}),
            "SimulationOptions::rates.cut must be between 0 and 1");
  EXPECT_EQ(refusal_of({.rates = SimulationRates{.crashes = -1}}),
            "SimulationOptions::rates.crashes must be between 0 and 10000");
  EXPECT_EQ(refusal_of({.rates = SimulationRates{.drift = 0.2}}),
            "SimulationOptions::rates.drift must be between 0 and 0.1");
}

}  // namespace
}  // namespace evenkeel::testing
