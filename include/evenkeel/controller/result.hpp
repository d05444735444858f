// SPDX-License-Identifier: Apache-2.0
// The result of a reconcile: done, or when to run again. Failures are exceptions, not results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/workqueue/queue_item.hpp>

namespace evenkeel {
inline namespace v0 {

/// The result of one reconcile. Made by done(), requeue() and requeue_after(); a failure is reported by
/// throwing and retried with back-off.
class [[nodiscard]] Result {
 public:
  enum class Kind : std::uint8_t {
    done,           ///< Resets the back-off; the next run is caused by an event.
    requeue,        ///< Runs again when the rate limiter permits; failures are still counted.
    requeue_after,  ///< Resets the back-off; runs again after delay(). See requeue_after() for delays <= 0.
  };

  Result() = default;
  Result(Kind kind, Duration delay, std::string reason)
      : kind_(kind), delay_(delay), reason_(std::move(reason)) {}

  Kind kind() const noexcept { return kind_; }
  Duration delay() const noexcept { return delay_; }
  /// Returns the reason why the object is not done yet, for logs.
  const std::string& reason() const noexcept { return reason_; }
  /// Returns a copy with a priority for the next run: requeue_after(1h).with_priority(Lane::slow). Without
  /// one the next run keeps the priority of this one.
  Result with_priority(Priority priority) const {
    Result copy = *this;
    copy.priority_ = priority.value;
    return copy;
  }
  std::optional<Priority> priority() const noexcept {
    return priority_ ? std::optional<Priority>(*priority_) : std::nullopt;
  }
  bool operator==(const Result&) const = default;

 private:
  Kind kind_ = Kind::done;
  Duration delay_{};
  std::string reason_;
  std::optional<std::int32_t> priority_;
};

/// The object is in its desired state.
inline Result done() {
  return {};
}

/// The object is not in its desired state yet: run again, rate-limited like a failure, but not counted as
/// one.
inline Result requeue(std::string reason = {}) {
  return {Result::Kind::requeue, Duration::zero(), std::move(reason)};
}

/// Run again after `delay`, with the back-off reset. The next run keeps the priority of this one, unless the
/// result or ControllerOptions::requeue_priority sets another: periodic work of objects that were created
/// live has priority 0, and a new object waits behind all of it. ControllerBuilder::every(), or
/// `requeue_priority = Lane::slow` (flag --requeue-priority), lets it wait behind live changes instead.
///
/// A negative delay is a time that has passed: the effect is that of requeue(). Zero means no further run, as
/// in Go, but not done(): a clean-up is not complete, the next step of a Pipeline does not run, and both run
/// again as after requeue().
inline Result requeue_after(Duration delay, std::string reason = {}) {
  return {Result::Kind::requeue_after, delay, std::move(reason)};
}

namespace detail {

/// Returns the result of a run in which something is left to do: requeue() for a delay that is not positive.
inline Result unfinished(Result result) {
  if (result.kind() != Result::Kind::requeue_after || result.delay() > Duration::zero()) return result;
  const std::optional<Priority> priority = result.priority();
  result = requeue(result.reason());
  return priority ? result.with_priority(*priority) : result;
}

}  // namespace detail

/// Thrown by a reconciler for an error that no retry can fix: it is counted and logged, and not retried until
/// the next event. Also recognised if nested inside another exception (std::throw_with_nested).
class EVENKEEL_API TerminalError : public Error {
 public:
  using Error::Error;
};

}  // namespace v0
}  // namespace evenkeel
