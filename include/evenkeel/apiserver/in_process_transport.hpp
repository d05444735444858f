// SPDX-License-Identifier: Apache-2.0
// A transport without sockets: requests go directly to an API server core in this process, in real time on a
// thread, or step by step in virtual time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct InProcessTransportOptions {
  /// No thread is started: pump() does all work and calls all handlers.
  bool pumped = false;
  /// The caller of all requests; unset: the user of the request's token.
  std::optional<Caller> caller = {};
  /// Maximum number of bytes of a stream passed to a handler at once; 0: unlimited.
  std::size_t largest_piece = 0;
};

/// Responds like a server behind sockets, including fault rules. Requests are answered sequentially, in the
/// order in which they were sent (those that a rule delays, when the delay is over). Times are those of the
/// core's clock: deadlines, delays, idle_timeout (only if a request sets it), bookmarks.
/// Thread safety: all members may be called concurrently, except pump() and next_due(), which one thread
/// calls at a time and no handler may call. Handlers may call all others.
/// Lifetime: keeps the core alive; the destructor ends running requests with TransportErrorCode::closed.
class EVENKEEL_API InProcessTransport final : public http::Transport {
 public:
  explicit InProcessTransport(const std::shared_ptr<SharedCore>& core = std::make_shared<SharedCore>(),
                              InProcessTransportOptions options = {});
  InProcessTransport(std::shared_ptr<detail::CoreHost> host, InProcessTransportOptions options);
  ~InProcessTransport() override;

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override;
  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override;

  /// Does all work that is due at the clock's current time, including requests made by handlers during the
  /// call: answers requests, delivers watch events, runs the core's timed work. Returns the number of
  /// responses and chunks delivered; 0 means that nothing will happen before next_due() or the next request.
  /// Throws std::invalid_argument unless options.pumped.
  std::size_t pump();
  /// Returns the time of the next work for pump(), as far as it depends on time alone; now, if work is
  /// pending. Throws like pump().
  std::optional<TimePoint> next_due() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
