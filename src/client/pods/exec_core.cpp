// SPDX-License-Identifier: Apache-2.0
#include "client/pods/exec_core.hpp"

#include <charconv>
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/client/errors.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

enum Channel : unsigned char {
  stdin_channel = 0,
  stdout_channel = 1,
  stderr_channel = 2,
  status_channel = 3,
  resize_channel = 4
};
constexpr unsigned char end_of_channel = 255;

std::string message_of(unsigned char channel, std::string_view bytes) {
  std::string message(1, static_cast<char>(channel));
  message += bytes;
  return message;
}

/// Reads a metav1.Status, whose kind, version and code may be missing here.
Status status_of(const Json& document) {
  Status result{.code = static_cast<int>(document["code"].integer_or(500)),
                .reason = document["reason"].string_or("InternalError"),
                .message = document["message"].string_or("")};
  const Json& causes = document["details"]["causes"];
  if (!causes.is_array()) return result;
  for (const Json& cause : causes.as_array()) {
    result.causes.push_back(
        {.reason = cause["reason"].string_or(""), .message = cause["message"].string_or("")});
  }
  return result;
}

/// Returns the exit code of a command that failed; nullopt if it was not run.
std::optional<int> code_of(const Status& failure) {
  if (failure.reason != "NonZeroExitCode") return std::nullopt;
  for (const StatusCause& cause : failure.causes) {
    int code = 0;
    const char* const end = cause.message.data() + cause.message.size();
    const auto [rest, error] = std::from_chars(cause.message.data(), end, code);
    if (cause.reason == "ExitCode" && error == std::errc() && rest == end) return code;
  }
  return std::nullopt;
}

}  // namespace

std::string stdin_message(std::string_view piece) {
  return message_of(stdin_channel, piece);
}

std::string end_of_stdin_message() {
  return message_of(end_of_channel, std::string_view("\0", 1));
}

std::string resize_message(TerminalSize size) {
  return message_of(resize_channel, R"({"Width":)" + std::to_string(size.width) + R"(,"Height":)" +
                                        std::to_string(size.height) + "}");
}

std::optional<ProcessOutput> ExecCore::on_message(std::string message) {
  if (message.size() < 2) return std::nullopt;  // the server begins with an empty one
  const auto channel = static_cast<unsigned char>(message[0]);
  if (channel == end_of_channel) return std::nullopt;  // the end of the process follows
  message.erase(0, 1);
  switch (channel) {
    case stdout_channel:
    case stderr_channel:
      return ProcessOutput{.is_stderr = channel == stderr_channel, .bytes = std::move(message)};
    case status_channel:
      on_status(message);
      return std::nullopt;
    default:
      throw TransportError(TransportErrorCode::protocol,
                           call_ + ": the server sent a message of channel " + std::to_string(channel));
  }
}

void ExecCore::on_status(const std::string& text) {
  Json document;
  try {
    document = Json::parse(text, "status");
  } catch (const DecodeError& error) {
    throw TransportError(TransportErrorCode::protocol,
                         call_ + ": the status of the command is not understood: " + error.what());
  }
  if (document["status"].string_or("") == "Success") {
    exit_code_ = 0;
    return;
  }
  Status failure = status_of(document);
  exit_code_ = code_of(failure);
  if (!exit_code_) throw ApiError(call_, std::move(failure));
}

void ExecCore::on_close(const http::WebSocketClose& close) const {
  if (exit_code_) return;
  throw TransportError(TransportErrorCode::interrupted,
                       call_ + ": the server closed the WebSocket before the exit code came (" +
                           std::to_string(close.code) + (close.reason.empty() ? "" : " " + close.reason) +
                           ")");
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
