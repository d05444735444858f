// SPDX-License-Identifier: Apache-2.0
// Decides when a long run is logged: when it exceeds its limit, and each time its duration has doubled.
// Driver:
//  1. sets FlightRun::limit and warn_at to limit_of() when a run starts;
//  2. calls check_stuck() at the limit of the first run, and again at each StuckCheck::next_due.
#pragma once

#include <optional>
#include <vector>

#include <evenkeel/base/time.hpp>

#include "controller/explain/flight_recorder.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

struct StuckOptions {
  std::optional<Duration> after = {};  ///< Limit since the start of a run. Unset: see limit_of().
};

/// Tolerance after a run's own deadline: requests to the server carry the deadline and have ended by then.
inline constexpr Duration stuck_tolerance = std::chrono::seconds{30};
/// Limit of a run without a deadline.
inline constexpr Duration stuck_default = std::chrono::minutes{10};

/// Returns the time at which a run becomes stuck: `options.after` after its start; if that is not set,
/// stuck_tolerance after its deadline; without one, stuck_default after its start.
TimePoint limit_of(TimePoint start, std::optional<TimePoint> deadline, const StuckOptions& options);

/// Result of check_stuck().
struct StuckCheck {
  std::vector<FlightRun> to_report = {};   ///< Stuck runs that are to be logged now.
  std::optional<TimePoint> next_due = {};  ///< Time of the next check; unset: nothing is running.
};

/// Checks the runs in progress, and sets the time of the next warning in them.
StuckCheck check_stuck(std::vector<FlightRun>& runs, TimePoint now);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
