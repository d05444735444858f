// SPDX-License-Identifier: Apache-2.0
#include "cache/stream_inbox.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

/// Returns the memory that an input takes in the buffer, which is much more than its data if that is short.
std::size_t size_of(const StreamInput& input) {
  return sizeof(StreamInput) + input.data.size();
}

}  // namespace

class StreamInbox::Handler final : public http::StreamHandler {
 public:
  Handler(std::shared_ptr<StreamInbox> inbox, std::uint64_t stream)
      : inbox_(std::move(inbox)), stream_(stream) {}

  void on_response(int status, const http::Headers& headers) override {
    inbox_->push(stream_, {.kind = StreamInput::Kind::opened, .status = status, .headers = headers});
  }
  void on_data(std::string_view piece) override {
    inbox_->push(stream_, {.kind = StreamInput::Kind::data, .data = std::string(piece)});
  }
  void on_end(std::exception_ptr error) override {
    inbox_->push(stream_, {.kind = StreamInput::Kind::ended, .error = std::move(error)});
  }

 private:
  const std::shared_ptr<StreamInbox> inbox_;
  const std::uint64_t stream_;
};

std::shared_ptr<http::StreamHandler> StreamInbox::open() {
  MutexLock lock(mutex_);
  const std::uint64_t stream = stream_ + 1;
  reset(lock);
  return std::make_shared<Handler>(shared_from_this(), stream);
}

void StreamInbox::attach(std::shared_ptr<http::Call> call) {
  MutexLock lock(mutex_);
  const bool wanted = job_ != nullptr;
  const bool pause = paused_;
  if (wanted) call_ = call;
  lock.unlock();
  // The stream may have delivered much data, or may have been closed, before its call was known.
  if (!wanted)
    call->cancel();
  else if (pause)
    apply_pause();
}

void StreamInbox::push(std::uint64_t stream, StreamInput input) {
  MutexLock lock(mutex_);
  if (stream != stream_ || job_ == nullptr) return;
  bytes_ += size_of(input);
  inputs_.push_back(std::move(input));
  if (inputs_.size() == 1) runner_->wake(*job_);
  if (paused_ || bytes_ <= limit_) return;
  paused_ = true;
  lock.unlock();
  apply_pause();
}

void StreamInbox::apply_pause() {
  MutexLock turn(pausing_);
  MutexLock lock(mutex_);
  const std::shared_ptr<http::Call> call = call_;
  const bool paused = paused_;
  lock.unlock();
  if (call) paused ? call->pause() : call->resume();
}

bool StreamInbox::take(StreamInput& input) {
  MutexLock lock(mutex_);
  if (inputs_.empty()) return false;
  input = std::move(inputs_.front());
  inputs_.pop_front();
  bytes_ -= size_of(input);
  if (!paused_ || bytes_ > limit_ / 2) return true;
  paused_ = false;
  lock.unlock();
  apply_pause();
  return true;
}

void StreamInbox::reset(MutexLock& lock) {
  ++stream_;
  inputs_.clear();
  bytes_ = 0;
  paused_ = false;
  const std::shared_ptr<http::Call> call = std::exchange(call_, nullptr);
  lock.unlock();
  if (call) call->cancel();
}

void StreamInbox::end_stream() {
  MutexLock lock(mutex_);
  reset(lock);
}

void StreamInbox::close() {
  MutexLock lock(mutex_);
  job_ = nullptr;
  reset(lock);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
