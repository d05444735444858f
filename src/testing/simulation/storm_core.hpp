// SPDX-License-Identifier: Apache-2.0
// The decisions about the faults of machines: when a process ends, pauses or is cut off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/testing/simulation.hpp>

#include "testing/simulation/fault_counts.hpp"
#include "testing/simulation/simulation_random.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

struct StormOptions {
  SimulationRates rates = {};
  std::size_t machines = 0;
  Duration lease_duration = std::chrono::seconds{15};  ///< Pauses and partitions exceed it often.
  std::uint64_t seed = 1;
};

/// A fault that strikes a machine.
struct Strike {
  SimulatedFault fault = SimulatedFault::crashes;
  std::size_t machine = 0;
  /// Length of a pause or a partition, time until the next start after a crash or stop, or the jump of a
  /// clock.
  Duration length = {};
};

/// Decides when which fault strikes which machine.
/// Driver:
///  1. calls next_strike() at next_due(), until it returns none, and carries out each strike;
///  2. calls calm() at the end of the storm.
/// Thread safety: one thread at a time.
class StormCore {
 public:
  explicit StormCore(const StormOptions& options);

  std::optional<Duration> next_due() const;
  std::optional<Strike> next_strike(Duration now);
  /// Returns the time for which a machine is down after an unplanned end of its process.
  Duration downtime();
  /// Returns the length of a pause.
  Duration pause() { return length_of(SimulatedFault::pauses); }
  void calm() { sources_.clear(); }

 private:
  struct Source {
    SimulatedFault fault;
    std::size_t machine;
    Duration interval;  // mean time between two strikes
    Duration due;
  };
  Duration length_of(SimulatedFault fault);

  const Duration lease_duration_;
  SimulationRandom random_;
  std::vector<Source> sources_;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
