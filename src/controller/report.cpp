// SPDX-License-Identifier: Apache-2.0
#include "controller/report.hpp"

#include <array>
#include <cstdio>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace detail {

std::string format_delay(Duration delay) {
  const double nanoseconds = static_cast<double>(delay.count());
  const char* unit = "s";
  double value = nanoseconds / 1e9;
  if (delay < std::chrono::milliseconds{1}) {
    unit = "us";
    value = nanoseconds / 1e3;
  } else if (delay < std::chrono::seconds{1}) {
    unit = "ms";
    value = nanoseconds / 1e6;
  }
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%.3f", value);
  std::string out = text.data();
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out + unit;
}

void report_overrun(const Log& log, const ReconcileOutcome& outcome, Duration timeout, Duration took) {
  const bool went_well = outcome.kind == OutcomeKind::success || outcome.kind == OutcomeKind::requeue ||
                         outcome.kind == OutcomeKind::requeue_after;
  if (!outcome.timed_out || !went_well) return;
  log.warn("reconcile ended only after its timeout",
           {{"timeout", format_delay(timeout)}, {"took", format_delay(took)}});
}

void report(const Log& log, const ReconcileOutcome& outcome, std::uint64_t attempt, Duration next_try_in) {
  const auto next = [&] { return format_delay(next_try_in); };
  switch (outcome.kind) {
    case OutcomeKind::error:
      log.error(outcome.timed_out ? "reconcile failed: it timed out" : "reconcile failed",
                {{"next_try_in", next()}, {"error", outcome.message}});
      break;
    case OutcomeKind::terminal_error:
      log.error("reconcile failed and is not retried; the next event triggers a run",
                {{"error", outcome.message}});
      break;
    case OutcomeKind::conflict:
      log.debug("conflict with a concurrent write", {{"next_try_in", next()}, {"error", outcome.message}});
      break;
    case OutcomeKind::requeue:
    case OutcomeKind::requeue_after:
      log.debug("reconciled, will run again", {{"next_try_in", next()}, {"reason", outcome.message}});
      break;
    case OutcomeKind::success:
      if (attempt > 1) {
        log.info("reconcile recovered");
      } else {
        log.debug("reconciled");
      }
      break;
    case OutcomeKind::cancelled:
      log.info("reconcile cancelled", {{"error", outcome.message}});
      break;
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
