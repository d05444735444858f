// SPDX-License-Identifier: Apache-2.0
// What a flight recorder knows, with the texts that its records refer to: copies, to be read after the lock
// under which the recorder works was released.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/base/time.hpp>

#include "controller/flight_recorder.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// One happening.
struct FlightEntry {
  FlightRecord record = {};
  std::string source = {};               ///< Of events: "configmaps (v1)".
  std::optional<std::string> text = {};  ///< Of ends of runs: error or reason; nothing if it was overwritten.
};

/// A run that goes on.
struct RunInFlight {
  FlightRun run = {};
  std::string source = {};  ///< Of the cause.
};

/// What is known of one key.
struct KeyFlight {
  std::vector<FlightEntry> story = {};  ///< The oldest first.
  std::optional<LastFailure> failure = {};
  std::optional<TimePoint> since = {};  ///< Nothing older is known.
  std::uint64_t lost = 0;               ///< Records that were overwritten, of this key and others.
  bool recording = true;
};

/// The newest `most` records of a key.
KeyFlight flight_of(const FlightRecorder& recorder, std::uint64_t key, std::size_t most);
/// The runs that go on, the longest first.
std::vector<RunInFlight> runs_of(const FlightRecorder& recorder);
/// The last failures, the latest first.
std::vector<LastFailure> failures_of(const FlightRecorder& recorder, std::size_t most);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
