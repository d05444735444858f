// SPDX-License-Identifier: Apache-2.0
#include "controller/timer_core.hpp"

#include <algorithm>
#include <stdexcept>

namespace evenkeel {
inline namespace v0 {
namespace detail {

void TimerCore::add(Duration period) {
  if (period <= Duration::zero()) throw std::invalid_argument("timer: the period must be positive");
  timers_.push_back({period});
}

void TimerCore::start(TimePoint now) {
  for (Timer& timer : timers_) timer.due = deadline_after(now, timer.period);
}

std::vector<std::size_t> TimerCore::on_timeout(TimePoint now) {
  std::vector<std::size_t> due;
  for (std::size_t number = 0; number < timers_.size(); ++number) {
    if (timers_[number].due <= now) due.push_back(number);
  }
  std::stable_sort(due.begin(), due.end(),
                   [this](std::size_t a, std::size_t b) { return timers_[a].due < timers_[b].due; });
  for (const std::size_t number : due) {
    Timer& timer = timers_[number];
    const auto missed = (now - timer.due) / timer.period;
    timer.due = deadline_after(timer.due + missed * timer.period, timer.period);
  }
  return due;
}

std::optional<TimePoint> TimerCore::next_due() const {
  const auto first = std::min_element(timers_.begin(), timers_.end(),
                                      [](const Timer& a, const Timer& b) { return a.due < b.due; });
  if (first == timers_.end() || first->due == TimePoint::max()) return std::nullopt;
  return first->due;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
