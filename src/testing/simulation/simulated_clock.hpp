// SPDX-License-Identifier: Apache-2.0
// The clock of a process in a simulation: it runs at a rate of its own, and its wall clock can be set.
#pragma once

#include <cstdint>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/time.hpp>

#include "testing/simulation/schedule.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Waiting by it suspends the caller's fiber; outside of fibers, and once the process has ended, it throws.
/// Thread safety: one thread at a time. Lifetime: the schedule outlives it.
class SimulatedClock final : public Clock {
 public:
  /// `offset`: its steady time at the start of the simulation; `ppm`: how much faster it is than the true
  /// time.
  SimulatedClock(const Schedule& schedule, WallTime wall_start, Duration offset = {}, std::int64_t ppm = 0)
      : schedule_(schedule), wall_start_(wall_start), offset_(offset), ppm_(ppm) {}

  TimePoint now() const noexcept override { return local(schedule_.now()); }
  WallTime wall_now() const noexcept override {
    return wall_start_ +
           std::chrono::duration_cast<WallTime::duration>(now().time_since_epoch() - offset_ + jumped_);
  }
  void wait(CondVar& condition, MutexLock& lock) const override {
    wait_until(condition, lock, TimePoint::max());
  }
  void wait_until(CondVar& condition, MutexLock& lock, TimePoint deadline) const override;

  /// Returns the first time of the simulation at which this clock shows `when`; max() for max().
  Duration simulated(TimePoint when) const;
  /// Sets the wall clock.
  void jump(Duration by) { jumped_ += by; }
  /// Waits throw from now on.
  void end() { ended_ = true; }

 private:
  TimePoint local(Duration true_time) const noexcept;

  const Schedule& schedule_;
  const WallTime wall_start_;
  const Duration offset_;
  const std::int64_t ppm_;
  Duration jumped_{};
  bool ended_ = false;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
