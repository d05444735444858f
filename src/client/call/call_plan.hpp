// SPDX-License-Identifier: Apache-2.0
// One request with its retries: what both of its drivers, the blocking and the asynchronous one, decide
// alike.
#pragma once

#include <cstdint>
#include <memory>

#include <evenkeel/client/options.hpp>
#include <evenkeel/client/rest_request.hpp>
#include <evenkeel/http/transport.hpp>

#include "client/request/client_state.hpp"
#include "client/request/request_span.hpp"
#include "client/request/retry_core.hpp"
#include "client/request/write_log.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the options for the requests of a call that begins now: they share one deadline.
CallOptions within_one_deadline(const ClientState& state, CallOptions options);

/// The attempts of one request.
/// Driver:
///  0. calls on_attempt() and waits for the delay that it returns;
///  1. makes an HTTP request of `request`, `target` and `deadline`, and passes it to on_sending(), which
///  throws
///     the error of a write guard;
///  2. sends it and passes the outcome to on_outcome();
///  3. does what that returns: ends with the outcome, or begins again at 0, after the delay, or after a fresh
///     token was fetched. If there is none, on_not_refreshed() makes the outcome.
/// Thread safety: one thread at a time.
class CallPlan {
 public:
  enum class Next : std::uint8_t { end, wait, refresh };

  CallPlan(ClientState& state, const RestRequest& request, const CallOptions& options);

  const RestRequest& request() const noexcept { return request_; }
  const std::string& target() const noexcept { return target_; }
  TimePoint deadline() const noexcept { return deadline_; }
  /// The headers of the last attempt.
  const http::Headers& sent() const noexcept { return sent_; }
  /// The delay before the next attempt.
  Duration delay() const noexcept { return delay_; }
  Cancelled cancelled() const { return Cancelled(describe(request_) + ": cancelled"); }

  /// Returns how long the attempt has to wait for the flow control. Throws TransportError if its deadline has
  /// passed, or is before that.
  Duration on_attempt(ClientState& state, TimePoint now);
  void on_sending(http::Request& wire, TimePoint now);
  /// Returns what follows. Outcomes at the end: a response of status 2xx, or the error of the call.
  Next on_outcome(ClientState& state, Outcome<http::Response>& outcome, TimePoint now);
  void on_not_refreshed(Outcome<http::Response>& outcome) const;
  /// Ends the call, before its last reference is gone.
  void on_end();

 private:
  Next on_refused(ClientState& state, Outcome<http::Response>& outcome, TimePoint now);
  Next on_broken(ClientState& state, Outcome<http::Response>& outcome, TimePoint now);
  Next after(ClientState& state, std::optional<Duration> delay, int status, TimePoint now);

  const RestRequest request_;
  const std::string target_;
  const TimePoint deadline_;
  const std::uint64_t writer_;
  const bool waits_;  // for the flow control
  RetryCore retry_;
  std::shared_ptr<const WriteGuard> guard_;
  WriteLog::Pending pending_;  // ends with the call
  bool refreshed_ = false;     // the one retry after a 401 is used up
  http::Headers sent_;
  std::size_t sent_bytes_ = 0;
  TimePoint sent_at_{};
  RequestSpan span_;
  Duration delay_{};
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
