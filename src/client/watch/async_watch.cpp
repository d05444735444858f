// SPDX-License-Identifier: Apache-2.0
// The asynchronous driver of a watch.
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/watch.hpp>

#include "base/limits.hpp"
#include "client/request/bound_limits.hpp"
#include "client/request/client_state.hpp"
#include "client/request/inflow.hpp"
#include "client/watch/timed_frame_splitter.hpp"
#include "client/watch/watch_flow.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A watch that is driven by its connection and, between connections, by the client's delayer: at any time
/// only one of both calls its private functions, which alone use `flow_` and `listener_`. The mutex guards
/// what the handle's functions see.
class AsyncWatch final : public WatchCall, public std::enable_shared_from_this<AsyncWatch> {
 public:
  AsyncWatch(const Client& client, const ResourceId& resource, WatchOptions options,
             RawWatchListener listener)
      : client_(client.state_),
        limits_(client),
        clock_(client.clock()),
        flow_(client.log(), resource, std::move(options), client.state_->next_seed()),
        listener_(std::move(listener)) {}

  void start() {
    if (limits_.stop().stop_possible()) waker_.emplace(limits_.stop(), Cancel{weak_from_this()});
    start_deadline();
    // The listener is not called here, even if the watch is cancelled already: the caller may hold its lock.
    connect_later(Interruption::noticed_later);
  }

  void cancel() noexcept override { end(End::cancelled); }
  void restart(std::string resource_version) override {
    {
      MutexLock lock(mutex_);
      restart_at_ = std::move(resource_version);
    }
    interrupt();
  }
  void pause() noexcept override { set_paused(true); }
  void resume() noexcept override { set_paused(false); }

 private:
  class Connection;
  struct Cancel {
    std::weak_ptr<AsyncWatch> watch;
    void operator()() const noexcept {
      if (const auto self = watch.lock()) self->cancel();
    }
  };

  enum class End : std::uint8_t { none, cancelled, timeout };

  bool interrupted() const EVENKEEL_REQUIRES(mutex_) { return end_ != End::none || restart_at_; }

  void end(End how) noexcept {
    {
      MutexLock lock(mutex_);
      if (end_ == End::none) end_ = how;
    }
    fetching_.request_stop();
    interrupt();
  }

  void start_deadline() {
    const TimePoint deadline = limits_.deadline();
    if (deadline == TimePoint::max()) return;
    const std::shared_ptr<ClientState> state = client_.lock();
    MutexLock lock(mutex_);
    if (clock_->now() >= deadline) end_ = End::timeout;
    deadline_timer_ = state->delayer.at(deadline, [weak = weak_from_this()](Delayer::Reason reason) {
      const auto self = weak.lock();
      if (self && reason == Delayer::Reason::due) self->end(End::timeout);
    });
  }

