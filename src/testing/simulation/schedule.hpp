// SPDX-License-Identifier: Apache-2.0
// The events of a simulation in the order of virtual time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <evenkeel/base/time.hpp>

#include "testing/simulation/simulation_random.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// A heap of events. Those of the same time come in an order that is drawn.
/// Thread safety: one thread at a time.
class Schedule {
 public:
  explicit Schedule(std::uint64_t seed) : random_(seed) {}

  /// Returns the time of the event that was taken last.
  Duration now() const { return now_; }
  /// Adds an event; one in the past is due now.
  void at(Duration when, std::function<void()> action) {
    events_.push_back({std::max(when, now_), random_.next(), std::move(action)});
    std::push_heap(events_.begin(), events_.end(), later);
  }
  bool empty() const { return events_.empty(); }
  Duration next_due() const { return events_.front().when; }
  /// Removes the next event and advances the time to it. There must be one.
  std::function<void()> take() {
    std::pop_heap(events_.begin(), events_.end(), later);
    Event event = std::move(events_.back());
    events_.pop_back();
    now_ = event.when;
    return std::move(event.action);
  }
  /// Drops all events, whose captures may be what keeps their owners alive.
  void clear() {
    while (!events_.empty()) {
      const std::vector<Event> dropped = std::exchange(events_, {});
    }
  }

 private:
  struct Event {
    Duration when;
    std::uint64_t tie;
    std::function<void()> action;
  };
  static bool later(const Event& left, const Event& right) {
    return left.when != right.when ? left.when > right.when : left.tie > right.tie;
  }

  SimulationRandom random_;
  Duration now_{};
  std::vector<Event> events_;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
