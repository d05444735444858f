// SPDX-License-Identifier: Apache-2.0
#include "controller/mapping_retry_core.hpp"

#include <algorithm>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

Duration delay_after(std::size_t failures) {
  Duration delay = MappingRetryCore::first_delay;
  for (std::size_t at = 1; at < failures && delay < MappingRetryCore::longest_delay; ++at) delay *= 2;
  return std::min(delay, MappingRetryCore::longest_delay);
}

void append_states(std::vector<WireObject>& states, const std::vector<WireObject>& more) {
  for (const WireObject& state : more) {
    if (std::find(states.begin(), states.end(), state) != states.end()) continue;
    if (states.size() == MappingRetryCore::max_states) states.erase(states.begin() + 1);
    states.push_back(state);
  }
}

}  // namespace

std::optional<Duration> MappingRetryCore::on_failure(FailedMapping failed, TimePoint now) {
  Id id{failed.watch, failed.states.back().key()};
  if (const auto found = waiting_.find(id); found != waiting_.end()) {
    FailedMapping& known = found->second.failed;
    // A state that was taken out for an attempt is older than those that failed since.
    const bool is_older = failed.failures > 0;
    if (!is_older) std::swap(failed, known);
    append_states(failed.states, known.states);
    if (known.type == EventType::deleted && failed.type != EventType::deleted) failed.failures = 0;
    failed.type = known.type;
    due_.erase({found->second.due, found->first});
    waiting_.erase(found);
  }
  ++failed.failures;
  if (failed.type == EventType::deleted && failed.failures >= max_failures_of_deleted) return std::nullopt;
  const Duration delay = delay_after(failed.failures);
  due_.emplace(now + delay, id);
  waiting_.emplace(std::move(id), Waiting{std::move(failed), now + delay});
  return delay;
}

std::vector<FailedMapping> MappingRetryCore::on_timeout(TimePoint now) {
  std::vector<FailedMapping> due;
  while (!due_.empty() && due_.begin()->first <= now) {
    due.push_back(std::move(waiting_.extract(due_.begin()->second).mapped().failed));
    due_.erase(due_.begin());
  }
  return due;
}

std::optional<TimePoint> MappingRetryCore::next_due() const {
  return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
