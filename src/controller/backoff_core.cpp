// SPDX-License-Identifier: Apache-2.0
#include "controller/backoff_core.hpp"

#include <algorithm>

namespace evenkeel {
inline namespace v0 {
namespace detail {

void BackoffCore::on_run_started(const RequestKey& key) {
  if (enabled_) keys_[key].running = true;
}

BackoffCore::Verdict BackoffCore::on_minor_event(const RequestKey& key, Priority priority, TimePoint now) {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return Verdict::add;
  State& state = found->second;
  if (!state.running) return Verdict::add_unless_waiting;
  if (!state.held) state.held = Held{priority, now};
  state.held->priority = std::max(state.held->priority.value, priority.value);
  return Verdict::held;
}

std::optional<TimePoint> BackoffCore::standing_deadline(const RequestKey& key, TimePoint now) const {
  const auto found = keys_.find(key);
  if (found == keys_.end() || !found->second.deadline || *found->second.deadline <= now) return std::nullopt;
  return found->second.deadline;
}

void BackoffCore::on_run_failed(const RequestKey& key, TimePoint deadline) {
  if (enabled_) keys_[key] = {.deadline = deadline};
}

std::optional<BackoffCore::Held> BackoffCore::on_run_ended(const RequestKey& key) {
  const auto node = keys_.extract(key);
  return node ? node.mapped().held : std::nullopt;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
