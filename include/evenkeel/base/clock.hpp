// SPDX-License-Identifier: Apache-2.0
// Injectable time. All code that reads the time or waits for it does so through a Clock, so that a test can
// run through hours of delays instantly and without sleeping.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

/// Source of time, and the way to wait for it.
/// Thread safety: all members may be called concurrently.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Steady time, for delays, deadlines and rate limits.
  virtual TimePoint now() const noexcept = 0;
  /// Calendar time, for timestamps in documents. May jump.
  virtual WallTime wall_now() const noexcept = 0;

  /// Releases `lock`, blocks until `condition` is notified, and reacquires `lock`. May return early.
  virtual void wait(CondVar& condition, MutexLock& lock) const = 0;
  /// Like wait(), but returns once `deadline` is reached. May return early: re-check both the condition and
  /// now().
  virtual void wait_until(CondVar& condition, MutexLock& lock, TimePoint deadline) const = 0;
};

/// Clock backed by the system's steady and calendar clocks.
class RealClock final : public Clock {
 public:
  TimePoint now() const noexcept override { return std::chrono::steady_clock::now(); }
  WallTime wall_now() const noexcept override {
    return std::chrono::time_point_cast<WallTime::duration>(std::chrono::system_clock::now());
  }
  void wait(CondVar& condition, MutexLock& lock) const override { condition.wait(lock); }
  void wait_until(CondVar& condition, MutexLock& lock, TimePoint deadline) const override {
    condition.wait_until(lock, deadline);
  }
};

/// Returns the clock that is used by default. It has no state.
inline const std::shared_ptr<const Clock>& real_clock() {
  static const std::shared_ptr<const Clock> clock = std::make_shared<const RealClock>();
  return clock;
}

/// Virtual time, which advances only in advance(). A thread that waits through this clock is woken by the
/// thread that advances the time to its deadline; nothing ever sleeps.
///
/// A test with blocked threads first calls wait_for_waiters(n) to be sure that they are parked, and then
/// advance(d). A thread that was notified but has not run yet still counts as a waiter; one whose deadline
/// was reached does not.
/// Thread safety: all members may be called concurrently; advance() must not be called while holding a
/// mutex that a waiter waits with.
class ManualClock final : public Clock {
 public:
  /// Both times start at a fixed, arbitrary point: steady at zero, calendar at 2026-01-01T00:00:00Z.
  ManualClock() = default;
  explicit ManualClock(WallTime wall_start) : wall_start_(wall_start) {}

  TimePoint now() const noexcept override EVENKEEL_EXCLUDES(mutex_) {
    MutexLock guard(mutex_);
    return now_;
  }
  WallTime wall_now() const noexcept override EVENKEEL_EXCLUDES(mutex_) {
    MutexLock guard(mutex_);
    return wall_start_ + std::chrono::duration_cast<WallTime::duration>(now_.time_since_epoch());
  }
  void wait(CondVar& condition, MutexLock& lock) const override { park(condition, lock, TimePoint::max()); }
  void wait_until(CondVar& condition, MutexLock& lock, TimePoint deadline) const override {
    park(condition, lock, deadline);
  }

