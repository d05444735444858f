// SPDX-License-Identifier: Apache-2.0
// Condition variable for the Mutex of base/mutex.hpp. Code waits through base/clock.hpp.
#pragma once

#include <atomic>
#include <condition_variable>
#include <utility>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/suspender.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

/// A condition variable for a Mutex. Wait through a Clock (base/clock.hpp), not directly, so that virtual
/// time can drive the waiter. Both forms may return early, so re-check the condition. On a fiber they suspend
/// the fiber and leave its thread to others; see docs/fibers.md.
/// Thread safety: all members may be called concurrently. Lifetime: outlives every wait.
class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  /// Notify under the mutex, or after it was held: a fiber that waits is found only then.
  void notify_one() noexcept {
    if (!has_fibers_.load(std::memory_order_relaxed) || !wake_fiber()) condition_.notify_one();
  }
  void notify_all() noexcept {
    if (has_fibers_.load(std::memory_order_relaxed)) wake_fibers();
    condition_.notify_all();
  }

  /// Releases `lock`, blocks until notified, and reacquires `lock`.
  void wait(MutexLock& lock) {
    if (detail::Suspender* const fiber = detail::Suspender::current())
      return suspend(*fiber, lock, TimePoint::max());
    condition_.wait(lock.lock_);
  }
  /// Like wait(), but returns once `deadline` of the steady clock is reached.
  void wait_until(MutexLock& lock, TimePoint deadline) {
    if (detail::Suspender* const fiber = detail::Suspender::current()) return suspend(*fiber, lock, deadline);
    condition_.wait_until(lock.lock_, deadline);
  }

 private:
  /// A member of a ring, alone in it at first.
  struct Link {
    Link* previous = this;
    Link* next = this;
  };
  struct FiberWait : Link {
    explicit FiberWait(detail::Suspender& waiting) : fiber(waiting) {}
    detail::Suspender& fiber;
  };

  [[gnu::noinline]] void suspend(detail::Suspender& fiber, MutexLock& lock,
                                 TimePoint deadline) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS {
    FiberWait self(fiber);
    {
      MutexLock fibers(fibers_mutex_);
      link(self);
    }
    lock.unlock();
    fiber.suspend(deadline);
    {
      // A notifier has the fiber woken under this lock, so none uses it later.
      MutexLock fibers(fibers_mutex_);
      unlink(self);
    }
    lock.lock();
  }

  // Prefers a fiber whose thread is idle: others may be computing for a while. Returns false if none waits.
  [[gnu::noinline]] bool wake_fiber() noexcept {
    MutexLock fibers(fibers_mutex_);
    Link* at = fibers_.next;
    while (at != &fibers_ && !static_cast<FiberWait*>(at)->fiber.is_idle()) at = at->next;
    return wake(at != &fibers_ ? at : fibers_.next);
  }
  [[gnu::noinline]] void wake_fibers() noexcept {
    MutexLock fibers(fibers_mutex_);
    while (wake(fibers_.next)) continue;
  }
  bool wake(Link* at) noexcept EVENKEEL_REQUIRES(fibers_mutex_) {
    if (at == &fibers_) return false;
    unlink(*at);
    static_cast<FiberWait*>(at)->fiber.wake();
    return true;
  }

  void link(FiberWait& wait) EVENKEEL_REQUIRES(fibers_mutex_) {
    wait.previous = std::exchange(fibers_.previous, &wait);
    wait.next = std::exchange(wait.previous->next, &wait);
    has_fibers_.store(true, std::memory_order_relaxed);
  }
  // Without effect on one that is alone.
  void unlink(Link& wait) EVENKEEL_REQUIRES(fibers_mutex_) {
    wait.previous->next = wait.next;
    wait.next->previous = wait.previous;
    wait.previous = wait.next = &wait;
    has_fibers_.store(fibers_.next != &fibers_, std::memory_order_relaxed);
  }

  std::condition_variable condition_;
  // Relaxed: a fiber is linked before it releases the caller's mutex, which the notifier took afterwards.
  std::atomic<bool> has_fibers_ = false;
  Mutex fibers_mutex_;
  Link fibers_ EVENKEEL_GUARDED_BY(fibers_mutex_);  // in order of arrival
};

}  // namespace v0
}  // namespace evenkeel
