// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/stuck_core.hpp"

#include <algorithm>

namespace evenkeel {
inline namespace v0 {
namespace detail {

TimePoint limit_of(TimePoint start, std::optional<TimePoint> deadline, const StuckOptions& options) {
  if (options.after) return deadline_after(start, *options.after);
  if (deadline) return deadline_after(*deadline, stuck_tolerance);
  return deadline_after(start, stuck_default);
}

StuckCheck check_stuck(std::vector<FlightRun>& runs, TimePoint now) {
  StuckCheck check;
  for (FlightRun& run : runs) {
    if (now >= run.warn_at) {
      check.to_report.push_back(run);
      run.warn_at = deadline_after(now, std::max<Duration>(now - run.since, std::chrono::seconds{1}));
    }
    const TimePoint next = std::min(run.warn_at, deadline_after(now, run.limit - run.since));
    check.next_due = check.next_due ? std::min(*check.next_due, next) : next;
  }
  return check;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
