// SPDX-License-Identifier: Apache-2.0
// The blocking driver of a watch.
#include <algorithm>
#include <stdexcept>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/watch.hpp>

#include "base/limits.hpp"
#include "base/seed_of.hpp"
#include "client/request/bound_limits.hpp"
#include "client/request/inflow.hpp"
#include "client/watch/timed_frame_splitter.hpp"
#include "client/watch/watch_flow.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

using WatchInflow = Inflow<TimedFrameSplitter>;

}  // namespace

class RawWatch::State {
 public:
  State(Client client, const ResourceId& resource, WatchOptions options)
      : client_(std::move(client)),
        limits_(client_),
        flow_(client_.log(), resource, std::move(options), seed_of(clock(), this)) {}
  ~State() { drop(); }

  std::optional<RawWatchEvent> next(const std::stop_token& given) {
    const EitherStop either(limits_.stop(), given);
    const std::stop_token stop = either.token();
    while (!stop.stop_requested() && !limits_.reached(clock().now())) {
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
      const TimePoint due = flow_.core().next_due().value_or(TimePoint::min());
      if (sleep_until(clock(), std::min(due, limits_.deadline()), stop) && due < limits_.deadline())
        connect(stop);
    }
    drop();
    if (!given.stop_requested()) limits_.fail(describe(flow_.request()));
    return std::nullopt;
  }

  void restart(std::string resource_version) {
    drop();
    flow_.restart(std::move(resource_version), clock().now());
  }

 private:
  const Clock& clock() const { return *client_.clock(); }

  void connect(const std::stop_token& stop) {
    inflow_ = std::make_shared<WatchInflow>(flow_.options().max_buffered_bytes,
                                            TimedFrameSplitter(client_.clock()));
    flow_.on_connecting(clock().now());
    head_due_ = deadline_after(clock().now(), limits::watch_head);
    accepted_ = false;
    try {
      inflow_->set_call(client_.with({.stop = stop}).stream(flow_.request(), inflow_));
    } catch (...) {  // no credentials available, or too few threads or sockets
      inflow_.reset();
      if (stop.stop_requested()) return;
      if (!flow_.on_unsent(std::current_exception(), clock().now())) throw;
    }
  }

  void drop() {
    if (inflow_) inflow_->cancel();
    inflow_.reset();
  }

  /// Waits for a frame or the end, within the limits; returns an event if there is one to deliver.
  std::optional<RawWatchEvent> read(const std::stop_token& stop) {
    const std::shared_ptr<WatchInflow> inflow = inflow_;
    std::optional<std::string> frame;
    bool ended = false;
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
        ended = !frame && inflow->ended();
        const TimePoint now = clock().now();
        silent = inflow->answer().status == 0 && now >= head_due_;
        if (frame || ended || silent || stop.stop_requested() || limits_.reached(now)) break;
        limits_.wait(clock(), inflow->changed, lock,
                     inflow->answer().status == 0 ? head_due_ : TimePoint::max());
      }
    }
    if (silent) {
      drop();
      flow_.on_silence(clock().now());
      return std::nullopt;
    }
    inflow->resume_if_due();
    if (frame) return take(std::move(*frame));
    if (!ended || stop.stop_requested()) return std::nullopt;
    return end(*inflow);
  }

  std::optional<RawWatchEvent> take(std::string frame) {
    auto event = flow_.on_frame(std::move(frame), clock().now());
    if (flow_.core().state() != WatchCore::State::connected) drop();
    return event;
  }

  std::optional<RawWatchEvent> end(WatchInflow& inflow) {
    http::Response answer;
    std::exception_ptr error;
    {
      MutexLock lock(inflow.mutex);
      answer = inflow.answer();
      error = inflow.take_error();
    }
    inflow_.reset();
    if (!is_unsent(error)) return flow_.on_end(answer, error, clock().now());
    if (!flow_.on_unsent(error, clock().now())) std::rethrow_exception(error);
    return std::nullopt;
  }

  const Client client_;
  const BoundLimits limits_;
  WatchFlow flow_;
  std::shared_ptr<WatchInflow> inflow_;
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

namespace {

WatchEvent<DynamicObject> decode_dynamic(detail::RawWatchEvent event) {
  WatchEvent<DynamicObject> result{.type = event.type, .resource_version = std::move(event.resource_version)};
  if (!event.object.empty()) {
    result.object = Snapshot<DynamicObject>(DynamicObject(Json::parse(event.object, event.what)),
                                            event.object, std::move(event.frame));
  }
  return result;
}

}  // namespace

std::optional<WatchEvent<DynamicObject>> ResourceWatch::next(const std::stop_token& stop) {
  auto event = raw_.next(stop);
  if (!event) return std::nullopt;
  return decode_dynamic(std::move(*event));
}

std::shared_ptr<WatchCall> start_watch(const Client& client, const ResourceId& resource, WatchOptions options,
                                       WatchListener<DynamicObject> listener) {
  return detail::start_raw_watch(client, resource, std::move(options),
                                 detail::decoding(std::move(listener), &decode_dynamic));
}

}  // namespace v0
}  // namespace evenkeel
