// SPDX-License-Identifier: Apache-2.0
// The subprotocols v4 and v5.channel.k8s.io: each message begins with the number of its channel.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/client/pod_exec.hpp>
#include <evenkeel/http/web_socket.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the messages of a client.
EVENKEEL_API std::string stdin_message(std::string_view piece);
EVENKEEL_API std::string end_of_stdin_message();  ///< Only of v5.
EVENKEEL_API std::string resize_message(TerminalSize size);

/// Reads what a server sends about a process.
/// Driver:
///  1. calls on_message() with each message of the server;
///  2. calls on_close() at the end of the WebSocket; exit_code() is set then.
/// Thread safety: one thread at a time.
/// Source: k8s.io/apimachinery pkg/util/remotecommand/constants.go and client-go tools/remotecommand.
class EVENKEEL_API ExecCore {
 public:
  /// `call` names the call in errors: "exec Pod default/web".
  explicit ExecCore(std::string call) : call_(std::move(call)) {}

  /// Returns the output of the message, if it has any. Throws ApiError if it says that the command could not
  /// be run, and TransportError if it is not understood.
  std::optional<ProcessOutput> on_message(std::string message);
  /// Throws TransportError if there was no exit code.
  void on_close(const http::WebSocketClose& close) const;
  /// Returns the exit code; nullopt while the process runs.
  std::optional<int> exit_code() const { return exit_code_; }

 private:
  void on_status(const std::string& text);

  const std::string call_;
  std::optional<int> exit_code_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
