// SPDX-License-Identifier: Apache-2.0
// An event loop and the thread that drives it, shared by many clusters.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <evenkeel/base/time.hpp>
#include <evenkeel/http/event_loop.hpp>
#include <evenkeel/http/job_runner.hpp>

#include "clusters/blocking_pool.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Thread safety: all members may be called concurrently.
/// Lifetime: the destructor joins the thread, which must not drop the last handle; tasks that were posted are
/// done before. `pool` outlives it and what it drives.
class ClusterLoop : public std::enable_shared_from_this<ClusterLoop> {
 public:
  ClusterLoop(std::string name, BlockingPool& pool, std::function<void(std::string_view)> on_thread_start);
  ~ClusterLoop();
  ClusterLoop(const ClusterLoop&) = delete;
  ClusterLoop& operator=(const ClusterLoop&) = delete;

  /// Returns a view of the loop for one client, whose blocking work is that of an owner of its own, and whose
  /// answers are limited.
  std::shared_ptr<EventLoop> loop_of_owner(std::size_t max_answer_bytes) const;
  const std::shared_ptr<JobRunner>& runner() const noexcept;
  /// Runs `task` on the thread.
  void post(std::function<void()> task) { loop_->post(std::move(task)); }

 private:
  void run();

  const std::string name_;
  const std::function<void(std::string_view)> on_thread_start_;
  BlockingPool& pool_;
  const std::shared_ptr<EventLoop> loop_;
  bool ending_ = false;  // used by the thread
  std::thread thread_;
};

/// A function that a loop calls at a time that may be changed.
/// Thread safety: set() may be called concurrently with everything else but the destructor.
class LoopAlarm final : public Job {
 public:
  LoopAlarm(std::shared_ptr<JobRunner> runner, std::function<void()> ring)
      : runner_(std::move(runner)), ring_(std::move(ring)) {}
  ~LoopAlarm() override { runner_->forget(*this); }
  LoopAlarm(const LoopAlarm&) = delete;
  LoopAlarm& operator=(const LoopAlarm&) = delete;

  void set(TimePoint when) { runner_->wake_at(*this, when); }
  void now() { runner_->wake(*this); }
  void run() noexcept override { ring_(); }

 private:
  const std::shared_ptr<JobRunner> runner_;
  const std::function<void()> ring_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
