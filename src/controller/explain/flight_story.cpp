// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/flight_story.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

KeyFlight flight_of(const FlightRecorder& recorder, std::uint64_t key, std::size_t most) {
  KeyFlight flight;
  for (const FlightRecord& record : recorder.of(key, most)) {
    FlightEntry entry{.record = record};
    if (record.kind == FlightKind::event) entry.source = recorder.source(record.number);
    if (const auto text = recorder.text(record)) entry.text = *text;
    flight.story.push_back(std::move(entry));
  }
  if (const LastFailure* failure = recorder.failure(key)) flight.failure = *failure;
  flight.since = recorder.since();
  flight.lost = recorder.lost();
  flight.recording = recorder.on();
  return flight;
}

std::vector<RunInFlight> runs_of(const FlightRecorder& recorder) {
  std::vector<RunInFlight> found;
  for (const FlightRun& run : recorder.runs()) {
    const bool known = run.cause.by != AddedBy::nobody;
    found.push_back({.run = run, .source = known ? std::string(recorder.source(run.cause.source)) : ""});
  }
  std::sort(found.begin(), found.end(),
            [](const RunInFlight& a, const RunInFlight& b) { return a.run.since < b.run.since; });
  return found;
}

std::vector<LastFailure> failures_of(const FlightRecorder& recorder, std::size_t most) {
  std::vector<LastFailure> found;
  for (const LastFailure& failure : recorder.failures()) {
    if (found.size() == most) break;
    found.push_back(failure);
  }
  return found;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
