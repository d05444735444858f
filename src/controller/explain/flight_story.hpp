// SPDX-License-Identifier: Apache-2.0
// Copies of a flight recorder's data with the texts of its records, which can be read without the lock of the
// recorder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/base/time.hpp>

#include "controller/explain/flight_recorder.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// One record.
struct FlightEntry {
  FlightRecord record = {};
  std::string source = {};               ///< For events: "configmaps (v1)".
  std::optional<std::string> text = {};  ///< For ended runs: error or reason; unset if it was overwritten.
};

/// A run in progress.
struct RunInFlight {
  FlightRun run = {};
  std::string source = {};  ///< Source of the cause.
};

/// The history of one key.
struct KeyFlight {
  std::vector<FlightEntry> story = {};  ///< Oldest first.
  std::optional<LastFailure> failure = {};
  std::optional<TimePoint> since = {};  ///< Start of the history.
  std::uint64_t lost = 0;               ///< Overwritten records, of this and other keys.
  bool recording = true;
};

/// Returns the newest `most` records of a key.
KeyFlight flight_of(const FlightRecorder& recorder, std::uint64_t key, std::size_t most);
/// Returns the runs in progress, longest first.
std::vector<RunInFlight> runs_of(const FlightRecorder& recorder);
/// Returns the last failures, most recent first.
std::vector<LastFailure> failures_of(const FlightRecorder& recorder, std::size_t most);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
