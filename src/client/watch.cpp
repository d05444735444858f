// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <stdexcept>

#include <simdjson.h>

#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/frame_splitter.hpp>
#include <evenkeel/client/watch.hpp>

#include "base/limits.hpp"
#include "client/watch_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t longest_refusal = 64UL * 1024;
/// An event this long after the connection was made ends a period of failures: the next failure is logged
/// again.
constexpr Duration quiet_end = std::chrono::minutes{2};

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

/// A parsed frame. `object` is a view into the frame.
struct Frame {
  std::string type;
  std::string_view object;
  std::string namespace_, name, resource_version;
};

using simdjson::ondemand::json_type;

std::string text_in(simdjson::ondemand::value value) {
  if (value.type() != json_type::string) return {};
  return std::string(std::string_view(value.get_string()));
}

void read_metadata(simdjson::ondemand::object metadata, Frame& frame) {
  for (auto field : metadata) {
    const std::string_view name = field.unescaped_key();
    if (name == "name") {
      frame.name = text_in(field.value());
    } else if (name == "namespace") {
      frame.namespace_ = text_in(field.value());
    } else if (name == "resourceVersion") {
      frame.resource_version = text_in(field.value());
    }
  }
}

/// Throws simdjson_error if it is not an object with the members type and object.
Frame take_apart(std::string& text) {
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  simdjson::ondemand::parser parser;
  auto document = parser.iterate(text.data(), text.size(), text.capacity());
  Frame frame;
  for (auto field : document.get_object()) {
    const std::string_view name = field.unescaped_key();
    if (name == "type") {
      frame.type = text_in(field.value());
    } else if (name == "object") {
      simdjson::ondemand::object object = field.value().get_object();
      for (auto member : object) {
        if (std::string_view(member.unescaped_key()) == "metadata")
          read_metadata(member.value().get_object(), frame);
      }
      object.reset();
      frame.object = object.raw_json();
    }
  }
  if (frame.type.empty() || frame.object.empty()) throw simdjson::simdjson_error(simdjson::NO_SUCH_FIELD);
  return frame;
}

std::optional<WatchEventType> type_of(std::string_view word) {
  if (word == "ADDED") return WatchEventType::added;
  if (word == "MODIFIED") return WatchEventType::modified;
  if (word == "DELETED") return WatchEventType::deleted;
  if (word == "BOOKMARK") return WatchEventType::bookmark;
  return std::nullopt;
}

}  // namespace

class RawWatch::State {
 public:
  State(Client client, const ResourceId& resource, WatchOptions options)
      : client_(std::move(client)),
        resource_(resource),
        options_(std::move(options)),
        core_(options_.resource_version,
              static_cast<std::uint64_t>(client_.clock()->now().time_since_epoch().count()) ^
                  reinterpret_cast<std::uintptr_t>(this)) {}
  ~State() { drop(); }

