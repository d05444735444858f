// SPDX-License-Identifier: Apache-2.0
#include "client/call/async_call.hpp"

#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

#include <evenkeel/base/mutex.hpp>

#include "base/caught.hpp"
#include "client/call/call_plan.hpp"
#include "client/request/client_state.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

/// One asynchronous call with all its attempts. Each step holds a reference, so it lives until `done`. Its
/// reference to the client ends before that: the callee of `done` may drop the client, and the transport's
/// thread must not hold the last reference then.
class AsyncCall final : public http::Call, public std::enable_shared_from_this<AsyncCall> {
 public:
  AsyncCall(std::shared_ptr<ClientState> state, const RestRequest& request, const CallOptions& options,
            http::Completion done)
      : state_(std::move(state)),
        plan_(*state_, request, options),
        stop_(options.stop.value_or(std::stop_token())),
        done_(std::move(done)) {}

  void start() {
    // Before anything runs, and not under the mutex: on a stopped token it calls back immediately.
    if (stop_.stop_possible()) waker_.emplace(stop_, Cancel{weak_from_this()});
    send();
  }

  void cancel() noexcept override {
    std::shared_ptr<http::Call> running;
    std::shared_ptr<ClientState> state;
    std::uint64_t waiting = 0;
    {
      MutexLock lock(mutex_);
      if (cancelled_ || finished_) return;
      cancelled_ = true;
      running = running_;
      waiting = std::exchange(waiting_, 0);
      if (waiting != 0) state = state_;
    }
    fetching_.request_stop();  // not under the mutex: it may end a program
    if (running) running->cancel();
    if (waiting != 0) state->delayer.drop(waiting);
  }

 private:
  struct Cancel {
    std::weak_ptr<AsyncCall> call;
    void operator()() const noexcept {
      if (const auto self = call.lock()) self->cancel();
    }
  };

  /// Begins an attempt.
  void send() {
    if (is_cancelled()) return finish(std::make_exception_ptr(plan_.cancelled()));
    Duration turn{};
    const TimePoint now = state_->clock->now();
    if (auto error = caught([&] { turn = plan_.on_attempt(*state_, now); })) return finish(std::move(error));
    if (turn <= Duration::zero()) return prepare();
    later(deadline_after(now, turn), [self = shared_from_this()] { self->prepare(); });
  }

  void prepare() {
    std::optional<http::Request> request;
    auto error =
        caught([&] { request = state_->try_prepare(plan_.request(), plan_.target(), plan_.deadline()); });
    if (error) return finish(std::move(error));
    if (request) return send(std::move(*request));
    // Fetching a token may take long, so it must not run on the caller's thread.
    block([self = shared_from_this()] { self->fetch_token(); },
          [self = shared_from_this()] { self->on_token(); });
  }

  void fetch_token() {
    try {
      prepared_ = state_->prepare(plan_.request(), plan_.target(), plan_.deadline(), token_wait());
    } catch (...) {
      token_error_ = std::current_exception();
    }
  }

  void on_token() {
    if (const std::exception_ptr error = std::exchange(token_error_, nullptr))
      return finish(is_cancelled() ? std::make_exception_ptr(plan_.cancelled()) : error);
    send(std::move(prepared_));
  }

  TokenWait token_wait() const { return {.stop = fetching_.get_token(), .deadline = plan_.deadline()}; }

  void send(http::Request request) {
    const std::shared_ptr<ClientState> state = state_;  // the completion may run before this returns
    std::uint64_t mine = 0;
    std::shared_ptr<http::Call> call;
    auto error = caught([&] {
      plan_.on_sending(request, state->clock->now());
      {
        MutexLock lock(mutex_);
        mine = ++tries_;
        in_flight_ = true;
      }
      call = state->transport->send(std::move(request),
                                    [self = shared_from_this()](Outcome<http::Response> outcome) {
                                      self->on_outcome(std::move(outcome));
                                    });
    });
    // Rejected by the guard, or by the transport, perhaps on the delayer's thread.
    if (error) return finish(std::move(error));
    bool late = false;
    {
      MutexLock lock(mutex_);
      // The completion may have run before send() returned, and another attempt may be in flight.
      if (in_flight_ && tries_ == mine) running_ = call;
      late = cancelled_;
    }
    if (late) call->cancel();
  }

