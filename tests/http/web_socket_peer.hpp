// SPDX-License-Identifier: Apache-2.0
// The server's side of a WebSocket on a scripted connection, right or wrong.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/http/message.hpp>

#include "scripted_server.hpp"

namespace evenkeel::tests {

/// A frame of a client, unmasked.
struct Frame {
  int opcode = 0;
  bool fin = true;
  std::string payload;
};

class WebSocketPeer {
 public:
  static constexpr int text = 1;
  static constexpr int binary = 2;
  static constexpr int closing = 8;
  static constexpr int ping = 9;
  static constexpr int pong = 10;

  explicit WebSocketPeer(Connection& connection) : connection_(connection) {}

  /// Reads the client's request and switches protocols; nullopt if there is none.
  std::optional<http::Request> accept(const std::string& protocol);
  /// Returns the answer that accepts `request`.
  static std::string acceptance(const http::Request& request, const std::string& protocol);
  /// Returns a frame as a server sends it.
  static std::string frame(std::string_view payload, int opcode = binary, bool fin = true);

  bool send_frame(std::string_view payload, int opcode) { return connection_.write(frame(payload, opcode)); }
  bool send(std::string_view payload) { return send_frame(payload, binary); }
  /// Sends a message of a channel.
  bool send(int channel, std::string_view bytes) {
    return send(std::string(1, static_cast<char>(channel)) + std::string(bytes));
  }
  bool close(int code = 1000, std::string_view reason = "");
  /// Returns the next frame; nullopt when the client has closed the connection. Throws std::runtime_error if
  /// it is not masked.
  std::optional<Frame> read();
  /// Returns the next message, which must be one frame; nullopt at the client's close or end.
  std::optional<std::string> read_message();

 private:
  Connection& connection_;
};

}  // namespace evenkeel::tests
