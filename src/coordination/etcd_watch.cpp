// SPDX-License-Identifier: Apache-2.0
#include "coordination/etcd_watch.hpp"

#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/frame_splitter.hpp>

#include "base/limits.hpp"
#include "coordination/etcd_wire.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

/// State that the transport's thread passes to the thread of the watch.
class EtcdWatch::Stream final : public http::StreamHandler {
 public:
  enum class News : unsigned char { hint, ended };

  void on_response(int status, const http::Headers&) override { refused_ = status != 200; }

  void on_data(std::string_view piece) override {
    if (refused_ || broken_) return;
    try {
      splitter_.feed(piece);
      while (const std::optional<std::string_view> line = splitter_.next()) {
        const EtcdWatchLine what = watch_line(*line);
        if (what != EtcdWatchLine::nothing) tell(what == EtcdWatchLine::ended);
      }
    } catch (const DecodeError&) {  // an endless line; splitter_ cannot be used any more
      broken_ = true;
      tell(true);
    }
  }

  void on_end(std::exception_ptr) override { tell(true); }

  /// Blocks until there are new events, or a stop (then: ended).
  News wait(const Clock& clock, const std::stop_token& stop) EVENKEEL_EXCLUDES(mutex_) {
    const StopWaker waker(stop, mutex_, changed_);
    MutexLock lock(mutex_);
    while (!hint_ && !ended_ && !stop.stop_requested()) clock.wait(changed_, lock);
    if (stop.stop_requested() || !hint_) return News::ended;
    hint_ = false;
    return News::hint;
  }

 private:
  void tell(bool ended) EVENKEEL_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      (ended ? ended_ : hint_) = true;
    }
    changed_.notify_all();
  }

  FrameSplitter splitter_{FrameSplitterOptions{.max_frame_bytes = limits::etcd_answer}};
  bool refused_ = false;
  bool broken_ = false;
  Mutex mutex_;
  CondVar changed_;
  bool hint_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool ended_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

EtcdWatch::EtcdWatch(std::shared_ptr<EtcdClient> client, const KeyRange& range, std::function<void()> hint)
    : client_(std::move(client)),
      request_(watch_request(range)),
      hint_(std::move(hint)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

EtcdWatch::~EtcdWatch() = default;

void EtcdWatch::run(const std::stop_token& stop) {
  const EtcdStoreOptions& options = client_->options();
  while (!stop.stop_requested()) {
    try {
      follow(stop);
    } catch (const Error&) {
      // Login failed, or a stop; the next try determines which.
    }
    sleep_until(*options.clock, deadline_after(options.clock->now(), options.watch_retry), stop);
  }
}

void EtcdWatch::follow(const std::stop_token& stop) {
  const auto stream = std::make_shared<Stream>();
  const EtcdStream opened = client_->stream(etcd_watch_path, request_, stream, stop);
  while (stream->wait(*client_->options().clock, stop) == Stream::News::hint) hint_();
  opened.call->cancel();
  if (!stop.stop_requested()) client_->distrust(opened);
}

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
