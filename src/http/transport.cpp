// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include <evenkeel/base/stop.hpp>
#include <evenkeel/http/transport.hpp>
#include <evenkeel/http/web_socket.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http {
namespace {

/// State shared by the waiting thread and the completion.
struct Exchange {
  Mutex mutex;
  CondVar done;
  std::optional<Outcome<Response>> outcome EVENKEEL_GUARDED_BY(mutex);
};

}  // namespace

Response Transport::fetch(Request request, std::stop_token stop) {
  std::string name = std::string(method_name(request.method)) + " " + request.target;
  if (stop.stop_requested()) throw Cancelled(name + ": cancelled");
  auto exchange = std::make_shared<Exchange>();
  const auto call = send(std::move(request), [exchange](Outcome<Response> outcome) {
    {
      MutexLock lock(exchange->mutex);
      exchange->outcome.emplace(std::move(outcome));
    }
    // Not under the lock, which the woken thread takes first. The exchange lives until this returns.
    exchange->done.notify_all();
  });
  const StopWaker waker(stop, exchange->mutex, exchange->done);
  {
    MutexLock lock(exchange->mutex);
    while (!exchange->outcome && !stop.stop_requested()) exchange->done.wait(lock);
    if (exchange->outcome) {
      // Moved out, so that the transport's thread does not release an error while it is handled here.
      Outcome<Response> outcome = std::move(*exchange->outcome);
      lock.unlock();
      return std::move(outcome).value();
    }
  }
  call->cancel();
  throw Cancelled(name + ": cancelled");
}

std::shared_ptr<WebSocketCall> Transport::start_web_socket(Request request, std::vector<std::string>,
                                                           std::shared_ptr<WebSocketHandler>) {
  throw TransportError(TransportErrorCode::protocol,
                       "GET " + request.target + ": this transport starts no WebSockets");
}

WebSocketAnswer Transport::open_web_socket(Request request, std::vector<std::string>, std::stop_token) {
  throw TransportError(
      TransportErrorCode::protocol,
      std::string(method_name(request.method)) + " " + request.target + ": this transport has no WebSockets");
}

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
