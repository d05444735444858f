// SPDX-License-Identifier: Apache-2.0
// A WebSocket to a command that a function of the test plays.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <evenkeel/http/web_socket.hpp>
#include <evenkeel/testing/harness.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// Returns the command that a request for the subresource exec describes; nullopt for any other request.
std::optional<Command> command_of(const http::Request& request);

/// Runs the command when its input is complete, at once if it has none, and then has its output and exit
/// code. Nothing waits. Thread safety: one thread at a time.
class ScriptedCommand final : public http::WebSocket {
 public:
  using Run = std::function<ExecResult(const Command&)>;

  /// `run`: not empty.
  ScriptedCommand(Command command, Run run);

  const std::string& protocol() const noexcept override { return protocol_; }
  /// Throws Error if `wanted` cannot happen before the end of the input.
  unsigned wait(unsigned wanted, TimePoint until, const std::stop_token& stop) override;
  std::optional<std::string> receive() override;
  bool send(std::string message) override;
  void close() override { is_over_ = true; }
  std::optional<http::WebSocketClose> closed() const override;

 private:
  void run();

  const std::string protocol_ = "v5.channel.k8s.io";
  Command command_;
  const Run run_;
  std::deque<std::string> messages_;
  bool is_over_ = false;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
