// SPDX-License-Identifier: Apache-2.0
// When which timer of a controller is due. Pure: the time comes in.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Thread safety: one thread at a time.
class TimerCore {
 public:
  /// Adds the next timer; they are numbered from 0. Throws std::invalid_argument unless `period` > 0.
  void add(Duration period);
  /// The periods begin. Once.
  void start(TimePoint now);

  /// Those that are due, in the order of their due times. The next time of each is the first of its steps
  /// after `now`: what is late comes once.
  std::vector<std::size_t> fire(TimePoint now);
  /// When fire() has something next; nothing without timers or before start().
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
