// SPDX-License-Identifier: Apache-2.0
// When a run that goes on is worth a word: once it is over its limit, and each time it has become twice as
// long.
#pragma once

#include <optional>
#include <vector>

#include <evenkeel/base/time.hpp>

#include "controller/flight_recorder.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

struct StuckOptions {
  std::optional<Duration> after = {};  ///< From the start of a run. Unset: see limit_of().
};

/// How long past its own deadline a run may last: what was sent to the server has the deadline in it, and is
/// over then.
inline constexpr Duration stuck_tolerance = std::chrono::seconds{30};
/// How long a run without a deadline may last.
inline constexpr Duration stuck_default = std::chrono::minutes{10};

/// From when on a run counts as stuck: `options.after` its start; if that is not set, stuck_tolerance after
/// its deadline; without one, stuck_default after its start.
TimePoint limit_of(TimePoint start, std::optional<TimePoint> deadline, const StuckOptions& options);

struct StuckLook {
  std::vector<FlightRun> to_tell = {};  ///< Runs that are stuck, and of which that is to be said now.
  std::optional<TimePoint> next = {};   ///< When to look again; nothing: no run goes on.
};

/// Looks at the runs that go on, and notes in them when to tell of each again.
StuckLook look_at(std::vector<FlightRun>& runs, TimePoint now);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
