// SPDX-License-Identifier: Apache-2.0
#include "controller/remap_core.hpp"

#include <algorithm>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

Duration delay_after(std::size_t failures) {
  Duration delay = RemapCore::first_delay;
  for (std::size_t at = 1; at < failures && delay < RemapCore::longest_delay; ++at) delay *= 2;
  return std::min(delay, RemapCore::longest_delay);
}

void append_states(std::vector<WireObject>& states, const std::vector<WireObject>& more) {
  for (const WireObject& state : more) {
    if (std::find(states.begin(), states.end(), state) != states.end()) continue;
    if (states.size() == RemapCore::max_states) states.erase(states.begin() + 1);
    states.push_back(state);
  }
}

}  // namespace

std::optional<Duration> RemapCore::on_failure(Remap remap, TimePoint now) {
  Id id{remap.watch, remap.states.back().key()};
  if (const auto found = waiting_.find(id); found != waiting_.end()) {
    Remap& known = found->second.remap;
    // A state that was taken out for an attempt is older than those that failed since.
    const bool is_older = remap.failures > 0;
    Remap merged = is_older ? std::move(remap) : std::move(known);
    const Remap& newer = is_older ? known : remap;
    append_states(merged.states, newer.states);
    if (newer.type == EventType::deleted && merged.type != EventType::deleted) merged.failures = 0;
    merged.type = newer.type;
    remap = std::move(merged);
    due_.erase({found->second.due, found->first});
    waiting_.erase(found);
  }
  ++remap.failures;
  if (remap.type == EventType::deleted && remap.failures >= max_failures_of_deleted) return std::nullopt;
  const Duration delay = delay_after(remap.failures);
  due_.emplace(now + delay, id);
  waiting_.emplace(std::move(id), Waiting{std::move(remap), now + delay});
  return delay;
}

std::vector<Remap> RemapCore::on_timeout(TimePoint now) {
  std::vector<Remap> due;
  while (!due_.empty() && due_.begin()->first <= now) {
    due.push_back(std::move(waiting_.extract(due_.begin()->second).mapped().remap));
    due_.erase(due_.begin());
  }
  return due;
}

std::optional<TimePoint> RemapCore::next_due() const {
  return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
