// SPDX-License-Identifier: Apache-2.0
// The subprotocol of a forwarded port: two channels, data and errors, each of which begins with the port.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/base/object_key.hpp>
#include <evenkeel/client/rest_request.hpp>
#include <evenkeel/http/web_socket.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Throws std::invalid_argument for port 0.
RestRequest port_request(const ObjectKey& pod, std::uint16_t port);
std::string port_data_message(std::string_view piece);

/// Reads what a server sends about a port.
/// Driver:
///  1. calls on_message() with each message of the server;
///  2. calls on_close() at the end of the WebSocket.
/// Thread safety: one thread at a time.
/// Source: k8s.io/cri-streaming pkg/streaming/portforward/websocket.go. The number is in little endian.
class PortCore {
 public:
  /// `call` names the call in errors: "get Pod/portforward default/web".
  PortCore(std::string call, std::uint16_t port)
      : call_(std::move(call)), port_{static_cast<char>(port & 0xff), static_cast<char>(port >> 8)} {}

  /// Returns the bytes of a message; nullopt if it has none. Throws Error if it says that the node could not
  /// connect, and TransportError if it is not understood.
  std::optional<std::string> on_message(std::string message);
  /// Throws TransportError unless the end is a normal one.
  void on_close(const http::WebSocketClose& close) const;

 private:
  const std::string call_;
  const std::string port_;
  std::array<bool, 2> begun_ = {};
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
