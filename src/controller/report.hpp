// SPDX-License-Identifier: Apache-2.0
// The log message for the end of a reconcile.
#pragma once

#include <cstdint>
#include <string>

#include <evenkeel/base/log.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/controller/result_core.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Logs failures at error level, with the delay until the next attempt; conflicts, requeues and successes at
/// debug level, except the first success after failures. `attempt` is that of the run, and is bound to `log`.
void report(const Log& log, const ReconcileOutcome& outcome, std::uint64_t attempt, Duration next_try_in);

/// Logs a warning if a run exceeded its timeout without failing: it made no call after its deadline, and
/// ignored its stop token.
void report_overrun(const Log& log, const ReconcileOutcome& outcome, Duration timeout, Duration took);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
