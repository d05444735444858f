// SPDX-License-Identifier: Apache-2.0
// The state of an event loop: jobs, and the descriptors that wake them. Shared with floors above.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/http/event_loop.hpp>
#include <evenkeel/http/job_runner.hpp>

#include "http/readiness.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Jobs that poll() runs. Thread safety: post(), offload() and the runner from any thread; all else on the
/// thread of poll().
class EventLoopState : public std::enable_shared_from_this<EventLoopState> {
 public:
  explicit EventLoopState(EventLoopOptions options);
  ~EventLoopState();
  EventLoopState(const EventLoopState&) = delete;
  EventLoopState& operator=(const EventLoopState&) = delete;

  int fd() const noexcept { return sockets_.fd(); }
  std::size_t poll();
  void post(std::function<void()> task) { posted_.push(std::move(task)); }
  const std::shared_ptr<JobRunner>& runner() const noexcept { return runner_; }

  /// Wakes `job` whenever `fd` is readable, until unwatch().
  void watch(int fd, Job& job);
  void unwatch(int fd);

  /// Runs `work` where it may block, and then `done` within poll(). Neither may throw.
  void offload(std::function<void()> work, std::function<void()> done);
  /// Looks up the addresses of `host`, and calls `done` within poll().
  void resolve(const std::string& host, EventLoopOptions::Resolved done);

 private:
  /// Functions to call, in order.
  class Posted final : public Job {
   public:
    explicit Posted(EventLoopState& loop) : loop_(loop) {}
    void push(std::function<void()> task) EVENKEEL_EXCLUDES(mutex_);
    void run() noexcept override EVENKEEL_EXCLUDES(mutex_);

   private:
    EventLoopState& loop_;
    Mutex mutex_;
    std::vector<std::function<void()>> tasks_ EVENKEEL_GUARDED_BY(mutex_);
  };

  void run_offloaded(std::function<void()> work);

  const EventLoopOptions options_;
  http::detail::Readiness sockets_;
  const std::shared_ptr<JobRunner> runner_;
  Posted posted_;
  std::unordered_map<int, Job*> watched_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
