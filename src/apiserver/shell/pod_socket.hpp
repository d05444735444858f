// SPDX-License-Identifier: Apache-2.0
// The server's end of a WebSocket to a Pod.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <evenkeel/http/message.hpp>

#include "apiserver/shell/pod_channel.hpp"
#include "serve/session.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {

namespace asio = boost::asio;

/// Returns true if the request asks for a WebSocket.
bool asks_for_web_socket(const http::Request& request);
/// Returns the first of the client's subprotocols that is spoken; empty if there is none.
std::string chosen_protocol(const http::Request& request, bool of_port);

/// Passes messages between a client and a channel.
/// Thread safety: one thread at a time (that of the session). Lifetime: keeps itself and the session alive
/// while an operation runs; the context outlives it.
class PodSocket {
 public:
  virtual ~PodSocket() = default;
  /// Accepts the WebSocket, then calls `on_open`. The session is closed at the end.
  virtual void start(const http::Request& request, std::function<void()> on_open) = 0;
  /// The channel may have messages, or room.
  virtual void pump() = 0;
  /// The session has closed.
  virtual void on_closed() = 0;
};

std::shared_ptr<PodSocket> make_pod_socket(http::detail::Session& session, asio::io_context& context,
                                           std::shared_ptr<PodChannel> channel, std::string protocol);

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