  /// Ends what the watch waits for: its connection, its timer, or a restart().
  void interrupt() {
    std::shared_ptr<http::Call> call;
    std::uint64_t timer = 0;
    bool idle = false;
    {
      MutexLock lock(mutex_);
      call = call_;
      timer = std::exchange(timer_, 0);
      idle = std::exchange(idle_, false);
    }
    if (call) call->cancel();
    if (timer != 0) {
      if (const std::shared_ptr<ClientState> state = client_.lock()) state->delayer.drop(timer);
    }
    if (idle) advance();
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

  enum class Interruption : std::uint8_t { noticed, noticed_later };

  /// Goes on without a connection.
  void advance() {
    do {
      std::optional<std::string> version;
      End how = End::none;
      {
        MutexLock lock(mutex_);
        how = end_;
        version = std::exchange(restart_at_, std::nullopt);
        idle_ = how == End::none && !version && flow_.core().state() == WatchCore::State::gone;
        if (idle_) return;
      }
      if (how != End::none) return finish(error_of(how));
      if (version) flow_.restart(std::move(*version), clock_->now());
      if (flow_.core().state() == WatchCore::State::failed) return finish(flow_.core().error());
    } while (!connect_later(Interruption::noticed));
  }

  /// Connects on the delayer's thread, because getting a token may block. Returns false if it was
  /// interrupted.
  bool connect_later(Interruption interruption) {
    const TimePoint when = flow_.core().next_due().value_or(TimePoint::min());
    const std::shared_ptr<ClientState> state = client_.lock();
    if (!state) {
      finish(closed());
      return true;
    }
    MutexLock lock(mutex_);
    if (interruption == Interruption::noticed && interrupted()) return false;
    timer_ = state->delayer.at(when, [self = shared_from_this()](Delayer::Reason reason) {
      {
        MutexLock inner(self->mutex_);
        self->timer_ = 0;
      }
      if (reason == Delayer::Reason::due) return self->connect();
      if (self->client_.expired()) return self->finish(self->closed());
      self->advance();
    });
    return true;
  }

  void connect();

  void on_connected(const std::shared_ptr<http::Call>& call, std::uint64_t connection) {
    bool unwanted = false;
    bool paused = false;
    {
      MutexLock lock(mutex_);
      if (connection != connection_) return;  // it has ended
      call_ = call;
      unwanted = interrupted() || unwanted_;
      paused = paused_;
    }
    if (unwanted) {
      call->cancel();
    } else if (paused) {
      call->pause();
    }
  }

  /// Ends the connection, perhaps before on_connected().
  void drop_connection() {
    std::shared_ptr<http::Call> call;
    {
      MutexLock lock(mutex_);
      unwanted_ = true;
      call = call_;
    }
    if (call) call->cancel();
  }

  void on_head_due(std::uint64_t connection) {
    {
      MutexLock lock(mutex_);
      if (connection != connection_ || answered_) return;
      silent_ = true;
    }
    drop_connection();
  }

  void on_head() {
    {
      MutexLock lock(mutex_);
      answered_ = true;
    }
    drop_timer(&AsyncWatch::head_timer_);
  }

  void drop_timer(std::uint64_t AsyncWatch::*which) {
    std::uint64_t timer = 0;
    {
      MutexLock lock(mutex_);
      timer = std::exchange(this->*which, 0);
    }
    if (timer == 0) return;
    if (const std::shared_ptr<ClientState> state = client_.lock()) state->delayer.drop(timer);
  }

  void on_end(const http::Response& answer, const std::exception_ptr& error) {
    bool silent = false;
    bool wanted = false;
    drop_timer(&AsyncWatch::head_timer_);
    {
      MutexLock lock(mutex_);
      ++connection_;
      call_.reset();
      silent = silent_;
      wanted = !interrupted();
    }
    if (wanted && flow_.core().state() == WatchCore::State::connected) {
      if (silent) {
        flow_.on_silence(clock_->now());
      } else if (is_unsent(error)) {
        if (!flow_.on_unsent(error, clock_->now())) return finish(error);
      } else {
        deliver(flow_.on_end(answer, error, clock_->now()));
      }
    }
    advance();
  }

  void deliver(std::optional<RawWatchEvent> event) {
    if (!event) return;
    {
      MutexLock lock(mutex_);
      if (interrupted()) return;
    }
    listener_.on_event(std::move(*event));
  }

  void finish(const std::exception_ptr& error) {
    waker_.reset();
    drop_timer(&AsyncWatch::deadline_timer_);
    const RawWatchListener listener = std::move(listener_);
    listener.on_end(error);
  }

  std::exception_ptr error_of(End how) {
    const std::string call = describe(flow_.request());
    if (how == End::cancelled) return std::make_exception_ptr(Cancelled(call + ": cancelled"));
    return std::make_exception_ptr(TransportError(TransportErrorCode::timeout, call + ": deadline exceeded"));
  }
  std::exception_ptr closed() {
    return std::make_exception_ptr(
        TransportError(TransportErrorCode::closed, describe(flow_.request()) + ": the client was destroyed"));
  }

  const std::weak_ptr<ClientState> client_;
  const BoundLimits limits_;
  const std::shared_ptr<const Clock> clock_;
  WatchFlow flow_;
  RawWatchListener listener_;
  std::stop_source fetching_;                        // requested when the watch is ended
  std::optional<std::stop_callback<Cancel>> waker_;  // set before the first step, reset by the last one
  Mutex mutex_;
  std::uint64_t connection_ EVENKEEL_GUARDED_BY(mutex_) = 0;  // changes when one begins, and when it ends
  std::shared_ptr<http::Call> call_ EVENKEEL_GUARDED_BY(mutex_);
  std::uint64_t head_timer_ EVENKEEL_GUARDED_BY(mutex_) = 0;  // its number at the delayer, or 0
  bool answered_ EVENKEEL_GUARDED_BY(mutex_) = false;         // on this connection, as the next two
  bool silent_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool unwanted_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::optional<std::string> restart_at_ EVENKEEL_GUARDED_BY(mutex_);
  std::uint64_t timer_ EVENKEEL_GUARDED_BY(mutex_) = 0;  // its number at the delayer, or 0
  bool idle_ EVENKEEL_GUARDED_BY(mutex_) = false;        // waits for restart()
  bool paused_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::uint64_t deadline_timer_ EVENKEEL_GUARDED_BY(mutex_) = 0;  // its number at the delayer, or 0
  End end_ EVENKEEL_GUARDED_BY(mutex_) = End::none;
};

/// One connection of a watch.
class AsyncWatch::Connection final : public http::StreamHandler {
 public:
  explicit Connection(std::shared_ptr<AsyncWatch> watch)
      : watch_(std::move(watch)), splitter_(watch_->clock_) {}

