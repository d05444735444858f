// SPDX-License-Identifier: Apache-2.0
// The deadline and the stop token of a client, for what repeats or outlives its requests.
// Shared with floors above.
#pragma once

#include <algorithm>
#include <stop_token>
#include <string>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Limits of a loop around the requests of a client. Thread safety: all members may be called concurrently.
class BoundLimits {
 public:
  explicit BoundLimits(const Client& client)
      : stop_(client.call_options().stop.value_or(std::stop_token())),
        deadline_(client.call_options().deadline.value_or(TimePoint::max())) {}

  const std::stop_token& stop() const noexcept { return stop_; }
  /// Returns the time at which the loop ends; TimePoint::max(): none.
  TimePoint deadline() const noexcept { return deadline_; }
  bool reached(TimePoint now) const noexcept { return stop_.stop_requested() || now >= deadline_; }
  /// Waits for `changed`, or until `due` or the deadline. The waker of the stop tokens is the caller's.
  void wait(const Clock& clock, CondVar& changed, MutexLock& lock, TimePoint due = TimePoint::max()) const {
    due = std::min(due, deadline_);
    if (due == TimePoint::max()) {
      clock.wait(changed, lock);
    } else {
      clock.wait_until(changed, lock, due);
    }
  }
  /// Throws the error of `call`, once a limit is reached.
  [[noreturn]] void fail(const std::string& call) const {
    if (stop_.stop_requested()) throw Cancelled(call + ": cancelled");
    throw TransportError(TransportErrorCode::timeout, call + ": deadline exceeded");
  }

 private:
  const std::stop_token stop_;
  const TimePoint deadline_;
};

/// Makes one token of the one that is bound to a client and that of a call. Thread safety: as a local
/// variable.
class EitherStop {
 public:
  EitherStop(const std::stop_token& bound, const std::stop_token& given)
      : on_bound_(bound, Request{source_}), on_given_(given, Request{source_}) {}
  EitherStop(const EitherStop&) = delete;
  EitherStop& operator=(const EitherStop&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  struct Request {
    std::stop_source& source;
    void operator()() const noexcept { source.request_stop(); }
  };
  std::stop_source source_;
  const std::stop_callback<Request> on_bound_;
  const std::stop_callback<Request> on_given_;
};

/// Returns the client for an object that outlives the call in which it is made, and that is ended by its own
/// functions: the deadline and the stop token that are bound to `client` do not apply.
inline Client unbounded(const Client& client) {
  return client.with({.stop = std::stop_token(), .deadline = TimePoint::max()});
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
