// SPDX-License-Identifier: Apache-2.0
#include "testing/simulation/simulated_clock.hpp"

#include <evenkeel/base/error.hpp>
#include <evenkeel/base/suspender.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

constexpr std::int64_t million = 1'000'000;

// Returns time * ppm / 10^6 without an overflow.
Duration share(Duration time, std::int64_t ppm) {
  return Duration(time.count() / million * ppm + time.count() % million * ppm / million);
}

}  // namespace

TimePoint SimulatedClock::local(Duration true_time) const noexcept {
  return TimePoint(offset_ + true_time + share(true_time, ppm_));
}

void SimulatedClock::wait_until(CondVar& condition, MutexLock& lock, TimePoint deadline) const {
  if (ended_) throw Cancelled("the process has ended");
  if (evenkeel::detail::Suspender::current() == nullptr)
    throw Error("the simulation: a wait outside of reconciles and workloads, which nothing can end");
  condition.wait_until(lock, deadline);
  if (ended_) throw Cancelled("the process has ended");
}

Duration SimulatedClock::simulated(TimePoint when) const {
  if (when == TimePoint::max()) return Duration::max();
  const Duration elapsed = when.time_since_epoch() - offset_;
  if (elapsed <= Duration::zero()) return Duration::zero();
  Duration guess = elapsed - share(elapsed, ppm_ * million / (million + ppm_));
  while (local(guess) > when) guess -= local(guess) - when;
  // Rates differ by at most a tenth, so that these steps do not go past it.
  while (local(guess) < when) guess += std::max((when - local(guess)) * 9 / 10, Duration(1));
  return guess;
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
