// SPDX-License-Identifier: Apache-2.0
// Decides which failures of an informer are logged: a persistent failure is logged once.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/watch_health.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A failure is logged when it begins or changes, and its end is logged if its begin was. A failure that
/// recurs within `quiet` after its logged end is logged once more, and its end then only after `settled`: a
/// watch that opens and breaks immediately, for hours, causes three lines, and the last one is that it fails.
/// Thread safety: one thread at a time.
class FailureLog {
 public:
  /// Time after its end for which a recurring failure counts as the same.
  static constexpr Duration quiet = std::chrono::minutes{10};
  /// Time of success that ends a recurring failure.
  static constexpr Duration settled = std::chrono::minutes{1};

  /// Records a failed attempt; returns true if it is to be logged.
  bool failed(WatchProblem problem, std::string_view error, TimePoint now);
  /// Records success; returns true if it is to be logged. May have to be called again for that.
  bool works(TimePoint now);
  /// Returns true if the last logged line is a failure.
  bool logs_end() const noexcept { return logs_end_; }

 private:
  std::string logged_;  // logged last, without numbers
  TimePoint ended_at_ = TimePoint::min();
  TimePoint works_since_{};
  bool failing_ = false;
  bool recurs_ = false;
  bool logs_end_ = false;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
