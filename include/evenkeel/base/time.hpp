// SPDX-License-Identifier: Apache-2.0
// Types of the library's two kinds of time: a steady one for waiting, a calendar one for documents.
#pragma once

#include <chrono>

namespace evenkeel {
inline namespace v0 {

/// Durations, in integer nanoseconds everywhere.
using Duration = std::chrono::nanoseconds;

/// A point of the steady clock, for delays, deadlines and rate limits. Never written to a document.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// A point of calendar time, for timestamps of objects, Leases and log lines. Never used to wait.
using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

/// Returns `from` + `delay`, saturated at TimePoint::max(); returns `from` if the delay is not positive.
constexpr TimePoint deadline_after(TimePoint from, Duration delay) noexcept {
  if (delay <= Duration::zero()) return from;
  if (from > TimePoint::max() - delay) return TimePoint::max();
  return from + delay;
}

}  // namespace v0
}  // namespace evenkeel
