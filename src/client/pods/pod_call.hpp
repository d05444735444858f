// SPDX-License-Identifier: Apache-2.0
// Common base of the asynchronous calls of a Pod's subresources: limits, messages and the end.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/rest_request.hpp>
#include <evenkeel/http/web_socket.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Receives a WebSocket, and passes on what the program wants of it. A derived class reads the messages.
/// Thread safety: on_*() and take_*() are called on the transport's thread, all else on any.
class PodCall : public http::WebSocketHandler {
 public:
  /// `call` names the call in errors: "get Pod/exec default/web".
  explicit PodCall(std::string call) : call_(std::move(call)) {}

  void on_response(const http::Response& response) final;
  void on_message(std::string message) final;
  void on_end(Outcome<http::WebSocketClose> end) final;
  TimePoint deadline() const final { return deadline_; }

 protected:
  const std::string& call() const { return call_; }
  /// Sends the request. `self` is this object. Throws like Client::start_web_socket().
  void open(const Client& client, const RestRequest& request, const std::vector<std::string>& protocols,
            const std::shared_ptr<PodCall>& self) EVENKEEL_EXCLUDES(mutex_);

  void send(std::string message) EVENKEEL_EXCLUDES(mutex_);
  /// Sends `bytes` in pieces, each in a message that `message` makes of it.
  void send(std::string_view bytes, const std::function<std::string(std::string_view)>& message);
  void close_socket() EVENKEEL_EXCLUDES(mutex_);
  void cancel_socket() noexcept EVENKEEL_EXCLUDES(mutex_);
  void set_paused(bool paused) noexcept EVENKEEL_EXCLUDES(mutex_);
  std::size_t unsent_bytes() const EVENKEEL_EXCLUDES(mutex_);
  /// Ends the call with `error`, soon.
  void fail(std::exception_ptr error) EVENKEEL_EXCLUDES(mutex_);
  /// Ends the call, with `error` unless it is null; on the transport's thread.
  void finish(std::exception_ptr error) EVENKEEL_EXCLUDES(mutex_);

  virtual void take_open(const std::string& protocol) = 0;
  virtual void take_message(std::string message) = 0;
  /// Throws if the WebSocket must not end so.
  virtual void take_close(const http::WebSocketClose& close) = 0;
  /// Called once, last.
  virtual void take_end(std::exception_ptr error) = 0;

 private:
  struct Cancel {
    PodCall& call;
    void operator()() const noexcept { call.cancel_socket(); }
  };
  std::shared_ptr<http::WebSocketCall> socket() const EVENKEEL_EXCLUDES(mutex_);

  const std::string call_;
  TimePoint deadline_ = TimePoint::max();
  http::Response refusal_;  // used on the transport's thread
  bool finished_ = false;   // used on the transport's thread
  mutable Mutex mutex_;
  std::shared_ptr<http::WebSocketCall> socket_ EVENKEEL_GUARDED_BY(mutex_);
  std::exception_ptr failure_ EVENKEEL_GUARDED_BY(mutex_);
  bool ended_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::optional<std::stop_callback<Cancel>> on_stop_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
