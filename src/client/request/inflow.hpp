// SPDX-License-Identifier: Apache-2.0
// A streamed response that another thread reads piece by piece.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Maximum size of the body that is read of a rejection.
inline constexpr std::size_t longest_refusal = 64UL * 1024;

inline void append_refusal(http::Response& answer, std::string_view piece) {
  answer.body += piece.substr(0, longest_refusal - std::min(longest_refusal, answer.body.size()));
}

/// One connection, whose body `Splitter` takes apart: filled on the transport's thread, drained by the caller
/// of next().
template <class Splitter>
class Inflow final : public http::StreamHandler {
 public:
  explicit Inflow(std::size_t max_bytes, Splitter splitter = Splitter())
      : max_bytes_(max_bytes), splitter_(std::move(splitter)) {}

  void on_response(int status, const http::Headers& headers) override {
    MutexLock lock(mutex);
    answer_.status = status;
    answer_.headers = headers;
    changed.notify_all();
  }

  void on_data(std::string_view piece) override {
    MutexLock lock(mutex);
    if (answer_.status != 200) {
      append_refusal(answer_, piece);
      return;
    }
    splitter_.feed(piece);  // throws if a frame is too long or too slow: ends the stream
    while (const auto frame = splitter_.next()) {
      bytes_ += size_in_memory(*frame);
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
    bytes_ -= size_in_memory(frame);
    if (paused_ && bytes_ <= max_bytes_ / 2) {
      paused_ = false;
      to_resume_ = call_;
    }
    return frame;
  }
  /// For a LineSplitter, after the end.
  std::optional<std::string> take_rest() EVENKEEL_REQUIRES(mutex) { return splitter_.take_rest(); }
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
  // Empty lines take memory, too.
  static std::size_t size_in_memory(std::string_view frame) { return frame.size() + sizeof(std::string); }

  const std::size_t max_bytes_;
  http::Response answer_ EVENKEEL_GUARDED_BY(mutex);
  Splitter splitter_ EVENKEEL_GUARDED_BY(mutex);
  std::deque<std::string> frames_ EVENKEEL_GUARDED_BY(mutex);
  std::size_t bytes_ EVENKEEL_GUARDED_BY(mutex) = 0;
  bool paused_ EVENKEEL_GUARDED_BY(mutex) = false;
  bool ended_ EVENKEEL_GUARDED_BY(mutex) = false;
  std::exception_ptr error_ EVENKEEL_GUARDED_BY(mutex);
  std::shared_ptr<http::Call> call_ EVENKEEL_GUARDED_BY(mutex);
  std::shared_ptr<http::Call> to_resume_ EVENKEEL_GUARDED_BY(mutex);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
