// SPDX-License-Identifier: Apache-2.0
// The two kinds of time that the library speaks: a steady one for waiting, a calendar one for documents.
#pragma once

#include <chrono>

namespace evenkeel {
inline namespace v0 {

/// Lengths of time, in integer nanoseconds everywhere.
using Duration = std::chrono::nanoseconds;

/// A point of the steady clock: delays, deadlines, rate limits. Never written to a document.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// A point of calendar time: timestamps of objects, Leases, log lines. Never used to wait.
using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

/// `from` + `delay`, or the latest point that exists where the sum would pass it; `from` itself if the
/// delay is not positive.
constexpr TimePoint deadline_after(TimePoint from, Duration delay) noexcept {
  if (delay <= Duration::zero()) return from;
  if (from > TimePoint::max() - delay) return TimePoint::max();
  return from + delay;
}

}  // namespace v0
}  // namespace evenkeel
