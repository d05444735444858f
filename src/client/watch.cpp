// SPDX-License-Identifier: Apache-2.0
// The blocking driver of a watch.
#include <algorithm>
#include <deque>
#include <stdexcept>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/frame_splitter.hpp>
#include <evenkeel/client/watch.hpp>

#include "base/limits.hpp"
#include "client/watch_flow.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

/// One connection: filled on the transport's thread, drained by the caller of next().
class Inflow final : public http::StreamHandler {
 public:
  explicit Inflow(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  void on_response(int status, const http::Headers& headers) override {
    MutexLock lock(mutex);
    answer_.status = status;
    answer_.headers = headers;
    changed.notify_all();
  }

  void on_data(std::string_view piece) override {
    MutexLock lock(mutex);
    if (answer_.status != 200) {
      answer_.body += piece.substr(0, longest_refusal - std::min(longest_refusal, answer_.body.size()));
      return;
    }
    splitter_.feed(piece);  // throws if a frame is too long, which ends the stream with that error
    while (const auto frame = splitter_.next()) {
      bytes_ += frame->size();
      frames_.emplace_back(*frame);
    }
    if (bytes_ > max_bytes_ && !paused_) {
      paused_ = true;
      if (call_) call_->pause();
    }
    changed.notify_all();
  }

  void on_end(std::exception_ptr error) override {
    MutexLock lock(mutex);
    ended_ = true;
    error_ = std::move(error);
    call_.reset();
    changed.notify_all();
  }

  /// Called after the stream may already have started.
  void set_call(std::shared_ptr<http::Call> call) {
    MutexLock lock(mutex);
    if (ended_) return;
    call_ = std::move(call);
    if (paused_) call_->pause();
  }

  void cancel() {
    std::shared_ptr<http::Call> call;
    {
      MutexLock lock(mutex);
      call = call_;
    }
    if (call) call->cancel();
  }

  std::optional<std::string> take_frame() EVENKEEL_REQUIRES(mutex) {
    if (frames_.empty()) return std::nullopt;
    std::string frame = std::move(frames_.front());
    frames_.pop_front();
    bytes_ -= frame.size();
    if (paused_ && bytes_ <= max_bytes_ / 2) {
      paused_ = false;
      to_resume_ = call_;
    }
    return frame;
  }
  /// Not under the mutex, because a transport may deliver data immediately.
  void resume_if_due() {
    std::shared_ptr<http::Call> call;
    {
      MutexLock lock(mutex);
      call.swap(to_resume_);
    }
    if (call) call->resume();
  }
  bool ended() const EVENKEEL_REQUIRES(mutex) { return ended_; }
  const http::Response& answer() const EVENKEEL_REQUIRES(mutex) { return answer_; }
  std::exception_ptr take_error() EVENKEEL_REQUIRES(mutex) { return std::move(error_); }

  Mutex mutex;
  CondVar changed;

 private:
  const std::size_t max_bytes_;
  http::Response answer_ EVENKEEL_GUARDED_BY(mutex);
  FrameSplitter splitter_ EVENKEEL_GUARDED_BY(mutex);
  std::deque<std::string> frames_ EVENKEEL_GUARDED_BY(mutex);
  std::size_t bytes_ EVENKEEL_GUARDED_BY(mutex) = 0;
  bool paused_ EVENKEEL_GUARDED_BY(mutex) = false;
  bool ended_ EVENKEEL_GUARDED_BY(mutex) = false;
  std::exception_ptr error_ EVENKEEL_GUARDED_BY(mutex);
  std::shared_ptr<http::Call> call_ EVENKEEL_GUARDED_BY(mutex);
  std::shared_ptr<http::Call> to_resume_ EVENKEEL_GUARDED_BY(mutex);
};

std::uint64_t seed_of(const Clock& clock, const void* self) {
  return static_cast<std::uint64_t>(clock.now().time_since_epoch().count()) ^
         reinterpret_cast<std::uintptr_t>(self);
}

}  // namespace

