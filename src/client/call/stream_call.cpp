// SPDX-License-Identifier: Apache-2.0
#include "client/call/stream_call.hpp"

#include <cstdint>
#include <exception>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/base/mutex.hpp>

#include "base/caught.hpp"
#include "client/request/client_state.hpp"
#include "client/request/inflow.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

/// A stream with credentials. A first 401 is not passed on: once it is complete, new credentials are got, and
/// the request is sent again if there are any. What may block is done where the delayer does that.
/// It does not keep the client alive: the thread that drops the client after closing a stream must hold the
/// last reference. The transport keeps it alive while a request is sent, and the delayer in between.
/// Thread safety: the functions of Call may be called concurrently with all others.
class AuthorizedStream final : public http::Call,
                               public http::StreamHandler,
                               public std::enable_shared_from_this<AuthorizedStream> {
 public:
  AuthorizedStream(const std::shared_ptr<ClientState>& state, const CallOptions& options, RestRequest request,
                   std::shared_ptr<http::StreamHandler> inner)
      : state_(state),
        meter_(state->meter),
        stop_(options.stop.value_or(std::stop_token())),
        deadline_(options.deadline.value_or(TimePoint::max())),
        request_(std::move(request)),
        inner_(std::move(inner)) {}

  /// Throws before the handler is used, or not at all.
  void start(ClientState& state) {
    const auto deadline = deadline_ == TimePoint::max() ? std::nullopt : std::optional(deadline_);
    if (!state.event_loop)
      return send(state, state.prepare(request_, target_of(request_), deadline,
                                       {.stop = stop_, .deadline = deadline_}));
    if (auto wire = state.try_prepare(request_, target_of(request_), deadline))
      return send(state, std::move(*wire));
    prepare_later(state);
  }

  void cancel() noexcept override {
    std::shared_ptr<http::Call> running;
    {
      MutexLock lock(mutex_);
      cancelled_ = true;
      running = running_;
    }
    fetching_.request_stop();
    if (running) running->cancel();
  }
  void pause() noexcept override { set_paused(true); }
  void resume() noexcept override { set_paused(false); }

  void on_response(int status, const http::Headers& headers) override {
    meter_->streamed(request_.method, status);
    answered_ = true;
    if (const auto state = state_.lock()) {
      state->note_warnings(headers, describe(request_));
      if (status == 401 && state->credentials.refreshable()) {
        if (!refused_) {
          refused_.emplace(http::Response{.status = status, .headers = headers});
          held_back_ = true;
          return;
        }
        state->credentials.expire(sent_);
      }
    }
    inner_->on_response(status, headers);
  }
  void on_data(std::string_view piece) override {
    if (!held_back_) return inner_->on_data(piece);
    append_refusal(*refused_, piece);
  }
  void on_end(std::exception_ptr error) override {
    {
      MutexLock lock(mutex_);
      in_flight_ = false;
      running_.reset();
    }
    if (!answered_) meter_->streamed(request_.method, 0);
    if (!held_back_) return finish(std::move(error));
    const auto state = error ? nullptr : state_.lock();
    if (!state) return pass_refusal(std::move(error));
    prepare_later(*state);
  }

 private:
  void prepare_later(ClientState& state) {
    state.delayer.block([self = shared_from_this()] { self->prepare(); },
                        [self = shared_from_this()](Delayer::Reason) { self->send_prepared(); });
  }

  /// Gets the credentials, which may block.
  void prepare() {
    const auto state = state_.lock();
    if (!state) return;
    const TokenWait wait{.stop = fetching_.get_token(), .deadline = deadline_};
    error_ = caught([&] {
      if (held_back_ && !state->credentials.refresh(sent_, wait)) return;
      const auto deadline = deadline_ == TimePoint::max() ? std::nullopt : std::optional(deadline_);
      wire_ = state->prepare(request_, target_of(request_), deadline, wait);
    });
  }

  void send_prepared() {
    const auto state = state_.lock();
    if (!state) {
      return finish(std::make_exception_ptr(
          TransportError(TransportErrorCode::closed, describe(request_) + ": the client was destroyed")));
    }
    if (is_cancelled()) return finish(std::make_exception_ptr(Cancelled(describe(request_) + ": cancelled")));
    if (error_) return finish(std::exchange(error_, nullptr));
    if (!wire_) return pass_refusal(nullptr);
    held_back_ = false;
    if (refused_) *refused_ = {};
    if (auto error = caught([&] { send(*state, *std::exchange(wire_, std::nullopt)); }))
      finish(std::move(error));
  }

  void send(ClientState& state, http::Request wire) {
    sent_ = wire.headers;
    answered_ = false;
    std::uint64_t mine = 0;
    {
      MutexLock lock(mutex_);
      mine = ++tries_;
      in_flight_ = true;
    }
    const auto call = state.transport->stream(std::move(wire), shared_from_this());
    bool cancelled = false;
    bool paused = false;
    {
      MutexLock lock(mutex_);
      // The stream may have ended before stream() returned, and another one may be open.
      if (!in_flight_ || tries_ != mine) return;
      running_ = call;
      cancelled = cancelled_;
      paused = paused_;
    }
    if (cancelled) {
      call->cancel();
    } else if (paused) {
      call->pause();
    }
  }

  /// Ends with the answer that was held back.
  void pass_refusal(std::exception_ptr error) {
    if (!error)
      error = caught([&] {
        inner_->on_response(refused_->status, refused_->headers);
        inner_->on_data(refused_->body);
      });
    finish(std::move(error));
  }

  void finish(std::exception_ptr error) {
    const auto inner = std::move(inner_);
    inner->on_end(std::move(error));
  }

  void set_paused(bool paused) {
    std::shared_ptr<http::Call> running;
    {
      MutexLock lock(mutex_);
      paused_ = paused;
      running = running_;
    }
    if (!running) return;
    if (paused) {
      running->pause();
    } else {
      running->resume();
    }
  }

  bool is_cancelled() {
    MutexLock lock(mutex_);
    return cancelled_;
  }

  const std::weak_ptr<ClientState> state_;
  const std::shared_ptr<RequestMeter> meter_;
  const std::stop_token stop_;  // of a wait for credentials on the caller's thread
  const TimePoint deadline_;
  const RestRequest request_;
  // Used by one step at a time: the start, the transport's calls, and the delayer's tasks.
  std::shared_ptr<http::StreamHandler> inner_;  // until the end
  http::Headers sent_;
  bool answered_ = false;
  std::optional<http::Response> refused_;  // the first 401
  bool held_back_ = false;                 // the answer is that, and has not been passed on
  std::optional<http::Request> wire_;      // by prepare(), for the step after it
  std::exception_ptr error_;
  std::stop_source fetching_;  // requested when the stream is cancelled
  Mutex mutex_;
  std::shared_ptr<http::Call> running_ EVENKEEL_GUARDED_BY(mutex_);
  std::uint64_t tries_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  bool in_flight_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool cancelled_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool paused_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::shared_ptr<http::Call> open_stream(const std::shared_ptr<ClientState>& state, const CallOptions& options,
                                        const RestRequest& request,
                                        std::shared_ptr<http::StreamHandler> handler) {
  const auto stream = std::make_shared<AuthorizedStream>(state, options, request, std::move(handler));
  stream->start(*state);
  return stream;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
