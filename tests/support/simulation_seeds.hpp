// SPDX-License-Identifier: Apache-2.0
// Seeds of the simulations of this repository, from the environment: EVENKEEL_SIMULATION_SEEDS is their
// number, EVENKEEL_SIMULATION_SEED the only one or the first, EVENKEEL_SIMULATION_TRACE=1 shows all that
// happened.
#pragma once

#include <cstdint>
#include <cstdlib>

#include <evenkeel/testing/simulation.hpp>

namespace evenkeel::tests {

/// Returns the options with the seeds of the environment.
inline testing::SimulationOptions simulation_options(testing::SimulationOptions options) {
  const auto number = [](const char* name) -> std::uint64_t {
    const char* const text = std::getenv(name);
    return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
  };
  if (const std::uint64_t seed = number("EVENKEEL_SIMULATION_SEED"); seed != 0) {
    options.first_seed = seed;
    options.seeds = 1;
  }
  if (const std::uint64_t seeds = number("EVENKEEL_SIMULATION_SEEDS"); seeds != 0)
    options.seeds = static_cast<std::size_t>(seeds);
  options.whole_trace = number("EVENKEEL_SIMULATION_TRACE") != 0;
  return options;
}

}  // namespace evenkeel::tests