class RawWatch::State {
 public:
  State(Client client, const ResourceId& resource, WatchOptions options)
      : client_(std::move(client)),
        flow_(client_.log(), resource, std::move(options), seed_of(clock(), this)) {}
  ~State() { drop(); }

  std::optional<RawWatchEvent> next(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (inflow_) {
        auto event = read(stop);
        if (event) return event;
        continue;
      }
      switch (flow_.core().state()) {
        case WatchCore::State::failed:
          std::rethrow_exception(flow_.core().error());
        case WatchCore::State::gone:
          throw std::invalid_argument("Watch: the history is gone and restart() was not called");
        default:
          break;
      }
      if (sleep_until(clock(), flow_.core().next_due().value_or(TimePoint::min()), stop)) connect(stop);
    }
    drop();
    return std::nullopt;
  }

  void restart(std::string resource_version) {
    drop();
    flow_.restart(std::move(resource_version), clock().now());
  }

 private:
  const Clock& clock() const { return *client_.clock(); }

  void connect(const std::stop_token& stop) {
    inflow_ = std::make_shared<Inflow>(flow_.options().max_buffered_bytes);
    flow_.on_connecting(clock().now());
    head_due_ = deadline_after(clock().now(), limits::watch_head);
    accepted_ = false;
    try {
      inflow_->set_call(client_.with({.stop = stop}).stream(flow_.request(), inflow_));
    } catch (const Error&) {  // no credentials available
      inflow_.reset();
      if (stop.stop_requested()) return;
      if (!flow_.on_unsent(std::current_exception(), clock().now())) throw;
    }
  }

  void drop() {
    if (inflow_) inflow_->cancel();
    inflow_.reset();
  }

  /// Waits for a frame or the end; returns an event if there is one to deliver.
  std::optional<RawWatchEvent> read(const std::stop_token& stop) {
    const std::shared_ptr<Inflow> inflow = inflow_;
    std::optional<std::string> frame;
    bool silent = false;
    {
      const StopWaker waker(stop, inflow->mutex, inflow->changed);
      MutexLock lock(inflow->mutex);
      for (;;) {
        if (!accepted_ && inflow->answer().status == 200) {
          accepted_ = true;
          flow_.on_accepted();
        }
        frame = inflow->take_frame();
        if (frame || inflow->ended() || stop.stop_requested()) break;
        if (inflow->answer().status != 0) {
          client_.clock()->wait(inflow->changed, lock);
          continue;
        }
        silent = clock().now() >= head_due_;
        if (silent) break;
        client_.clock()->wait_until(inflow->changed, lock, head_due_);
      }
    }
    if (silent) {
      drop();
      flow_.on_silence(clock().now());
      return std::nullopt;
    }
    inflow->resume_if_due();
    if (frame) return take(std::move(*frame));
    if (stop.stop_requested()) return std::nullopt;
    return end(*inflow);
  }

  std::optional<RawWatchEvent> take(std::string frame) {
    auto event = flow_.on_frame(std::move(frame), clock().now());
    if (flow_.core().state() != WatchCore::State::connected) drop();
    return event;
  }

  std::optional<RawWatchEvent> end(Inflow& inflow) {
    http::Response answer;
    std::exception_ptr error;
    {
      MutexLock lock(inflow.mutex);
      answer = inflow.answer();
      error = inflow.take_error();
    }
    inflow_.reset();
    return flow_.on_end(answer, error, clock().now());
  }

  const Client client_;
  WatchFlow flow_;
  std::shared_ptr<Inflow> inflow_;
  TimePoint head_due_{};
  bool accepted_ = false;  // on this connection
};

RawWatch::RawWatch(Client client, const ResourceId& resource, WatchOptions options)
    : state_(std::make_unique<State>(std::move(client), resource, std::move(options))) {}
RawWatch::~RawWatch() = default;
RawWatch::RawWatch(RawWatch&&) noexcept = default;
RawWatch& RawWatch::operator=(RawWatch&&) noexcept = default;

std::optional<RawWatchEvent> RawWatch::next(const std::stop_token& stop) {
  return state_->next(stop);
}
void RawWatch::restart(std::string resource_version) {
  state_->restart(std::move(resource_version));
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
