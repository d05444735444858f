// SPDX-License-Identifier: Apache-2.0
// What the transport's thread hands to the cache's threads: the pieces of the running stream, and no more of
// them than fit.
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
#include <evenkeel/cache/detail/job_runner.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// One thing that a stream did.
struct StreamInput {
  enum class Kind : std::uint8_t { opened, data, ended };
  Kind kind = Kind::data;
  int status = 0;
  http::Headers headers = {};
  std::string data = {};
  std::exception_ptr error = {};
};

/// Holds the input of one stream at a time. A new stream makes what the last one still sends go nowhere.
/// Thread safety: all members may be called concurrently.
class StreamInbox : public std::enable_shared_from_this<StreamInbox> {
 public:
  StreamInbox(std::shared_ptr<JobRunner> runner, Job& job, std::size_t bytes)
      : runner_(std::move(runner)), job_(&job), limit_(bytes) {}

  /// The handler for the next stream; ends and forgets the one before.
  std::shared_ptr<http::StreamHandler> open();
  /// The call that open()'s handler belongs to.
  void attach(std::shared_ptr<http::Call> call);
  /// The oldest input; false if there is none.
  bool take(StreamInput& input);
  /// Ends the running stream; nothing comes of it any more.
  void end_stream();
  /// end_stream(), and never wakes the job again.
  void close();

 private:
  class Handler;
  void push(std::uint64_t stream, StreamInput input) EVENKEEL_EXCLUDES(mutex_);
  void reset(MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;  // with the lock held, and released after
  void apply_pause() EVENKEEL_EXCLUDES(pausing_, mutex_);

  const std::shared_ptr<JobRunner> runner_;
  Mutex pausing_;  // held while a call is told paused_, so that the last word told is the last one decided
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
