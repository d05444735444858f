// SPDX-License-Identifier: Apache-2.0
// Waiting that a stop token ends.
#pragma once

#include <stop_token>
#include <utility>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/mutex.hpp>

namespace evenkeel {
inline namespace v0 {

/// While it lives, a stop request notifies all who wait on a condition. Make and destroy it while not
/// holding the mutex: on a token that is already stopped the constructor takes it, and the destructor
/// waits for a callback that is about to take it.
/// Lifetime: keeps references to mutex and condition.
class StopWaker {
 public:
  StopWaker(std::stop_token stop, Mutex& mutex, CondVar& condition) EVENKEEL_EXCLUDES(mutex)
      : callback_(std::move(stop), Wake{mutex, condition}) {}

 private:
  struct Wake {
    Mutex& mutex;
    CondVar& condition;
    // The lock is taken so that a waiter which has checked the token but not blocked yet is not missed.
    void operator()() const noexcept {
      MutexLock lock(mutex);
      condition.notify_all();
    }
  };
  std::stop_callback<Wake> callback_;
};

/// Blocks until `deadline` or until `stop` is requested; true if the deadline was reached.
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