  std::optional<RawWatchEvent> next(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (inflow_) {
        auto event = read(stop);
        if (event) return event;
        continue;
      }
      switch (core_.state()) {
        case WatchCore::State::failed:
          std::rethrow_exception(core_.error());
        case WatchCore::State::gone:
          throw std::invalid_argument("Watch: the history is gone and restart() was not called");
        default:
          break;
      }
      if (sleep_until(clock(), core_.next_due().value_or(TimePoint::min()), stop)) connect(stop);
    }
    drop();
    return std::nullopt;
  }

  void restart(std::string resource_version) {
    drop();
    const TimePoint now = clock().now();
    core_.restart(std::move(resource_version), now);
    if (core_.next_due() > now)
      note(std::make_exception_ptr(Error(describe(request()) + ": 410 Gone again, without an event since")));
  }

 private:
  const Clock& clock() const { return *client_.clock(); }

  RestRequest request() {
    RestRequest request{
        .resource = resource_, .namespace_ = options_.namespace_, .idle_timeout = options_.idle_timeout};
    const auto add = [&](const char* name, const std::string& value) {
      if (!value.empty()) request.query.emplace_back(name, value);
    };
    add("watch", "true");
    add("allowWatchBookmarks", "true");
    add("labelSelector", options_.label_selector);
    add("fieldSelector", options_.field_selector);
    add("resourceVersion", core_.resource_version());
    // Randomized, so that the watches of many clients do not reconnect together.
    add("timeoutSeconds", std::to_string(300 + core_.random_below(300)));
    return request;
  }

  void connect(const std::stop_token& stop) {
    inflow_ = std::make_shared<Inflow>(options_.max_buffered_bytes);
    core_.on_connecting(clock().now());
    connected_at_ = clock().now();
    head_due_ = deadline_after(clock().now(), limits::watch_head);
    accepted_ = false;
    try {
      inflow_->set_call(client_.with({.stop = stop}).stream(request(), inflow_));
    } catch (const Error&) {  // no credentials available
      inflow_.reset();
      if (stop.stop_requested()) return;
      if (!established_) throw;
      note(std::current_exception());
      core_.on_broken(std::current_exception(), std::nullopt, clock().now());
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
          accepted_ = established_ = true;
          core_.on_accepted();
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
    if (silent) return reject_silence();
    inflow->resume_if_due();
    if (frame) return take(std::move(*frame));
    if (stop.stop_requested()) return std::nullopt;
    return end(*inflow);
  }

  std::optional<RawWatchEvent> take(std::string text) {
    auto frame_text = std::make_shared<std::string>(std::move(text));
    Frame frame;
    try {
      frame = take_apart(*frame_text);
    } catch (const simdjson::simdjson_error& error) {
      return reject(std::string("a frame that is not an event: ") + error.what());
    }
    if (frame.type == "ERROR") {
      drop();
      return refuse(Status::decode(0, frame.object));
    }
    const auto type = type_of(frame.type);
    if (!type) return reject("an event of unknown type " + frame.type);
    core_.on_event(*type == WatchEventType::added, frame.resource_version);
    if (clock().now() - connected_at_ >= quiet_end) noted_.clear();
    if (*type == WatchEventType::bookmark) {
      if (!options_.bookmarks) return std::nullopt;
      return RawWatchEvent{.type = *type, .resource_version = frame.resource_version};
    }
    return RawWatchEvent{
        .type = *type,
        .frame = std::move(frame_text),
        .object = frame.object,
        .resource_version = frame.resource_version,
        .what = object_path({.resource = resource_, .namespace_ = frame.namespace_, .name = frame.name})};
  }

  std::optional<RawWatchEvent> reject(const std::string& problem) {
    drop();
    const auto error = std::make_exception_ptr(DecodeError(describe(request()), problem));
    note(error);
    core_.on_broken(error, std::nullopt, clock().now());
    return std::nullopt;
  }

  std::optional<RawWatchEvent> reject_silence() {
    drop();
    const auto error = std::make_exception_ptr(TransportError(
        TransportErrorCode::timeout,
        describe(request()) + ": the server took the request and did not answer within " +
            std::to_string(std::chrono::duration_cast<std::chrono::seconds>(limits::watch_head).count()) +
            " s"));
    note(error);
    core_.on_broken(error, TransportErrorCode::timeout, clock().now());
    return std::nullopt;
  }

  std::optional<RawWatchEvent> refuse(const Status& status) {
    const std::string call = describe(request());
    core_.on_refused(call, status, clock().now());
    if (core_.state() == WatchCore::State::gone) {
      return RawWatchEvent{.type = WatchEventType::gone, .resource_version = core_.resource_version()};
    }
    if (core_.state() != WatchCore::State::failed) note(std::make_exception_ptr(ApiError(call, status)));
    return std::nullopt;
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
    if (answer.status != 0 && answer.status != 200) return refuse(Status::decode(answer));
    if (!error) {
      core_.on_ended(clock().now());
      return std::nullopt;
    }
    note(error);
    std::optional<TransportErrorCode> code;
    try {
      std::rethrow_exception(error);
    } catch (const TransportError& broken) {
      code = broken.code();
    } catch (...) {
    }
    core_.on_broken(error, code, clock().now());
    return std::nullopt;
  }

  /// Logs a recurring failure once per distinct reason, ignoring numbers; repeats are logged at level debug.
  void note(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& problem) {
      std::string reason = problem.what();
      std::erase_if(reason, [](char c) { return c >= '0' && c <= '9'; });
      const bool news = reason != noted_;
      noted_ = std::move(reason);
      client_.log().write(news ? LogLevel::info : LogLevel::debug, "watch interrupted",
                          {{"kind", resource_.kind}, {"reason", problem.what()}});
    }
  }

  const Client client_;
  const ResourceId resource_;
  const WatchOptions options_;
  WatchCore core_;
  std::shared_ptr<Inflow> inflow_;
  TimePoint connected_at_{};
  TimePoint head_due_{};
  std::string noted_;         // the reason logged last
  bool accepted_ = false;     // on this connection
  bool established_ = false;  // on any connection
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
