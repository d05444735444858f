// SPDX-License-Identifier: Apache-2.0
// WebSockets of the curl transport.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/http/web_socket.hpp>

#include "http/tls_files.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

class CurlConnection;

/// A WebSocket that the thread of a loop drives. Thread safety: one thread at a time.
class DrivenWebSocket : public WebSocket {
 public:
  /// Asks the server for the WebSocket, within proceed().
  virtual void begin(const Request& request, const CurlTransportOptions& options,
                     const std::vector<std::string>& protocols) = 0;
  /// Returns the server's answer once it is there. Throws TransportError if the connection broke before.
  virtual std::optional<Response> answer() = 0;
  /// Sends and receives what can be without waiting.
  virtual void proceed() = 0;
  /// Returns what the socket is waited for, as bits of SocketPoller.
  virtual unsigned interest() const = 0;
  /// Returns when to call proceed() though the socket is not ready.
  virtual TimePoint next_due() const = 0;
  /// Returns true if send() takes a message.
  virtual bool may_send() const = 0;
};

std::unique_ptr<DrivenWebSocket> make_driven_web_socket(std::unique_ptr<CurlConnection> connection,
                                                        Duration dead_peer_timeout);

/// See Transport::open_web_socket(). When `closing` is requested, the WebSocket breaks.
WebSocketAnswer open_curl_web_socket(const CurlTransportOptions& options, TlsFiles& tls,
                                     const Request& request, const std::vector<std::string>& protocols,
                                     const std::stop_token& stop, const std::stop_token& closing);

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
