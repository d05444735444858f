// SPDX-License-Identifier: Apache-2.0
// Decides when the timers of a controller are due. Pure: time is an argument.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Schedule of the timers of one controller.
/// Driver:
///  1. calls add() for each timer, then start();
///  2. at next_due() calls on_timeout(), and adds the keys of the timers that it returns.
/// Thread safety: one thread at a time.
class TimerCore {
 public:
  /// Adds a timer; timers are numbered from 0. Throws std::invalid_argument unless `period` > 0.
  void add(Duration period);
  /// Starts the periods. Called once.
  void start(TimePoint now);

  /// Returns the due timers, in the order of their due times. The next time of each is its first period
  /// boundary after `now`: missed ones are skipped.
  std::vector<std::size_t> on_timeout(TimePoint now);
  /// Returns the time of the next on_timeout(); std::nullopt without timers or before start().
  std::optional<TimePoint> next_due() const;

 private:
  struct Timer {
    Duration period;
    TimePoint due = TimePoint::max();
  };
  std::vector<Timer> timers_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
