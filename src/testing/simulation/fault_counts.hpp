// SPDX-License-Identifier: Apache-2.0
// The faults of a simulation, their names, and the number of times that each occurred.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

enum class SimulatedFault : std::uint8_t {
  lose_request,
  lose_answer,
  refuse,
  slow,
  pause_at_write,
  crash_at_write,
  cut,
  silence,
  crashes,
  stops,
  pauses,
  partitions,
  breaks,
  clock_jumps,
  drift,
};

/// In the order of SimulatedFault; the names are those of the members of SimulationRates.
inline constexpr std::array<std::string_view, 15> fault_names{
    "lose_request",   "lose_answer", "refuse",  "slow",        "pause_at_write",
    "crash_at_write", "cut",         "silence", "crashes",     "stops",
    "pauses",         "partitions",  "breaks",  "clock_jumps", "drift"};

class SimulatedFaultCounts {
 public:
  void add(SimulatedFault fault, std::uint64_t times = 1) {
    counts_[static_cast<std::size_t>(fault)] += times;
  }
  std::uint64_t of(SimulatedFault fault) const { return counts_[static_cast<std::size_t>(fault)]; }

 private:
  std::array<std::uint64_t, fault_names.size()> counts_{};
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
