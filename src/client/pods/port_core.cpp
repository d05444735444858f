// SPDX-License-Identifier: Apache-2.0
#include "client/pods/port_core.hpp"

#include <stdexcept>
#include <utility>

#include "client/request/requests.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

enum PortChannel : unsigned char { data_channel = 0, error_channel = 1 };

}  // namespace

RestRequest port_request(const ObjectKey& pod, std::uint16_t port) {
  if (port == 0) throw std::invalid_argument("PodConnection: port 0");
  RestRequest request = object_request(http::Method::get, {"", "v1", "Pod", "pods"}, pod, "portforward");
  request.query.emplace_back("ports", std::to_string(port));
  return request;
}

std::string port_data_message(std::string_view piece) {
  std::string message(1, static_cast<char>(data_channel));
  message += piece;
  return message;
}

std::optional<std::string> PortCore::on_message(std::string message) {
  if (message.size() < 2) return std::nullopt;
  const auto channel = static_cast<unsigned char>(message[0]);
  message.erase(0, 1);
  if (channel > error_channel) {
    throw TransportError(TransportErrorCode::protocol,
                         call_ + ": the server sent a message of channel " + std::to_string(channel));
  }
  if (!std::exchange(begun_.at(channel), true)) {
    if (message == port_) return std::nullopt;
    throw TransportError(TransportErrorCode::protocol,
                         call_ + ": channel " + std::to_string(channel) + " does not begin with the port");
  }
  if (channel == error_channel) throw Error(call_ + ": " + message);
  return message;
}

void PortCore::on_close(const http::WebSocketClose& close) const {
  if (close.code == 1000 || close.code == 1005) return;
  throw TransportError(
      TransportErrorCode::interrupted,
      call_ + ": the server closed the WebSocket (" + std::to_string(close.code) + " " + close.reason + ")");
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
