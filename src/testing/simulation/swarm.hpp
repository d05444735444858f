// SPDX-License-Identifier: Apache-2.0
// The rates of faults that a seed has.
#pragma once

#include <evenkeel/testing/simulation.hpp>

#include "testing/simulation/simulation_random.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Draws rates: each fault is absent in a third of all runs, and rare or frequent in the others, so that runs
/// differ in kind and no fault always hides another one.
/// Source: Groce and others, Swarm Testing, ISSTA 2012.
SimulationRates draw_rates(SimulationRandom& random);

/// Throws std::invalid_argument for rates out of range; `where` names the option.
void check_rates(const SimulationRates& rates, const char* where);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
