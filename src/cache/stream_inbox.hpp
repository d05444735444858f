// SPDX-License-Identifier: Apache-2.0
// A bounded buffer between the transport's thread and the cache's threads for the data of the running stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/http/job_runner.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// One event of a stream.
struct StreamInput {
  enum class Kind : std::uint8_t { opened, data, ended };
  Kind kind = Kind::data;
  int status = 0;
  http::Headers headers = {};
  std::string data = {};
  std::exception_ptr error = {};
};

/// Holds the input of one stream at a time; input of older streams is discarded.
/// Thread safety: all members may be called concurrently.
class StreamInbox : public std::enable_shared_from_this<StreamInbox> {
 public:
  StreamInbox(std::shared_ptr<JobRunner> runner, Job& job, std::size_t bytes)
      : runner_(std::move(runner)), job_(&job), limit_(bytes) {}

  /// Ends the current stream and returns the handler for the next one.
  std::shared_ptr<http::StreamHandler> open();
  /// Sets the call that open()'s handler belongs to.
  void attach(std::shared_ptr<http::Call> call);
  /// Takes the oldest input; returns false if there is none.
  bool take(StreamInput& input);
  /// Ends the current stream and discards its input.
  void end_stream();
  /// Calls end_stream(), and never wakes the job again.
  void close();

 private:
  class Handler;
  void push(std::uint64_t stream, StreamInput input) EVENKEEL_EXCLUDES(mutex_);
  void reset(MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;  // with the lock held, and released after
  void apply_pause() EVENKEEL_EXCLUDES(pausing_, mutex_);

  const std::shared_ptr<JobRunner> runner_;
  Mutex pausing_;  // held during call->pause(), so that its last call matches paused_
  Mutex mutex_;
  Job* job_ EVENKEEL_GUARDED_BY(mutex_);  // null once closed
  const std::size_t limit_;
  std::deque<StreamInput> inputs_ EVENKEEL_GUARDED_BY(mutex_);
  std::size_t bytes_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::uint64_t stream_ EVENKEEL_GUARDED_BY(mutex_) = 0;  // the running one's number
  std::shared_ptr<http::Call> call_ EVENKEEL_GUARDED_BY(mutex_);
  bool paused_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
