// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/kubelet_messages.hpp"

#include <algorithm>
#include <utility>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {
namespace {

std::optional<TerminalSize> size_of(const std::string& text) {
  try {
    const Json document = Json::parse(text);
    const auto number = [&](const char* name) {
      return static_cast<std::uint16_t>(std::clamp<std::int64_t>(document[name].integer_or(0), 0, 65535));
    };
    return TerminalSize{.width = number("Width"), .height = number("Height")};
  } catch (const DecodeError&) {
    return std::nullopt;  // as a kubelet does, which drops what it cannot read
  }
}

std::string status_message(Json status) {
  status["metadata"] = Json::object();
  return stream_message(status_stream, status.dump());
}

}  // namespace

std::string stream_message(unsigned char stream, std::string_view bytes) {
  std::string message(1, static_cast<char>(stream));
  return message.append(bytes);
}

std::optional<ClientMessage> client_message(std::string message) {
  if (message.size() < 2) return std::nullopt;
  const auto stream = static_cast<unsigned char>(message[0]);
  message.erase(0, 1);
  switch (stream) {
    case input_stream:
      return ClientMessage{.bytes = std::move(message)};
    case end_of_stream:
      if (message[0] != static_cast<char>(input_stream)) return std::nullopt;
      return ClientMessage{.ends_input = true};
    case size_stream:
      return ClientMessage{.size = size_of(message)};
    default:
      return std::nullopt;
  }
}

// Source: k8s.io/kubelet pkg/cri/streaming/remotecommand/exec.go and apimachinery pkg/util/remotecommand.
std::string exit_message(int code) {
  if (code == 0) return status_message(Json::object({{"status", "Success"}}));
  const std::string text = std::to_string(code);
  Json causes = Json::array({Json::object({{"reason", "ExitCode"}, {"message", text}})});
  return status_message(Json::object(
      {{"status", "Failure"},
       {"reason", "NonZeroExitCode"},
       {"message", "command terminated with non-zero exit code: command terminated with exit code " + text},
       {"details", Json::object({{"causes", std::move(causes)}})}}));
}

std::string failure_message(const std::string& why) {
  Json causes = Json::array({Json::object({{"message", why}})});
  return status_message(Json::object({{"status", "Failure"},
                                      {"reason", "InternalError"},
                                      {"message", "Internal error occurred: " + why},
                                      {"details", Json::object({{"causes", std::move(causes)}})},
                                      {"code", 500}}));
}

std::string port_message(unsigned char stream, std::uint16_t port) {
  const char number[] = {static_cast<char>(port & 0xff), static_cast<char>(port >> 8)};
  return stream_message(stream, std::string_view(number, sizeof number));
}

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
