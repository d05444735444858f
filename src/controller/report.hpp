// SPDX-License-Identifier: Apache-2.0
// The log line that the end of a reconcile is worth.
#pragma once

#include <cstdint>
#include <string>

#include <evenkeel/base/log.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/controller/result_core.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// "5ms", "1.28s", "250us": three decimals at most, without zeros at the end.
std::string format_delay(Duration delay);

/// Failures are errors, with the delay until the next try; conflicts, requeues and success are for debugging,
/// but for the success that ends a row of failures. `attempt` is the run's, `log` carries it.
void report(const Log& log, const ReconcileOutcome& outcome, std::uint64_t attempt, Duration next_try_in);

/// A warning if a run outlasted its timeout without failing for it: it made no call after its deadline, and
/// paid no attention to its stop token.
void report_overrun(const Log& log, const ReconcileOutcome& outcome, Duration timeout, Duration took);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
