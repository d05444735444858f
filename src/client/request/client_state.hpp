// SPDX-License-Identifier: Apache-2.0
// State shared by all copies of a client.
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

#include "client/config/credentials.hpp"
#include "client/request/delayer.hpp"
#include "client/request/write_log.hpp"
#include "client/request/write_observer.hpp"
#include "client/request/write_spans.hpp"

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
  /// Logs waits for the flow control that are long, one a second.
  void note_turn(Duration wait, const std::string& call, TimePoint now) EVENKEEL_EXCLUDES(mutex_);
  std::uint64_t next_seed() { return seed_.fetch_add(0x9e3779b97f4a7c15ULL); }

  const Config config;
  const std::shared_ptr<const Clock> clock;
  const Log log;
  const std::string field_owner;
  const Duration timeout;
  const RetryOptions retry;
  const std::shared_ptr<FlowControl> flow_control;  // null: none
  const std::shared_ptr<EventLoop> event_loop;      // null: threads of our own
  const std::shared_ptr<http::Transport> transport;
  const std::shared_ptr<RequestMeter> meter;
  const std::shared_ptr<WriteLog> writes;
  const std::shared_ptr<WriteObservers> observers;
  const std::shared_ptr<Tracer> tracer;           // null: no spans
  const std::shared_ptr<WriteSpans> write_spans;  // null without a tracer
  Credentials credentials;
  Delayer delayer;

 private:
  void add_credentials(http::Headers& headers, const TokenWait& wait);

  std::atomic<std::uint64_t> seed_;
  Mutex mutex_;
  std::unordered_set<std::string> warnings_ EVENKEEL_GUARDED_BY(mutex_);
  TimePoint turn_noted_ EVENKEEL_GUARDED_BY(mutex_) = TimePoint::min();
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
