// SPDX-License-Identifier: Apache-2.0
// A few threads that run jobs which become ready now or at a time: what informers work on, behind the
// transport's thread, so that no watch needs a thread of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
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

/// Something that a JobRunner runs; never twice at once.
class EVENKEEL_API Job {
 public:
  virtual ~Job() = default;
  /// Does what there is to do. On one of the runner's threads, under no lock. A wake() that comes meanwhile
  /// makes it run again.
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

/// Thread safety: all members may be called concurrently. Lifetime: every job must be forgotten before it
/// goes, and all before the runner does. The destructor joins the threads. Without threads (0), jobs run in
/// pump() only, which one thread calls at a time.
class EVENKEEL_API JobRunner {
 public:
  JobRunner(std::shared_ptr<const Clock> clock, std::size_t threads);
  ~JobRunner();
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;

  /// Runs `job` soon.
  void wake(Job& job) EVENKEEL_EXCLUDES(mutex_);
  /// Runs `job` at `when`, instead of any earlier wake_at() that is still to come; max() for never.
  void wake_at(Job& job, TimePoint when) EVENKEEL_EXCLUDES(mutex_);
  /// Never runs `job` again. Blocks while it runs, unless called by it.
  void forget(Job& job) EVENKEEL_EXCLUDES(mutex_);

  /// Runs what is ready and due on the calling thread, until nothing is; returns how many jobs it ran.
  std::size_t pump() EVENKEEL_EXCLUDES(mutex_);
  /// When pump() has something to do next: now, or when a job is due; nothing if none is.
  std::optional<TimePoint> next_due() const EVENKEEL_EXCLUDES(mutex_);

  const Clock& clock() const noexcept { return *clock_; }
  bool has_threads() const noexcept { return !threads_.empty(); }

 private:
  void work() EVENKEEL_EXCLUDES(mutex_);
  // Whether somebody should be woken for it; threads of the runner look anyway when they are done.
  bool push(Job& job) EVENKEEL_REQUIRES(mutex_);
  void set_due(Job& job, TimePoint when) EVENKEEL_REQUIRES(mutex_);
  void wake_due() EVENKEEL_REQUIRES(mutex_);
  void run_one(MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;  // with the lock held

  const std::shared_ptr<const Clock> clock_;
  mutable Mutex mutex_;
  CondVar changed_;   // there is a job to run, or the first due time moved, or the end has come
  CondVar finished_;  // a job stopped running
  std::deque<Job*> ready_ EVENKEEL_GUARDED_BY(mutex_);
  std::multimap<TimePoint, Job*> due_ EVENKEEL_GUARDED_BY(mutex_);
  std::map<const Job*, std::thread::id> runners_ EVENKEEL_GUARDED_BY(mutex_);
  bool ending_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // set by the constructor, joined by the destructor
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
