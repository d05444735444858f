// SPDX-License-Identifier: Apache-2.0
// What follows from the end of one reconcile: the calls on the queue and what is counted. Pure, so that
// the whole table is tested row by row.
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

/// How one reconcile ended.
enum class OutcomeKind : std::uint8_t {
  success,
  requeue,
  requeue_after,
  error,           ///< It threw; retried with back-off.
  conflict,        ///< It threw an ApiError of reason Conflict: somebody else wrote. Retried, told quietly.
  terminal_error,  ///< It threw a TerminalError; not retried.
  cancelled,       ///< It gave up because the controller is stopping.
};

/// The label that counts it: "success", "requeue", "requeue_after", "error", "conflict", "terminal_error"
/// or "cancelled".
EVENKEEL_API std::string_view outcome_name(OutcomeKind kind) noexcept;

struct ReconcileOutcome {
  OutcomeKind kind = OutcomeKind::success;
  Duration delay = {};       ///< Of requeue_after.
  std::string message = {};  ///< The error, or the reason of a requeue.
  bool panic =
      false;  ///< What was thrown says that the program is wrong: std::logic_error, or no std::exception.
  std::optional<Priority> priority = {};  ///< Of the next run, if the result set one.
  bool timed_out = false;  ///< The reconcile timeout fired, not a shorter one of the reconciler's own.
};

/// Calls on the queue, in this order: forget, then the add. Marking the key done comes after both.
struct QueueCalls {
  enum class Add : std::uint8_t { none, rate_limited, after };
  bool forget = false;
  Add add = Add::none;
  Duration delay = {};  ///< Of Add::after.
  bool operator==(const QueueCalls&) const = default;
};

/// What a controller counted since it started.
struct ReconcileCounts {
  std::uint64_t reconciles = 0;  ///< Ended reconciles; the sum of the outcomes below.
  std::uint64_t success = 0;
  std::uint64_t requeue = 0;
  std::uint64_t requeue_after = 0;
  std::uint64_t error = 0;  ///< Without conflicts; with terminal errors.
  std::uint64_t conflict = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t terminal_error = 0;  ///< Of `error`.
  std::uint64_t panics = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t retries = 0;  ///< Rate-limited adds: errors, conflicts and requeues.

  /// Counts one ended reconcile.
  EVENKEEL_API void add(const ReconcileOutcome& outcome) noexcept;
  EVENKEEL_API ReconcileCounts& operator+=(const ReconcileCounts& other) noexcept;
  bool operator==(const ReconcileCounts&) const = default;
};

/// The outcome of a reconcile that returned.
EVENKEEL_API ReconcileOutcome outcome_of(const Result& result);

/// The outcome of a reconcile that threw. Causes nested with std::throw_with_nested count too: a
/// TerminalError anywhere makes it terminal, else a conflict anywhere makes it a conflict. `stopping`: the
/// reconcile's stop token was triggered, so that Cancelled is no failure.
EVENKEEL_API ReconcileOutcome outcome_of(std::exception_ptr thrown, bool stopping);

/// The result table: what the queue is told. Errors and requeues go through the rate limiter and keep the
/// count of failures; success, requeue_after and terminal errors forget it. Nothing is said for a
/// cancelled run: its queue is shut down.
/// Source: controller-runtime reconcileHandler; unlike it a terminal error forgets.
EVENKEEL_API QueueCalls queue_calls(const ReconcileOutcome& outcome) noexcept;

}  // namespace v0
}  // namespace evenkeel
