// SPDX-License-Identifier: Apache-2.0
#include "testing/scripted_command.hpp"

#include <utility>

#include <evenkeel/api/json.hpp>

#include "apiserver/shell/request_target.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

// Channels of v5.channel.k8s.io.
constexpr char stdin_channel = 0;
constexpr char stdout_channel = 1;
constexpr char stderr_channel = 2;
constexpr char status_channel = 3;
const std::string end_of_stdin("\xff\0", 2);

std::string status_of(int exit_code) {
  if (exit_code == 0) return R"({"status":"Success"})";
  const std::string code = std::to_string(exit_code);
  return R"({"status":"Failure","reason":"NonZeroExitCode","message":"command terminated with non-zero exit )"
         R"(code: exit status )" +
         code + R"(","details":{"causes":[{"reason":"ExitCode","message":")" + code + R"("}]}})";
}

std::string failure_of(const std::string& reason) {
  Json document = Json::parse(R"({"status":"Failure","reason":"InternalError","code":500})");
  document["message"] = "Internal error occurred: error executing command in container: " + reason;
  return document.dump();
}

}  // namespace

std::optional<Command> command_of(const http::Request& request) {
  const apiserver::RequestTarget target = apiserver::request_target(request);
  if (target.resource != "pods" || target.subresource != "exec") return std::nullopt;
  Command command{.pod = {target.namespace_, target.name}};
  const std::size_t query = request.target.find('?');
  for (std::size_t at = query; at != std::string::npos;) {
    const std::size_t next = request.target.find('&', at + 1);
    const std::string part = request.target.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    const std::size_t equals = part.find('=');
    const std::string value =
        equals == std::string::npos ? "" : http::percent_decode(part.substr(equals + 1));
    if (part.starts_with("command=")) command.words.push_back(value);
    if (part.starts_with("container=")) command.container = value;
    if (part == "stdin=true") command.with_stdin = true;
    at = next;
  }
  return command;
}

ScriptedCommand::ScriptedCommand(Command command, Run run)
    : command_(std::move(command)), run_(std::move(run)) {
  if (!command_.with_stdin) this->run();
}

void ScriptedCommand::run() {
  const auto add = [this](char channel, const std::string& bytes) {
    if (!bytes.empty()) messages_.push_back(channel + bytes);
  };
  try {
    const ExecResult result = run_(command_);
    add(stdout_channel, result.out);
    add(stderr_channel, result.err);
    add(status_channel, status_of(result.exit_code));
  } catch (const std::exception& error) {
    add(status_channel, failure_of(error.what()));
  }
  is_over_ = true;
}

unsigned ScriptedCommand::wait(unsigned wanted, TimePoint, const std::stop_token& stop) {
  if (stop.stop_requested()) throw Cancelled("exec: cancelled");
  const unsigned holds = (is_over_ ? readable : 0U) | writable;
  if ((holds & wanted) != 0) return holds & wanted;
  throw Error(
      "exec: the command is run when its input has ended (ExecSession::close_stdin), and has no output "
      "before");
}

std::optional<std::string> ScriptedCommand::receive() {
  if (messages_.empty()) return std::nullopt;
  std::string message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

bool ScriptedCommand::send(std::string message) {
  if (is_over_) return true;  // the command has ended, and takes nothing
  if (message == end_of_stdin) {
    run();
  } else if (!message.empty() && message.front() == stdin_channel) {
    command_.input += message.substr(1);
  }
  return true;
}

std::optional<http::WebSocketClose> ScriptedCommand::closed() const {
  if (!is_over_ || !messages_.empty()) return std::nullopt;
  return http::WebSocketClose{.code = 1000};
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
