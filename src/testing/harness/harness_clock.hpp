// SPDX-License-Identifier: Apache-2.0
// The clock of a Harness: waiting by it on the harness's own thread advances the time.
#pragma once

#include <functional>
#include <thread>
#include <utility>

#include <evenkeel/base/clock.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// Thread safety: all members may be called concurrently, except advance_to() and set_pass(). Threads other
/// than the creating one block until the time comes, as with a ManualClock.
class HarnessClock final : public Clock {
 public:
  TimePoint now() const noexcept override { return clock_.now(); }
  WallTime wall_now() const noexcept override { return clock_.wall_now(); }

  void wait(CondVar& condition, MutexLock& lock) const override {
    wait_until(condition, lock, TimePoint::max());
  }
  // The lock is released and acquired in a way that the analysis cannot follow.
  void wait_until(CondVar& condition, MutexLock& lock,
                  TimePoint deadline) const override EVENKEEL_NO_THREAD_SAFETY_ANALYSIS {
    if (std::this_thread::get_id() != owner_) return clock_.wait_until(condition, lock, deadline);
    if (now() >= deadline || !pass_) return;
    lock.unlock();
    try {
      pass_(deadline);
    } catch (...) {
      lock.lock();
      throw;
    }
    lock.lock();
  }

  void advance_to(TimePoint when) {
    if (when > now()) clock_.advance(when - now());
  }
  /// Sets the function that a wait calls with its deadline, max() for none: it does work, or advances the
  /// time.
  void set_pass(std::function<void(TimePoint)> pass) { pass_ = std::move(pass); }

 private:
  ManualClock clock_;
  const std::thread::id owner_ = std::this_thread::get_id();
  std::function<void(TimePoint)> pass_;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
