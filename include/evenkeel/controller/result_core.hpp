// SPDX-License-Identifier: Apache-2.0
// The consequences of the end of a reconcile: the calls on the queue, and the counters. Pure, so that each
// row of the table can be tested.
// Driver:
//  1. calls outcome_of() with the result or the exception of a reconcile;
//  2. makes the calls that queue_calls() returns.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/controller/result.hpp>

namespace evenkeel {
inline namespace v0 {

/// The way in which a reconcile ended.
enum class OutcomeKind : std::uint8_t {
  success,
  requeue,
  requeue_after,
  error,     ///< It threw an exception; retried with back-off.
  conflict,  ///< It threw an ApiError with reason Conflict: a concurrent write. Retried, logged at a low
             ///< level.
  terminal_error,  ///< It threw a TerminalError; not retried.
  cancelled,       ///< It was cancelled because the controller is stopping.
};

/// Returns the label of its counter: "success", "requeue", "requeue_after", "error", "conflict",
/// "terminal_error" or "cancelled".
EVENKEEL_API std::string_view outcome_name(OutcomeKind kind) noexcept;

struct ReconcileOutcome {
  OutcomeKind kind = OutcomeKind::success;
  Duration delay = {};       ///< For requeue_after.
  std::string message = {};  ///< The error, or the reason of a requeue.
  bool panic = false;        ///< The exception indicates a bug: a std::logic_error, or not a std::exception.
  std::optional<Priority> priority = {};  ///< Priority of the next run, if the result set one.
  bool timed_out = false;  ///< The reconcile timeout expired, not a shorter one inside the reconciler.
};

/// Calls on the queue, in this order: forget, then the add. Marking the key done comes after both.
struct QueueCalls {
  enum class Add : std::uint8_t { none, rate_limited, after };
  bool forget = false;
  Add add = Add::none;
  Duration delay = {};  ///< For Add::after.
  bool operator==(const QueueCalls&) const = default;
};

/// Counters of a controller since its start.
struct ReconcileCounts {
  std::uint64_t reconciles = 0;  ///< Completed reconciles; the sum of the outcomes below.
  std::uint64_t success = 0;
  std::uint64_t requeue = 0;
  std::uint64_t requeue_after = 0;
  std::uint64_t error = 0;  ///< Excluding conflicts; including terminal errors.
  std::uint64_t conflict = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t terminal_error = 0;  ///< Included in `error`.
  std::uint64_t panics = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t retries = 0;  ///< Rate-limited adds: errors, conflicts and requeues.

  /// Counts one completed reconcile.
  EVENKEEL_API void add(const ReconcileOutcome& outcome) noexcept;
  EVENKEEL_API ReconcileCounts& operator+=(const ReconcileCounts& other) noexcept;
  bool operator==(const ReconcileCounts&) const = default;
};

/// Returns the outcome of a reconcile that returned.
EVENKEEL_API ReconcileOutcome outcome_of(const Result& result);

/// Returns the outcome of a reconcile that threw. Causes nested with std::throw_with_nested count too: a
/// TerminalError anywhere makes it terminal, else a conflict anywhere makes it a conflict. `stopping`: the
/// reconcile's stop token was triggered, so that Cancelled is not a failure.
EVENKEEL_API ReconcileOutcome outcome_of(std::exception_ptr thrown, bool stopping);

/// The result table: returns the calls on the queue that follow from an outcome. Errors and requeues go
/// through the rate limiter and keep the failure count; success, requeue_after and terminal errors reset it.
/// A cancelled run makes no call: its queue is shut down.
/// Source: controller-runtime reconcileHandler; unlike it a terminal error resets the failure count.
EVENKEEL_API QueueCalls queue_calls(const ReconcileOutcome& outcome) noexcept;

}  // namespace v0
}  // namespace evenkeel
