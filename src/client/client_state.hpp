// SPDX-License-Identifier: Apache-2.0
// State shared by all copies of a client, and the plan of one call with its retries.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/request_meter.hpp>

#include "client/credentials.hpp"
#include "client/delayer.hpp"
#include "client/retry_core.hpp"
#include "client/write_log.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// State shared by all copies of a client. Thread safety: all members may be called concurrently; the public
/// fields never change.
class ClientState {
 public:
  ClientState(Config config_, ClientOptions options);

  /// Returns the HTTP request with credentials, for which it waits within the limits of `wait`.
  http::Request prepare(const RestRequest& request, const std::string& target,
                        std::optional<TimePoint> deadline, const TokenWait& wait);
  /// Like prepare(), if the credentials are available without blocking; otherwise nullopt.
  std::optional<http::Request> try_prepare(const RestRequest& request, const std::string& target,
                                           std::optional<TimePoint> deadline);
  /// Logs each distinct warning of the server once, with the first call ("update Widget default/web") that
  /// got it.
  void note_warnings(const http::Headers& headers, const std::string& call) EVENKEEL_EXCLUDES(mutex_);
  std::uint64_t next_seed() { return seed_.fetch_add(0x9e3779b97f4a7c15ULL); }

  const Config config;
  const std::shared_ptr<const Clock> clock;
  const Log log;
  const std::string field_owner;
  const Duration timeout;
  const RetryOptions retry;
  const std::shared_ptr<http::Transport> transport;
  const std::shared_ptr<RequestMeter> meter;
  const std::shared_ptr<WriteLog> writes;
  Credentials credentials;
  Delayer delayer;

 private:
  std::atomic<std::uint64_t> seed_;
  Mutex mutex_;
  std::unordered_set<std::string> warnings_ EVENKEEL_GUARDED_BY(mutex_);
};

/// Properties of a call before it is sent, common to its blocking and asynchronous form.
struct CallPlan {
  RestRequest request;
  std::string target;
  TimePoint deadline;
  RetryCore retry;
  std::shared_ptr<const WriteGuard> guard;
  std::uint64_t writer;
  WriteLog::Pending pending;  // ends with the call
  bool refreshed = false;     // the one retry after a 401 is used up

  CallPlan(const ClientState& state, const RestRequest& request, const CallOptions& options,
           std::uint64_t seed);

  /// Throws the error of a write's guard. The transport checks it again when bytes are about to be sent.
  void attach_guard(http::Request& wire) const {
    if (!guard || request.method == http::Method::get) return;
    guard->check();
    wire.guard = guard;
  }
  /// Decides what follows a response or a failure: null, retry after `delay`; otherwise the error.
  std::exception_ptr classify(const http::Response& response, TimePoint now, Duration& delay);
  std::exception_ptr classify(std::exception_ptr error, TimePoint now, Duration& delay);
  Cancelled cancelled() const { return Cancelled(describe(request) + ": cancelled"); }
};

/// Starts the asynchronous form of a call, which keeps itself alive until it has called `done`.
std::shared_ptr<http::Call> start_call(std::shared_ptr<ClientState> state, CallPlan plan,
                                       std::stop_token stop, http::Completion done);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
