// SPDX-License-Identifier: Apache-2.0
// What a reconciler answers: done, or when to look again. Failures are exceptions, not results.
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

/// The answer of one reconcile. Made by done(), requeue() and requeue_after(); throwing instead means
/// "failed, try again with back-off".
class [[nodiscard]] Result {
 public:
  enum class Kind : std::uint8_t {
    done,           ///< Forgets earlier failures; the next run comes from an event.
    requeue,        ///< Runs again when the rate limiter says so; failures keep counting.
    requeue_after,  ///< Forgets earlier failures; runs again after delay().
  };

  Result() = default;
  Result(Kind kind, Duration delay, std::string reason)
      : kind_(kind), delay_(delay), reason_(std::move(reason)) {}

  Kind kind() const noexcept { return kind_; }
  Duration delay() const noexcept { return delay_; }
  /// For logs: why the object is not done yet.
  const std::string& reason() const noexcept { return reason_; }
  /// The same with a priority for the next run: requeue_after(1h).with_priority(Lane::slow). Without one the
  /// next run keeps the priority of this one.
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

/// The object is as it should be.
inline Result done() {
  return {};
}

/// Not there yet: run again, rate-limited as after a failure, without calling it one.
inline Result requeue(std::string reason = {}) {
  return {Result::Kind::requeue, Duration::zero(), std::move(reason)};
}

/// Run again after `delay`, with the back-off reset. A delay that is not positive is the same as done().
inline Result requeue_after(Duration delay, std::string reason = {}) {
  if (delay <= Duration::zero()) return {};
  return {Result::Kind::requeue_after, delay, std::move(reason)};
}

/// Thrown by a reconciler for what no retry can cure: counted and logged, not retried until the next
/// event. Nested inside another exception (std::throw_with_nested) it counts the same.
class EVENKEEL_API TerminalError : public Error {
 public:
  using Error::Error;
};

}  // namespace v0
}  // namespace evenkeel
