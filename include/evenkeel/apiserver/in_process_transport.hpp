// SPDX-License-Identifier: Apache-2.0
// A transport without sockets: requests go straight to an API server core in this process, in real time on
// a thread, or step by step in virtual time.
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
  /// Nothing happens but in pump(): no thread is started, and all handlers are called by pump().
  bool pumped = false;
  /// Who all requests come from; unset: whom the request's token names.
  std::optional<Caller> caller = {};
  /// Streams are given to their handlers in pieces of at most so many bytes; 0: as they come.
  std::size_t largest_piece = 0;
};

/// Answers like a server behind sockets, fault rules included. Requests are answered one after the other, in
/// the order in which they were sent (those that a rule delays, when their time comes). Times are those of
/// the core's clock: deadlines, delays, idle_timeout (only if a request sets it), bookmarks.
/// Thread safety: all members may be called concurrently, but for pump() and next_due(), which one thread
/// calls at a time and no handler may call. Handlers may call everything else.
/// Lifetime: keeps the core alive; destruction ends what still runs with TransportErrorCode::closed.
class EVENKEEL_API InProcessTransport final : public http::Transport {
 public:
  explicit InProcessTransport(const std::shared_ptr<SharedCore>& core = std::make_shared<SharedCore>(),
                              InProcessTransportOptions options = {});
  InProcessTransport(std::shared_ptr<detail::CoreHost> host, InProcessTransportOptions options);
  ~InProcessTransport() override;

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override;
  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override;

  /// Does everything that is due at the clock's present time, what handlers ask for on the way included:
  /// answers requests, delivers watch events, lets the core do what time brings. Returns how many answers
  /// and pieces were delivered; 0 means that nothing will happen before next_due() or the next request.
  /// Throws std::invalid_argument unless options.pumped.
  std::size_t pump();
  /// When pump() has something to do next, as far as time alone decides it; now, if something waits already.
  /// Throws as pump() does.
  std::optional<TimePoint> next_due() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
