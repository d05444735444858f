// SPDX-License-Identifier: Apache-2.0
#include "client/request/socket_call.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/request_meter.hpp>

#include "base/caught.hpp"
#include "client/request/client_state.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

/// Reports the answer to the client; forwards everything. Like the handler of a stream it does not keep the
/// client alive.
class AuthorizedSocket final : public http::WebSocketHandler {
 public:
  AuthorizedSocket(const std::shared_ptr<ClientState>& state, http::Headers sent, std::string call,
                   std::shared_ptr<http::WebSocketHandler> inner)
      : state_(state),
        meter_(state->meter),
        sent_(std::move(sent)),
        call_(std::move(call)),
        inner_(std::move(inner)) {}

  void on_response(const http::Response& response) override {
    answered_ = true;
    meter_->streamed(http::Method::get, response.status);
    if (const auto state = state_.lock()) {
      state->note_warnings(response.headers, call_);
      if (response.status == 401 && state->credentials.refreshable()) state->credentials.expire(sent_);
    }
    inner_->on_response(response);
  }
  void on_message(std::string message) override { inner_->on_message(std::move(message)); }
  void on_drained() override { inner_->on_drained(); }
  TimePoint deadline() const override { return inner_->deadline(); }
  void on_end(Outcome<http::WebSocketClose> end) override {
    if (!answered_) meter_->streamed(http::Method::get, 0);
    inner_->on_end(std::move(end));
  }

 private:
  const std::weak_ptr<ClientState> state_;
  const std::shared_ptr<RequestMeter> meter_;
  const http::Headers sent_;
  const std::string call_;
  const std::shared_ptr<http::WebSocketHandler> inner_;
  bool answered_ = false;
};

/// A WebSocket whose credentials may have to be got first. What is asked of it before is done when it starts.
/// Thread safety: all members may be called concurrently.
class SocketCall final : public http::WebSocketCall, public std::enable_shared_from_this<SocketCall> {
 public:
  SocketCall(const std::shared_ptr<ClientState>& state, const CallOptions& options, RestRequest request,
             std::vector<std::string> protocols)
      : state_(state), options_(options), request_(std::move(request)), protocols_(std::move(protocols)) {}

  void start(ClientState& state, const std::shared_ptr<http::WebSocketHandler>& handler) {
    limit_ = deadline_after(state.clock->now(), options_.timeout.value_or(state.timeout));
    limit_ = std::min(limit_, options_.deadline.value_or(TimePoint::max()));
    if (!state.event_loop) {
      prepare(state, options_.stop.value_or(std::stop_token()));
      return open(state, std::move(wire_).value(), handler);
    }
    if (auto wire = state.try_prepare(request_, target_of(request_), limit_))
      return open(state, std::move(*wire), handler);
    state.delayer.block([self = shared_from_this()] { self->prepare_elsewhere(); },
                        [self = shared_from_this(), handler](Delayer::Reason) { self->open_later(handler); });
  }

  void cancel() noexcept override {
    fetching_.request_stop();
    MutexLock lock(mutex_);
    cancelled_ = true;
    if (inner_) inner_->cancel();
  }
  void pause() noexcept override {
    MutexLock lock(mutex_);
    paused_ = true;
    if (inner_) inner_->pause();
  }
  void resume() noexcept override {
    MutexLock lock(mutex_);
    paused_ = false;
    if (inner_) inner_->resume();
  }
  void send(std::string message) override {
    MutexLock lock(mutex_);
    if (inner_) return inner_->send(std::move(message));
    if (closing_) return;
    early_bytes_ += message.size();
    early_.push_back(std::move(message));
  }
  std::size_t unsent() const override {
    MutexLock lock(mutex_);
    return inner_ ? inner_->unsent() : early_bytes_;
  }
  void close() override {
    MutexLock lock(mutex_);
    closing_ = true;
    if (inner_) inner_->close();
  }

 private:
  void prepare(ClientState& state, const std::stop_token& stop) {
    wire_ = state.prepare(request_, target_of(request_), limit_, {.stop = stop, .deadline = limit_});
  }
  void prepare_elsewhere() {
    const auto state = state_.lock();
    if (!state) return;
    try {
      prepare(*state, fetching_.get_token());
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  void open_later(const std::shared_ptr<http::WebSocketHandler>& handler) {
    auto error = caught([&] {
      const auto state = state_.lock();
      if (!state)
        throw TransportError(TransportErrorCode::closed, describe(request_) + ": the client was destroyed");
      if (is_cancelled()) throw Cancelled(describe(request_) + ": cancelled");
      if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
      open(*state, std::move(wire_).value(), handler);
    });
    if (error) handler->on_end(Outcome<http::WebSocketClose>(std::move(error)));
  }

  /// Throws before the handler is used, or not at all.
  void open(ClientState& state, http::Request wire, const std::shared_ptr<http::WebSocketHandler>& handler) {
    wire.guard = options_.write_guard;
    const auto keep = state_.lock();
    auto authorized = std::make_shared<AuthorizedSocket>(keep, wire.headers, describe(request_), handler);
    adopt(state.transport->start_web_socket(std::move(wire), protocols_, std::move(authorized)));
  }
  void adopt(std::shared_ptr<http::WebSocketCall> inner) {
    MutexLock lock(mutex_);
    inner_ = std::move(inner);
    for (std::string& message : std::exchange(early_, {})) inner_->send(std::move(message));
    if (closing_) inner_->close();
    if (paused_) inner_->pause();
    if (cancelled_) inner_->cancel();
  }
  bool is_cancelled() {
    MutexLock lock(mutex_);
    return cancelled_;
  }

  const std::weak_ptr<ClientState> state_;
  const CallOptions options_;
  const RestRequest request_;
  const std::vector<std::string> protocols_;
  TimePoint limit_ = TimePoint::max();
  std::stop_source fetching_;          // requested when the call is cancelled
  std::optional<http::Request> wire_;  // set by prepare(), before open()
  std::exception_ptr error_;
  mutable Mutex mutex_;
  std::shared_ptr<http::WebSocketCall> inner_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<std::string> early_ EVENKEEL_GUARDED_BY(mutex_);
  std::size_t early_bytes_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  bool closing_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool paused_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool cancelled_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::shared_ptr<http::WebSocketCall> start_socket(const std::shared_ptr<ClientState>& state,
                                                  const CallOptions& options, const RestRequest& request,
                                                  const std::vector<std::string>& protocols,
                                                  std::shared_ptr<http::WebSocketHandler> handler) {
  auto call = std::make_shared<SocketCall>(state, options, request, protocols);
  call->start(*state, handler);
  return call;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