  /// Advances the time by `by` and wakes every waiter whose deadline is now or earlier.
  void advance(Duration by) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock guard(mutex_);
    now_ = deadline_after(now_, by);
    wake_due(guard);
  }

  /// Advances the time to the earliest deadline of a parked thread and wakes the threads with that deadline.
  /// Does nothing if no thread waits for a deadline. Returns the new time.
  TimePoint advance_to_next() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock guard(mutex_);
    const TimePoint next = earliest();
    if (next != TimePoint::max() && next > now_) now_ = next;
    const TimePoint reached = now_;
    wake_due(guard);
    return reached;
  }

  /// Blocks, in real time, until at least `count` threads are parked in wait() or wait_until(). Throws
  /// std::runtime_error after a minute, because a failing test says more than one that hangs.
  void wait_for_waiters(std::size_t count) const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock guard(mutex_);
    const TimePoint limit = real_clock()->now() + patience;
    while (parked() < count) wait_for_change(guard, limit, "more waiting threads");
  }

  /// Blocks, in real time, until a parked thread waits for a deadline no later than `deadline`: a thread that
  /// was notified may still have to compute its next deadline. Throws like wait_for_waiters().
  void wait_for_deadline(TimePoint deadline) const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock guard(mutex_);
    const TimePoint limit = real_clock()->now() + patience;
    while (earliest() > deadline) wait_for_change(guard, limit, "a thread that waits for a sooner time");
  }

  /// Number of threads parked now.
  std::size_t waiters() const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock guard(mutex_);
    return parked();
  }

 private:
  struct Waiter {
    CondVar* condition;
    Mutex* mutex;
    TimePoint deadline;
    bool due = false;     // its deadline was reached, so it no longer counts as parked
    bool pinned = false;  // a thread in wake_due() is using condition and mutex
  };

  // A waiter registers under its caller's lock, and wake_due() takes that same lock before it notifies, so a
  // waiter that is registered but not yet blocked cannot miss the wake-up.
  void park(CondVar& condition, MutexLock& lock, TimePoint deadline) const EVENKEEL_EXCLUDES(mutex_) {
    Waiter self{.condition = &condition, .mutex = &lock.mutex(), .deadline = deadline};
    {
      MutexLock guard(mutex_);
      if (deadline <= now_) return;
      waiters_.push_back(&self);
      changed_.notify_all();
    }
    condition.wait(lock);
    leave(self, lock);
  }

  // A waiter may leave only while no other thread uses its mutex and condition. It must not hold its own
  // mutex while it waits for that, because the other thread is about to take it.
  void leave(Waiter& self, MutexLock& lock) const EVENKEEL_NO_THREAD_SAFETY_ANALYSIS {
    {
      MutexLock guard(mutex_);
      if (!self.pinned) {
        erase(self);
        return;
      }
    }
    lock.unlock();
    {
      MutexLock guard(mutex_);
      while (self.pinned) changed_.wait(guard);
      erase(self);
    }
    lock.lock();
  }

  void erase(Waiter& self) const EVENKEEL_REQUIRES(mutex_) {
    for (auto at = waiters_.begin(); at != waiters_.end(); ++at) {
      if (*at != &self) continue;
      waiters_.erase(at);
      break;
    }
    changed_.notify_all();
  }

  // The lock order is the caller's mutex, then mutex_, so the guard is released around each wake-up.
  void wake_due(MutexLock& guard) const EVENKEEL_NO_THREAD_SAFETY_ANALYSIS {
    while (Waiter* waiter = next_due()) {
      waiter->due = true;
      waiter->pinned = true;
      guard.unlock();
      {
        MutexLock theirs(*waiter->mutex);
        waiter->condition->notify_all();
      }
      guard.lock();
      waiter->pinned = false;
      changed_.notify_all();
    }
  }

  Waiter* next_due() const EVENKEEL_REQUIRES(mutex_) {
    Waiter* first = nullptr;
    for (Waiter* waiter : waiters_) {
      if (waiter->due || waiter->deadline > now_) continue;
      if (first == nullptr || waiter->deadline < first->deadline) first = waiter;
    }
    return first;
  }

  TimePoint earliest() const EVENKEEL_REQUIRES(mutex_) {
    TimePoint next = TimePoint::max();
    for (const Waiter* waiter : waiters_) {
      if (!waiter->due && waiter->deadline < next) next = waiter->deadline;
    }
    return next;
  }

  static constexpr Duration patience = std::chrono::minutes{1};  // limit of the waits in real time

  void wait_for_change(MutexLock& guard, TimePoint limit, const char* what) const EVENKEEL_REQUIRES(mutex_) {
    if (real_clock()->now() >= limit)
      throw std::runtime_error(std::string("ManualClock: waited a minute for ") + what);
    changed_.wait_until(guard, limit);
  }

  std::size_t parked() const EVENKEEL_REQUIRES(mutex_) {
    std::size_t count = 0;
    for (const Waiter* waiter : waiters_) count += waiter->due ? 0 : 1;
    return count;
  }

  mutable Mutex mutex_;
  mutable CondVar changed_;  // a waiter came, went or was unpinned
  mutable std::vector<Waiter*> waiters_ EVENKEEL_GUARDED_BY(mutex_);
  TimePoint now_ EVENKEEL_GUARDED_BY(mutex_){};
  WallTime wall_start_{std::chrono::seconds{1767225600}};  // set by constructors only
};

}  // namespace v0
}  // namespace evenkeel
