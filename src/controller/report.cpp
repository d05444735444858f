// SPDX-License-Identifier: Apache-2.0
#include "controller/report.hpp"

#include <string_view>

#include "base/rounded_duration.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

void report_overrun(const Log& log, const ReconcileOutcome& outcome, Duration timeout, Duration took) {
  const bool went_well = outcome.kind == OutcomeKind::success || outcome.kind == OutcomeKind::requeue ||
                         outcome.kind == OutcomeKind::requeue_after;
  if (!outcome.timed_out || !went_well) return;
  log.warn("reconcile ended only after its timeout",
           {{"timeout", format_rounded(timeout)}, {"took", format_rounded(took)}});
}

void report(const Log& log, const ReconcileOutcome& outcome, std::uint64_t attempt, Duration next_try_in) {
  const auto next = [&] { return format_rounded(next_try_in); };
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
