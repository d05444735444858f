// SPDX-License-Identifier: Apache-2.0
// The state of an event loop: jobs, and the descriptors that wake them. Shared with floors above.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/http/event_loop.hpp>
#include <evenkeel/http/job_runner.hpp>

#include "http/socket_poller.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Jobs that poll() runs. Thread safety: post(), offload(), resolve() and the runner from any thread; all
/// else on the thread of poll().
class EVENKEEL_API EventLoopState {
 public:
  explicit EventLoopState(EventLoopOptions options);
  /// Makes a view of `loop`, which has the same jobs and descriptors, but its own `offload` and limit on
  /// answers.
  EventLoopState(const EventLoopState& loop, std::function<void(std::function<void()> work)> offload,
                 std::size_t max_answer_bytes);
  ~EventLoopState();
  EventLoopState(const EventLoopState&) = delete;
  EventLoopState& operator=(const EventLoopState&) = delete;

  /// Limit on the body of an answer that a transport of this loop collects, besides its own one.
  std::size_t max_answer_bytes() const noexcept { return max_answer_bytes_; }
  int fd() const noexcept { return engine_->sockets.fd(); }
  std::size_t poll();
  void post(std::function<void()> task) { engine_->posted.push(std::move(task)); }
  const std::shared_ptr<JobRunner>& runner() const noexcept { return engine_->runner; }

  /// Wakes `job` whenever `fd` is readable, until unwatch().
  void watch(int fd, Job& job);
  void unwatch(int fd);

  /// Runs `work` where it may block, and then `done` within poll(). Neither may throw.
  void offload(std::function<void()> work, std::function<void()> done);
  /// Looks up the addresses of `host`, and calls `done` within poll().
  void resolve(const std::string& host, EventLoopOptions::Resolved done);

 private:
  struct Engine;
  /// Functions to call, in order.
  class Posted final : public Job {
   public:
    explicit Posted(Engine& engine) : engine_(engine) {}
    void push(std::function<void()> task) EVENKEEL_EXCLUDES(mutex_);
    void run() noexcept override EVENKEEL_EXCLUDES(mutex_);

   private:
    Engine& engine_;
    Mutex mutex_;
    std::vector<std::function<void()>> tasks_ EVENKEEL_GUARDED_BY(mutex_);
  };
  /// All that a loop and its views share.
  struct Engine {
    explicit Engine(std::shared_ptr<const Clock> clock);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    http::detail::SocketPoller sockets = {};
    const std::shared_ptr<JobRunner> runner;
    Posted posted{*this};
    std::unordered_map<int, Job*> watched = {};
  };

  void run_offloaded(std::function<void()> work);

  const EventLoopOptions options_;
  const std::size_t max_answer_bytes_ = std::numeric_limits<std::size_t>::max();
  const std::shared_ptr<Engine> engine_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
