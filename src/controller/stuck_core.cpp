// SPDX-License-Identifier: Apache-2.0
#include "controller/stuck_core.hpp"

#include <algorithm>

namespace evenkeel {
inline namespace v0 {
namespace detail {

TimePoint limit_of(TimePoint start, std::optional<TimePoint> deadline, const StuckOptions& options) {
  if (options.after) return deadline_after(start, *options.after);
  if (deadline) return deadline_after(*deadline, stuck_tolerance);
  return deadline_after(start, stuck_default);
}

StuckLook look_at(std::vector<FlightRun>& runs, TimePoint now) {
  StuckLook look;
  for (FlightRun& run : runs) {
    if (now >= run.warn_at) {
      look.to_tell.push_back(run);
      run.warn_at = deadline_after(now, std::max<Duration>(now - run.since, std::chrono::seconds{1}));
    }
    const TimePoint next = std::min(run.warn_at, deadline_after(now, run.limit - run.since));
    look.next = look.next ? std::min(*look.next, next) : next;
  }
  return look;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
