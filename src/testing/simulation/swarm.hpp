// SPDX-License-Identifier: Apache-2.0
// The rates of faults that a seed has.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/testing/simulation.hpp>

#include "testing/simulation/simulation_random.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Draws rates: each fault is absent in a third of all runs, and rare or frequent in the others, so that runs
/// differ in kind and no fault always hides another one.
/// Source: Groce and others, Swarm Testing, ISSTA 2012.
SimulationRates draw_rates(SimulationRandom& random);

/// Sets the rates with these names to none.
void leave_out(SimulationRates& rates, const std::vector<std::string>& names);

/// Throws std::invalid_argument for rates out of range; `where` names the option.
void check_rates(const SimulationRates& rates, const char* where);
/// Throws std::invalid_argument for names that no rate has.
void check_names(const std::vector<std::string>& names, const char* where);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
