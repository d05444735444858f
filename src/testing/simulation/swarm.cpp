// SPDX-License-Identifier: Apache-2.0
#include "testing/simulation/swarm.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "testing/simulation/fault_counts.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

// Absent in one of three runs; else `most`, or a half, a quarter, ... a 32nd of it.
double draw(SimulationRandom& random, double most) {
  if (random.below(3) == 0) return 0;
  double rate = most;
  for (std::size_t halvings = random.below(6); halvings > 0; --halvings) rate /= 2;
  return rate;
}

struct RateOfFault {
  double SimulationRates::*rate;
  double most_drawn;
  double most;  // that a test may set
};

// In the order of fault_names.
constexpr std::array<RateOfFault, fault_names.size()> rates_of_faults{{
    {&SimulationRates::lose_request, 0.2, 1},
    {&SimulationRates::lose_answer, 0.2, 1},
    {&SimulationRates::refuse, 0.3, 1},
    {&SimulationRates::slow, 0.3, 1},
    {&SimulationRates::pause_at_write, 0.2, 1},
    {&SimulationRates::crash_at_write, 0.2, 1},
    {&SimulationRates::cut, 0.2, 1},
    {&SimulationRates::silence, 0.05, 1},
    {&SimulationRates::crashes, 40, 10'000},
    {&SimulationRates::stops, 20, 10'000},
    {&SimulationRates::pauses, 60, 10'000},
    {&SimulationRates::partitions, 30, 10'000},
    {&SimulationRates::breaks, 60, 10'000},
    {&SimulationRates::clock_jumps, 30, 10'000},
    {&SimulationRates::drift, 0.05, 0.1},
}};

}  // namespace

SimulationRates draw_rates(SimulationRandom& random) {
  SimulationRates rates;
  for (const RateOfFault& each : rates_of_faults) rates.*each.rate = draw(random, each.most_drawn);
  return rates;
}

void leave_out(SimulationRates& rates, const std::vector<std::string>& names) {
  for (std::size_t at = 0; at < fault_names.size(); ++at) {
    if (std::find(names.begin(), names.end(), fault_names[at]) != names.end())
      rates.*rates_of_faults[at].rate = 0;
  }
}

void check_rates(const SimulationRates& rates, const char* where) {
  for (std::size_t at = 0; at < fault_names.size(); ++at) {
    const auto& [member, most_drawn, most] = rates_of_faults[at];
    if (rates.*member >= 0 && rates.*member <= most) continue;
    const std::string limit = most == 1 ? "1" : most == 0.1 ? "0.1" : "10000";
    throw std::invalid_argument(std::string(where) + "." + std::string(fault_names[at]) +
                                " must be between 0 and " + limit);
  }
}

void check_names(const std::vector<std::string>& names, const char* where) {
  for (const std::string& name : names) {
    if (std::find(fault_names.begin(), fault_names.end(), name) != fault_names.end()) continue;
    std::string known;
    for (const std::string_view fault : fault_names)
      known += (known.empty() ? "" : ", ") + std::string(fault);
    throw std::invalid_argument(std::string(where) + ": \"" + name + "\" is not one of " + known);
  }
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
