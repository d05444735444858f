// SPDX-License-Identifier: Apache-2.0
// The subprotocols v4 and v5.channel.k8s.io as a server speaks them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/client/pod_exec.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {

/// Numbers of the streams of a process, and of those of a port.
inline constexpr unsigned char input_stream = 0;
inline constexpr unsigned char output_stream = 1;
inline constexpr unsigned char error_stream = 2;
inline constexpr unsigned char status_stream = 3;
inline constexpr unsigned char size_stream = 4;
inline constexpr unsigned char end_of_stream = 255;  ///< Only of v5.
inline constexpr unsigned char data_stream = 0;
inline constexpr unsigned char port_error_stream = 1;

/// A message of a client.
struct ClientMessage {
  std::string bytes = {};  ///< Bytes for the standard input of the command.
  bool ends_input = false;
  std::optional<TerminalSize> size = {};
};

std::string stream_message(unsigned char stream, std::string_view bytes);
/// Returns nullopt for a message without effect: it is empty, or its stream unknown.
std::optional<ClientMessage> client_message(std::string message);
/// Returns the message with the end of a process.
std::string exit_message(int code);
/// Returns the message that says why a process could not be run.
std::string failure_message(const std::string& why);
/// Returns the first message of a stream of a port: its number, in little endian.
std::string port_message(unsigned char stream, std::uint16_t port);

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
