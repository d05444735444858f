// SPDX-License-Identifier: Apache-2.0
#include "client/pods/pod_call.hpp"

#include <algorithm>

#include <evenkeel/client/errors.hpp>

#include "base/caught.hpp"
#include "client/pods/pod_stream.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

// The transport's thread may call before the handle is here: it waits for the lock.
void PodCall::open(const Client& client, const RestRequest& request,
                   const std::vector<std::string>& protocols, const std::shared_ptr<PodCall>& self) {
  deadline_ = client.call_options().deadline.value_or(TimePoint::max());
  {
    MutexLock lock(mutex_);
    auto socket = client.start_web_socket(request, protocols, self);
    if (!ended_) socket_ = std::move(socket);
  }
  if (const auto& stop = client.call_options().stop) on_stop_.emplace(*stop, Cancel{*this});
}

std::shared_ptr<http::WebSocketCall> PodCall::socket() const {
  MutexLock lock(mutex_);
  return socket_;
}

void PodCall::send(std::string message) {
  if (const auto to = socket()) to->send(std::move(message));
}

void PodCall::send(std::string_view bytes, const std::function<std::string(std::string_view)>& message) {
  const auto to = socket();
  if (!to) return;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), longest_piece)))
    to->send(message(bytes.substr(0, longest_piece)));
}

void PodCall::close_socket() {
  if (const auto to = socket()) to->close();
}

void PodCall::cancel_socket() noexcept {
  if (const auto to = socket()) to->cancel();
}

void PodCall::set_paused(bool paused) noexcept {
  const auto to = socket();
  if (!to) return;
  if (paused) {
    to->pause();
  } else {
    to->resume();
  }
}

std::size_t PodCall::unsent_bytes() const {
  const auto to = socket();
  return to ? to->unsent() : 0;
}

void PodCall::fail(std::exception_ptr error) {
  {
    MutexLock lock(mutex_);
    if (!failure_) failure_ = std::move(error);
  }
  cancel_socket();
}

void PodCall::on_response(const http::Response& response) {
  if (response.status != 101) {
    refusal_ = response;
    return;
  }
  const std::string* const protocol = response.headers.find("Sec-WebSocket-Protocol");
  auto error = caught([&] {
    if (protocol == nullptr)
      throw TransportError(TransportErrorCode::protocol, call_ + ": the server chose no subprotocol");
    take_open(*protocol);
  });
  if (error) finish(std::move(error));
}

void PodCall::on_message(std::string message) {
  if (finished_) return;
  if (auto error = caught([&] { take_message(std::move(message)); })) finish(std::move(error));
}

void PodCall::on_end(Outcome<http::WebSocketClose> end) {
  if (finished_) return;
  if (refusal_.status != 0) return finish(std::make_exception_ptr(ApiError(call_, Status::decode(refusal_))));
  if (!end.ok()) return finish(end.error());
  finish(caught([&] { take_close(end.value()); }));
}

void PodCall::finish(std::exception_ptr error) {
  if (std::exchange(finished_, true)) return;
  std::shared_ptr<http::WebSocketCall> socket;
  {
    MutexLock lock(mutex_);
    ended_ = true;
    socket.swap(socket_);
    if (error && failure_) error = std::exchange(failure_, nullptr);
  }
  if (socket) socket->cancel();
  take_end(std::move(error));
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
