// SPDX-License-Identifier: Apache-2.0
// Where the workers of a queue wait, and whom to wake. Waking a thread takes longer than everything else
// that a queue does together.
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

/// What there is to do, as far as waiting workers are concerned.
struct Demand {
  bool has_work = false;              ///< A key is ready.
  std::optional<TimePoint> due = {};  ///< When the first delay ends, if there is one.
};

/// Of the workers that wait, one keeps the time: it waits until the first delay ends, the others for as
/// long as it takes. At most one wake-up is on its way at any time: a worker that wakes asks again when it
/// has looked for work, so that the next one is woken only if something is left.
/// Thread safety: all members but notify() are called under one lock, the one that is waited with.
class Parking {
 public:
  /// Waits for a wake-up or for the time. May return early.
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

  /// Whether anybody waits, so that it is worth asking whom_to_wake.
  bool has_idle() const { return idle_ > 0; }

  /// For notify() once the lock is released. Null: nobody.
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
  // A delay was added that ends before the one that the timekeeper waits for.
  void hurry_timekeeper(const Demand& demand) {
    if (!has_timekeeper_ || !demand.due || *demand.due >= timekeeper_due_) return;
    timekeeper_due_ = *demand.due;
    time_.notify_one();
  }

  CondVar work_;  // workers that wait for as long as it takes
  CondVar time_;  // the one that keeps the time
  std::size_t idle_ = 0;
  bool has_timekeeper_ = false;
  bool wake_in_flight_ = false;
  TimePoint timekeeper_due_{};
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
