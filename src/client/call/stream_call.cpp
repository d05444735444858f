// SPDX-License-Identifier: Apache-2.0
#include "client/call/stream_call.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <evenkeel/base/mutex.hpp>

#include "base/caught.hpp"
#include "client/request/client_state.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

/// Records a 401, so that the next call does not use the same token; forwards everything else. It does not
/// keep the client alive: the thread that drops the client after closing a stream must hold the last
/// reference.
class AuthorizedStream final : public http::StreamHandler {
 public:
  AuthorizedStream(const std::shared_ptr<ClientState>& state, const http::Request& sent, std::string call,
                   std::shared_ptr<http::StreamHandler> inner)
      : state_(state),
        meter_(state->meter),
        method_(sent.method),
        sent_(sent.headers),
        call_(std::move(call)),
        inner_(std::move(inner)) {}

  void on_response(int status, const http::Headers& headers) override {
    meter_->streamed(method_, status);
    answered_ = true;
    if (const auto state = state_.lock()) {
      state->note_warnings(headers, call_);
      if (status == 401 && state->credentials.refreshable()) state->credentials.expire(sent_);
    }
    inner_->on_response(status, headers);
  }
  void on_data(std::string_view piece) override { inner_->on_data(piece); }
  void on_end(std::exception_ptr error) override {
    if (!answered_) meter_->streamed(method_, 0);
    inner_->on_end(std::move(error));
  }

 private:
  const std::weak_ptr<ClientState> state_;
  const std::shared_ptr<RequestMeter> meter_;
  const http::Method method_;
  bool answered_ = false;  // members are called one at a time
  const http::Headers sent_;
  const std::string call_;
  const std::shared_ptr<http::StreamHandler> inner_;
};

std::shared_ptr<http::Call> send_stream(const std::shared_ptr<ClientState>& state, http::Request wire,
                                        const std::string& call, std::shared_ptr<http::StreamHandler> inner) {
  auto handler = std::make_shared<AuthorizedStream>(state, wire, call, std::move(inner));
  return state->transport->stream(std::move(wire), std::move(handler));
}

/// A stream whose credentials are got first, without blocking. The delayer keeps it alive until it is sent.
class DeferredStream final : public http::Call, public std::enable_shared_from_this<DeferredStream> {
 public:
  DeferredStream(const std::shared_ptr<ClientState>& state, const CallOptions& options, RestRequest request,
                 std::shared_ptr<http::StreamHandler> handler)
      : state_(state), options_(options), request_(std::move(request)), handler_(std::move(handler)) {}

  void start() {
    if (const auto state = state_.lock())
      state->delayer.block([self = shared_from_this()] { self->prepare(); },
                           [self = shared_from_this()](Delayer::Reason) { self->send(); });
  }

  void cancel() noexcept override {
    std::shared_ptr<http::Call> call;
    {
      MutexLock lock(mutex_);
      cancelled_ = true;
      call = call_;
    }
    fetching_.request_stop();
    if (call) call->cancel();
  }
  void pause() noexcept override { set_paused(true); }
  void resume() noexcept override { set_paused(false); }

 private:
  /// Gets the credentials, which may block.
  void prepare() {
    const auto state = state_.lock();
    if (!state) return;
    const TokenWait wait{.stop = fetching_.get_token(),
                         .deadline = options_.deadline.value_or(TimePoint::max())};
    try {
      wire_ = state->prepare(request_, target_of(request_), options_.deadline, wait);
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  void send() {
    const std::shared_ptr<http::StreamHandler> handler = std::move(handler_);
    const auto state = state_.lock();
    if (!state) {
      return handler->on_end(std::make_exception_ptr(
          TransportError(TransportErrorCode::closed, describe(request_) + ": the client was destroyed")));
    }
    if (is_cancelled())
      return handler->on_end(std::make_exception_ptr(Cancelled(describe(request_) + ": cancelled")));
    std::shared_ptr<http::Call> call;
    auto error = caught([&] {
      if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
      call = send_stream(state, std::move(wire_).value(), describe(request_), handler);
    });
    if (error) return handler->on_end(std::move(error));
    adopt(call);
  }

  void adopt(const std::shared_ptr<http::Call>& call) {
    bool cancelled = false;
    bool paused = false;
    {
      MutexLock lock(mutex_);
      call_ = call;
      cancelled = cancelled_;
      paused = paused_;
    }
    if (cancelled) {
      call->cancel();
    } else if (paused) {
      call->pause();
    }
  }

  void set_paused(bool paused) {
    std::shared_ptr<http::Call> call;
    {
      MutexLock lock(mutex_);
      paused_ = paused;
      call = call_;
    }
    if (!call) return;
    if (paused) {
      call->pause();
    } else {
      call->resume();
    }
  }

  bool is_cancelled() {
    MutexLock lock(mutex_);
    return cancelled_;
  }

  const std::weak_ptr<ClientState> state_;
  const CallOptions options_;
  const RestRequest request_;
  std::shared_ptr<http::StreamHandler> handler_;  // until it is sent
  std::stop_source fetching_;                     // requested when the stream is cancelled
  std::optional<http::Request> wire_;             // set by prepare(), before send()
  std::exception_ptr error_;
  Mutex mutex_;
  std::shared_ptr<http::Call> call_ EVENKEEL_GUARDED_BY(mutex_);
  bool cancelled_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool paused_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::shared_ptr<http::Call> open_stream(const std::shared_ptr<ClientState>& state, const CallOptions& options,
                                        const RestRequest& request,
                                        std::shared_ptr<http::StreamHandler> handler) {
  if (!state->event_loop) {
    const TokenWait wait{.stop = options.stop.value_or(std::stop_token()),
                         .deadline = options.deadline.value_or(TimePoint::max())};
    http::Request wire = state->prepare(request, target_of(request), options.deadline, wait);
    return send_stream(state, std::move(wire), describe(request), std::move(handler));
  }
  if (auto wire = state->try_prepare(request, target_of(request), options.deadline))
    return send_stream(state, std::move(*wire), describe(request), std::move(handler));
  auto stream = std::make_shared<DeferredStream>(state, options, request, std::move(handler));
  stream->start();
  return stream;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
