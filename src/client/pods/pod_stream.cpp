// SPDX-License-Identifier: Apache-2.0
#include "client/pods/pod_stream.hpp"

#include <algorithm>
#include <chrono>

namespace evenkeel {
inline namespace v0 {
namespace detail {

using http::WebSocket;

PodStream::PodStream(const Client& client, const RestRequest& request,
                     const std::vector<std::string>& protocols)
    : client_(client),
      call_(describe(request)),
      limits_(client),
      socket_(client.open_web_socket(request, protocols)) {
  if (socket_->protocol().empty())
    throw TransportError(TransportErrorCode::protocol, call_ + ": the server chose no subprotocol");
}

void PodStream::wait(unsigned wanted, const std::stop_token& stop) {
  const EitherStop either(limits_.stop(), stop);
  const unsigned held = socket_->wait(wanted, limits_.deadline(), either.token());
  if (held == 0 || limits_.reached(client_.clock()->now())) limits_.fail(call_);
  if (stop.stop_requested()) throw Cancelled(call_ + ": cancelled");
}

void PodStream::close(TimePoint until, const std::stop_token& stop) {
  const EitherStop either(limits_.stop(), stop);
  socket_->close();
  const std::stop_token any_stop = either.token();
  const TimePoint end = std::min(until, limits_.deadline());
  while (!socket_->closed() && !any_stop.stop_requested() && std::chrono::steady_clock::now() < end &&
         socket_->wait(WebSocket::readable, end, any_stop) != 0)
    socket_->receive();
  if (socket_->closed()) return;
  if (stop.stop_requested()) throw Cancelled(call_ + ": cancelled");
  if (any_stop.stop_requested() || limits_.deadline() < until) limits_.fail(call_);
}

std::optional<std::string> PodStream::receive(const std::stop_token& stop) {
  for (;;) {
    if (socket_->closed()) return socket_->receive();
    wait(WebSocket::readable, stop);
    if (auto message = socket_->receive()) return message;
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