  void on_outcome(Outcome<http::Response> outcome) {
    {
      MutexLock lock(mutex_);
      in_flight_ = false;
      running_.reset();
    }
    const TimePoint now = state_->clock->now();
    switch (plan_.on_outcome(*state_, outcome, now)) {
      case CallPlan::Next::end:
        return finish(std::move(outcome));
      case CallPlan::Next::wait:
        return later(deadline_after(now, plan_.delay()), [self = shared_from_this()] { self->send(); });
      case CallPlan::Next::refresh:
        // Not on the transport's thread, because getting a fresh token may block.
        return block(
            [self = shared_from_this()] { self->refresh_token(); },
            [self = shared_from_this(), refused = std::move(outcome)] { self->on_refresh(refused); });
    }
  }

  void refresh_token() {
    try {
      refreshed_ = state_->credentials.refresh(plan_.sent(), token_wait());
    } catch (...) {
      token_error_ = std::current_exception();
    }
  }

  void on_refresh(Outcome<http::Response> refused) {
    if (const std::exception_ptr error = std::exchange(token_error_, nullptr))
      return finish(is_cancelled() ? std::make_exception_ptr(plan_.cancelled()) : error);
    if (refreshed_) return send();
    plan_.on_not_refreshed(refused);
    finish(std::move(refused));
  }

  void later(TimePoint when, std::function<void()> step) {
    enqueue([&](Delayer::Task task) { return state_->delayer.at(when, std::move(task)); }, std::move(step));
  }

  /// Runs `work` where it may block, and then `step`.
  void block(std::function<void()> work, std::function<void()> step) {
    enqueue([&](Delayer::Task task) { return state_->delayer.block(std::move(work), std::move(task)); },
            std::move(step));
  }

  template <class Enqueue>
  void enqueue(const Enqueue& enqueue, std::function<void()> step) {
    MutexLock lock(mutex_);
    if (!cancelled_) {
      waiting_ = enqueue([self = shared_from_this(), step = std::move(step)](Delayer::Reason reason) {
        {
          MutexLock inner(self->mutex_);
          self->waiting_ = 0;
        }
        if (reason == Delayer::Reason::due) return step();
        self->finish(std::make_exception_ptr(self->plan_.cancelled()));
      });
      return;
    }
    lock.unlock();
    finish(std::make_exception_ptr(plan_.cancelled()));
    lock.lock();
  }

  bool is_cancelled() {
    MutexLock lock(mutex_);
    return cancelled_;
  }

  void finish(Outcome<http::Response> outcome) {
    std::shared_ptr<ClientState> state;
    {
      MutexLock lock(mutex_);
      if (std::exchange(finished_, true)) return;
      state.swap(state_);
    }
    waker_.reset();  // waits for a callback that runs on another thread, so not under the mutex
    plan_.on_end();
    state.reset();
    const http::Completion done = std::move(done_);
    done(std::move(outcome));
  }

  std::shared_ptr<ClientState> state_;  // swapped out under the mutex by the step that finishes
  CallPlan plan_;                       // used by one step at a time
  const std::stop_token stop_;
  std::stop_source fetching_;  // requested when the call is cancelled
  http::Completion done_;
  http::Request prepared_;  // by fetch_token(), for the step after it, as the next two
  bool refreshed_ = false;
  std::exception_ptr token_error_;
  Mutex mutex_;
  std::shared_ptr<http::Call> running_ EVENKEEL_GUARDED_BY(mutex_);
  std::uint64_t waiting_ EVENKEEL_GUARDED_BY(mutex_) = 0;  // its number at the delayer, or 0
  std::uint64_t tries_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  bool in_flight_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool cancelled_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool finished_ EVENKEEL_GUARDED_BY(mutex_) = false;
  // Set before the first attempt, reset by the step that finishes.
  std::optional<std::stop_callback<Cancel>> waker_;
};

}  // namespace

std::shared_ptr<http::Call> start_call(std::shared_ptr<ClientState> state, const RestRequest& request,
                                       const CallOptions& options, http::Completion done) {
  auto call = std::make_shared<AsyncCall>(std::move(state), request, options, std::move(done));
  call->start();
  return call;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