  void on_response(int status, const http::Headers& headers) override {
    answer_.status = status;
    answer_.headers = headers;
    if (status == 200) watch_->flow_.on_accepted();
    watch_->on_head();
  }

  void on_data(std::string_view piece) override {
    if (answer_.status != 200) {
      append_refusal(answer_, piece);
      return;
    }
    const std::shared_ptr<AsyncWatch> watch = watch_;  // a listener may end the connection
    if (!is_open(*watch)) return;
    splitter_.feed(piece);  // throws if a frame is too long or too slow: ends the stream
    while (const auto frame = splitter_.next()) {
      watch->deliver(watch->flow_.on_frame(std::string(*frame), watch->clock_->now()));
      if (!watch_) return;
      if (!is_open(*watch)) return watch->drop_connection();
    }
  }

  void on_end(std::exception_ptr error) override {
    const std::shared_ptr<AsyncWatch> watch = std::exchange(watch_, nullptr);
    watch->on_end(answer_, error);
  }

 private:
  static bool is_open(const AsyncWatch& watch) {
    return watch.flow_.core().state() == WatchCore::State::connected;
  }

  std::shared_ptr<AsyncWatch> watch_;  // until the end
  http::Response answer_;
  TimedFrameSplitter splitter_;
};

void AsyncWatch::connect() {
  const std::shared_ptr<ClientState> state = client_.lock();
  if (!state) return finish(closed());
  std::uint64_t connection = 0;
  {
    MutexLock lock(mutex_);
    if (!interrupted()) connection = ++connection_;
    answered_ = silent_ = unwanted_ = false;
  }
  if (connection == 0) return advance();
  const TimePoint now = clock_->now();
  flow_.on_connecting(now);
  const std::weak_ptr<AsyncWatch> weak = weak_from_this();
  {
    MutexLock lock(mutex_);
    head_timer_ = state->delayer.at(deadline_after(now, limits::watch_head),
                                    [weak, connection](Delayer::Reason reason) {
                                      const auto self = weak.lock();
                                      if (self && reason == Delayer::Reason::due)
                                        self->on_head_due(connection);
                                    });
  }
  std::shared_ptr<http::Call> call;
  try {
    const Client client(state, {.stop = fetching_.get_token()});
    call = client.stream(flow_.request(), std::make_shared<Connection>(shared_from_this()));
  } catch (...) {  // no credentials available, or too few threads or sockets
    const bool wanted = !fetching_.stop_requested();
    if (wanted && !flow_.on_unsent(std::current_exception(), clock_->now()))
      return finish(std::current_exception());
    return advance();
  }
  on_connected(call, connection);
}

std::shared_ptr<WatchCall> start_raw_watch(const Client& client, const ResourceId& resource,
                                           WatchOptions options, RawWatchListener listener) {
  auto watch = std::make_shared<AsyncWatch>(client, resource, std::move(options), std::move(listener));
  watch->start();
  return watch;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
