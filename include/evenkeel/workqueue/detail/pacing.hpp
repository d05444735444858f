// SPDX-License-Identifier: Apache-2.0
// Pacing of the runs of one key: debouncing of adds, and a minimum interval between the starts of runs. Pure:
// a record per key, and the time as an argument.
#pragma once

#include <stdexcept>

#include <evenkeel/base/time.hpp>
#include <evenkeel/workqueue/debounce.hpp>

namespace evenkeel {
inline namespace v0 {

namespace detail {

/// Pacing state of a key.
struct PacingRecord {
  static constexpr TimePoint none = TimePoint::max();
  TimePoint event_at = none;    // when the gathered adds become ready
  TimePoint give_up_at = none;  // latest time until which they can be held back
  TimePoint timer_at = none;    // when the earliest delayed add becomes ready
  TimePoint last_start = TimePoint::min();
};

/// Decides when a key that was added may become ready. Called only for keys that are not ready, because ready
/// keys stay ready. A run covers everything that was added before it started, delayed adds included.
class Pacing {
 public:
  /// Throws std::invalid_argument if a duration is negative or quiet is longer than max_wait.
  Pacing(const Debounce& debounce, Duration min_interval) : debounce_(debounce), min_interval_(min_interval) {
    if (debounce.quiet < Duration::zero() || min_interval < Duration::zero()) {
      throw std::invalid_argument("WorkQueue: debounce.quiet and min_interval must not be negative");
    }
    if (debounce.max_wait < debounce.quiet) {
      throw std::invalid_argument("WorkQueue: debounce.max_wait must be at least debounce.quiet");
    }
  }

  bool is_on() const { return debounce_.quiet > Duration::zero() || min_interval_ > Duration::zero(); }

  /// Handles an add without a delay. An urgent add, and what was gathered before it, does not wait for quiet.
  TimePoint add(PacingRecord& record, bool urgent, TimePoint now) const {
    if (record.event_at == PacingRecord::none) record.give_up_at = deadline_after(now, debounce_.max_wait);
    if (urgent) record.give_up_at = earlier(record.give_up_at, now);
    record.event_at = earlier(deadline_after(now, debounce_.quiet), record.give_up_at);
    return earliest(record);
  }

  /// Handles an add with a delay that ends at `at`; it is not debounced but tracked separately.
  TimePoint add_at(PacingRecord& record, TimePoint at) const {
    record.timer_at = earlier(record.timer_at, earlier(at, latest));
    return earliest(record);
  }

  /// Handles the hand-out of the key.
  void started(PacingRecord& record, TimePoint now) const {
    record = PacingRecord();
    record.last_start = now;
  }

  /// Returns true if the next run must wait, so that the start of the last one must be remembered.
  bool must_rest(const PacingRecord& record, TimePoint now) const {
    return min_interval_ > Duration::zero() && now < deadline_after(record.last_start, min_interval_);
  }

 private:
  static constexpr TimePoint latest = PacingRecord::none - Duration{1};  // distinct from none

  static TimePoint earlier(TimePoint a, TimePoint b) { return b < a ? b : a; }
  static TimePoint later(TimePoint a, TimePoint b) { return a < b ? b : a; }

  TimePoint earliest(const PacingRecord& record) const {
    const TimePoint due = earlier(record.event_at, record.timer_at);
    if (min_interval_ == Duration::zero()) return due;
    return later(due, deadline_after(record.last_start, min_interval_));
  }

  Debounce debounce_;
  Duration min_interval_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
