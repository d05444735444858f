// SPDX-License-Identifier: Apache-2.0
// The place where a queue's workers wait, and the choice of the one to wake. Waking a thread costs more than
// all other work of a queue together.
#pragma once

#include <cstddef>
#include <optional>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Work available to waiting workers.
struct Demand {
  bool has_work = false;              ///< A key is ready.
  std::optional<TimePoint> due = {};  ///< End of the earliest delay, if there is one.
};

/// One of the waiting workers is the timekeeper: it waits until the first delay ends, the others wait without
/// a deadline. At most one wake-up is in flight at any time: a worker that wakes asks again after it has
/// looked for work, so the next one is woken only if something is left.
/// Thread safety: all members except notify() must be called under the lock that workers wait with.
class Parking {
 public:
  /// Waits for a wake-up or for the first delay to end. May return early.
  void wait(const Clock& clock, MutexLock& lock, const Demand& demand) {
    hurry_timekeeper(demand);
    ++idle_;
    if (demand.due && !has_timekeeper_) {
      has_timekeeper_ = true;
      timekeeper_due_ = *demand.due;
      clock.wait_until(time_, lock, *demand.due);
      has_timekeeper_ = false;
    } else {
      clock.wait(work_, lock);
    }
    --idle_;
    wake_in_flight_ = false;
  }

  /// Returns true if any worker waits, that is if whom_to_wake() can return one.
  bool has_idle() const { return idle_ > 0; }

  /// Returns the condition to pass to notify() after the lock is released, or null for none.
  CondVar* whom_to_wake(const Demand& demand) {
    if (idle_ == 0) return nullptr;
    hurry_timekeeper(demand);
    const bool somebody_must_keep_time = demand.due && !has_timekeeper_;
    if (wake_in_flight_ || (!demand.has_work && !somebody_must_keep_time)) return nullptr;
    wake_in_flight_ = true;
    const bool only_timekeeper = has_timekeeper_ && idle_ == 1;
    return only_timekeeper ? &time_ : &work_;
  }

  static void notify(CondVar* whom) noexcept {
    if (whom != nullptr) whom->notify_one();
  }
  void notify_all() noexcept {
    work_.notify_all();
    time_.notify_all();
  }

 private:
  // Wakes the timekeeper if a delay was added that ends before the one it waits for.
  void hurry_timekeeper(const Demand& demand) {
    if (!has_timekeeper_ || !demand.due || *demand.due >= timekeeper_due_) return;
    timekeeper_due_ = *demand.due;
    time_.notify_one();
  }

  CondVar work_;  // workers that wait without a deadline
  CondVar time_;  // the timekeeper
  std::size_t idle_ = 0;
  bool has_timekeeper_ = false;
  bool wake_in_flight_ = false;
  TimePoint timekeeper_due_{};
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
