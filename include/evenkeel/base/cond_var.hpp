// SPDX-License-Identifier: Apache-2.0
// Condition variable for the Mutex of base/mutex.hpp. Code waits through base/clock.hpp.
#pragma once

#include <condition_variable>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

/// A condition variable for a Mutex. Wait through a Clock (base/clock.hpp), not directly, so that virtual
/// time can drive the waiter. Both forms may return early, so re-check the condition.
/// Thread safety: all members may be called concurrently.
class CondVar {
 public:
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

  /// Releases `lock`, blocks until notified, and reacquires `lock`.
  void wait(MutexLock& lock) { condition_.wait(lock.lock_); }
  /// Like wait(), but returns once `deadline` of the steady clock is reached.
  void wait_until(MutexLock& lock, TimePoint deadline) { condition_.wait_until(lock.lock_, deadline); }

 private:
  std::condition_variable condition_;
};

}  // namespace v0
}  // namespace evenkeel
