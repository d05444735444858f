// SPDX-License-Identifier: Apache-2.0
#include "client/pods/pod_stream.hpp"

#include <algorithm>

namespace evenkeel {
inline namespace v0 {
namespace detail {

using http::WebSocket;

PodStream::PodStream(const Client& client, const RestRequest& request,
                     const std::vector<std::string>& protocols)
    : client_(client),
      call_(describe(request)),
      stop_(client.call_options().stop.value_or(std::stop_token())),
      deadline_(client.call_options().deadline.value_or(TimePoint::max())),
      socket_(client.open_web_socket(request, protocols)) {
  if (socket_->protocol().empty())
    throw TransportError(TransportErrorCode::protocol, call_ + ": the server chose no subprotocol");
}

void PodStream::wait(unsigned wanted, const std::stop_token& stop) {
  const EitherStop either(stop_, stop);
  if (socket_->wait(wanted, deadline_, either.token()) == 0)
    throw TransportError(TransportErrorCode::timeout, call_ + ": deadline exceeded");
}

std::optional<std::string> PodStream::receive(const std::stop_token& stop) {
  for (;;) {
    if (auto message = socket_->receive()) return message;
    if (socket_->closed()) return std::nullopt;
    wait(WebSocket::readable, stop);
  }
}

void PodStream::send(std::string_view bytes, const std::function<std::string(std::string_view)>& message,
                     const std::stop_token& stop) {
  while (!bytes.empty()) {
    send(message(bytes.substr(0, longest_piece)), stop);
    bytes.remove_prefix(std::min(bytes.size(), longest_piece));
  }
}

void PodStream::send(const std::string& message, const std::stop_token& stop) {
  do {
    wait(WebSocket::writable, stop);
  } while (!socket_->send(message));
  wait(WebSocket::writable, stop);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
