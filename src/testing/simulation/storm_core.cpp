// SPDX-License-Identifier: Apache-2.0
#include "testing/simulation/storm_core.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

using namespace std::chrono_literals;

StormCore::StormCore(const StormOptions& options)
    : lease_duration_(options.lease_duration), random_(options.seed) {
  const SimulationRates& rates = options.rates;
  const std::pair<SimulatedFault, double> kinds[] = {
      {SimulatedFault::crashes, rates.crashes}, {SimulatedFault::stops, rates.stops},
      {SimulatedFault::pauses, rates.pauses},   {SimulatedFault::partitions, rates.partitions},
      {SimulatedFault::breaks, rates.breaks},   {SimulatedFault::clock_jumps, rates.clock_jumps}};
  for (const auto& [fault, rate] : kinds) {
    if (rate <= 0) continue;
    const Duration interval = std::chrono::duration_cast<Duration>(std::chrono::hours{1} / rate);
    for (std::size_t machine = 0; machine < options.machines; ++machine)
      sources_.push_back({fault, machine, interval, random_.between(0s, 2 * interval)});
  }
}

std::optional<Duration> StormCore::next_due() const {
  if (sources_.empty()) return std::nullopt;
  const auto first =
      std::min_element(sources_.begin(), sources_.end(),
                       [](const Source& left, const Source& right) { return left.due < right.due; });
  return first->due;
}

std::optional<Strike> StormCore::next_strike(Duration now) {
  for (Source& source : sources_) {
    if (source.due > now) continue;
    source.due = now + random_.between(1ms, 2 * source.interval);
    return Strike{source.fault, source.machine, length_of(source.fault)};
  }
  return std::nullopt;
}

Duration StormCore::downtime() {
  return random_.below(2) == 0 ? random_.between(100ms, 2s) : random_.between(1s, 2 * lease_duration_);
}

Duration StormCore::length_of(SimulatedFault fault) {
  switch (fault) {
    case SimulatedFault::pauses:  // short ones, those that end about when the lease does, and long ones
      switch (random_.below(3)) {
        case 0:
          return random_.between(10ms, 2s);
        case 1:
          return random_.between(lease_duration_ / 2, lease_duration_ * 3 / 2);
        default:
          return random_.between(1s, 4 * lease_duration_);
      }
    case SimulatedFault::partitions:
      return random_.between(1s, 4 * lease_duration_);
    case SimulatedFault::clock_jumps: {
      const Duration most = random_.below(2) == 0 ? Duration(2h) : Duration(3s);
      return random_.between(-most, most);
    }
    default:
      return downtime();
  }
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
