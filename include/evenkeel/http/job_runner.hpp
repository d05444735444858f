// SPDX-License-Identifier: Apache-2.0
// A small thread pool for jobs that become ready now or at a given time. Informers work on it, behind the
// transport's thread, so that no watch needs a dedicated thread. An event loop of the program is one without
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A task that a JobRunner runs, never concurrently with itself.
class EVENKEEL_API Job {
 public:
  virtual ~Job() = default;
  /// Does the work that is pending. Called on one of the runner's threads, under no lock. A wake() during the
  /// call makes it run again.
  virtual void run() noexcept = 0;

 private:
  friend class JobRunner;
  // Guarded by the runner's mutex.
  bool queued_ = false;
  bool running_ = false;
  bool again_ = false;
  bool forgotten_ = false;
  TimePoint due_ = TimePoint::max();
};

/// A thread pool whose jobs can also be delayed. The destructor joins the threads. With 0 threads, jobs run
/// in pump() only, which one thread calls at a time.
/// Thread safety: all members may be called concurrently.
/// Lifetime: every job must be forgotten before its destruction, and all jobs before that of the runner.
class EVENKEEL_API JobRunner {
 public:
  JobRunner(std::shared_ptr<const Clock> clock, std::size_t threads);
  /// Makes a runner without threads. `notify` is called, on any thread and under no lock, when pump() has to
  /// be called, or when next_due() becomes earlier, unless pump() is running.
  JobRunner(std::shared_ptr<const Clock> clock, std::function<void()> notify);
  ~JobRunner();
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;

  /// Runs `job` as soon as a thread is free.
  void wake(Job& job) EVENKEEL_EXCLUDES(mutex_);
  /// Runs `job` at `when`; replaces an earlier wake_at() that is still pending. max(): never.
  void wake_at(Job& job, TimePoint when) EVENKEEL_EXCLUDES(mutex_);
  /// Never runs `job` again. Blocks while it is running, unless called by the job itself.
  void forget(Job& job) EVENKEEL_EXCLUDES(mutex_);

  /// Runs ready jobs, and those due when it is called, on the calling thread until there are none; returns
  /// the number of runs.
  std::size_t pump() EVENKEEL_EXCLUDES(mutex_);
  /// Returns the time of the next work for pump(): now, or when the next job is due; std::nullopt if there is
  /// none.
  std::optional<TimePoint> next_due() const EVENKEEL_EXCLUDES(mutex_);

  const Clock& clock() const noexcept { return *clock_; }
  const std::shared_ptr<const Clock>& shared_clock() const noexcept { return clock_; }
  bool has_threads() const noexcept { return !threads_.empty(); }

 private:
  void work() EVENKEEL_EXCLUDES(mutex_);
  // Returns true if a waiting thread must be woken; the runner's busy threads look for jobs when they are
  // done.
  bool push(Job& job) EVENKEEL_REQUIRES(mutex_);
  void set_due(Job& job, TimePoint when) EVENKEEL_REQUIRES(mutex_);
  void wake_due(TimePoint now) EVENKEEL_REQUIRES(mutex_);
  void run_one(MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;  // with the lock held

  const std::shared_ptr<const Clock> clock_;
  const std::function<void()> notify_;
  mutable Mutex mutex_;
  CondVar changed_;   // a job is ready, the earliest due time moved, or the runner is ending
  CondVar finished_;  // a job stopped running
  std::deque<Job*> ready_ EVENKEEL_GUARDED_BY(mutex_);
  std::multimap<TimePoint, Job*> due_ EVENKEEL_GUARDED_BY(mutex_);
  std::map<const Job*, std::thread::id> runners_ EVENKEEL_GUARDED_BY(mutex_);
  bool ending_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool pumping_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // set by the constructor, joined by the destructor
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
