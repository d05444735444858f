// SPDX-License-Identifier: Apache-2.0
// Waits that a stop token ends.
#pragma once

#include <stop_token>
#include <utility>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/mutex.hpp>

namespace evenkeel {
inline namespace v0 {

/// For its lifetime, makes a stop request notify all waiters of a condition. Construct and destroy it without
/// holding the mutex: with a token that is already stopped the constructor takes the mutex, and the
/// destructor waits for a callback that is about to take it.
/// Lifetime: keeps references to mutex and condition.
class StopWaker {
 public:
  StopWaker(std::stop_token stop, Mutex& mutex, CondVar& condition) EVENKEEL_EXCLUDES(mutex)
      : callback_(std::move(stop), Wake{mutex, condition}) {}

 private:
  struct Wake {
    Mutex& mutex;
    CondVar& condition;
    // Taking the lock ensures that a waiter which has checked the token but has not blocked yet is not
    // missed.
    void operator()() const noexcept {
      MutexLock lock(mutex);
      condition.notify_all();
    }
  };
  std::stop_callback<Wake> callback_;
};

/// Blocks until `deadline` or until `stop` is requested; returns true if the deadline was reached.
inline bool sleep_until(const Clock& clock, TimePoint deadline, const std::stop_token& stop) {
  Mutex mutex;
  CondVar condition;
  const StopWaker waker(stop, mutex, condition);
  MutexLock lock(mutex);
  while (!stop.stop_requested()) {
    if (clock.now() >= deadline) return true;
    clock.wait_until(condition, lock, deadline);
  }
  return false;
}

}  // namespace v0
}  // namespace evenkeel
