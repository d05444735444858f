// SPDX-License-Identifier: Apache-2.0
#include "controller/backoff_core.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

void BackoffCore::on_run_started(const RequestKey& key) {
  if (enabled_) keys_[key].running = true;
}

BackoffCore::Held& BackoffCore::hold(State& state, const Update& update) {
  if (!state.held) state.held = Held{.priority = update.priority, .first = update.at, .delay = update.delay};
  Held& held = *state.held;
  held.priority = std::max(held.priority.value, update.priority.value);
  held.last = update.at;
  held.delay = std::min(held.delay, update.delay);
  return held;
}

BackoffCore::Verdict BackoffCore::on_update(const RequestKey& key, const Update& update,
                                            const Change& change) {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return Verdict::add;
  if (!found->second.running) return Verdict::decide;
  Held& held = hold(found->second, update);
  if (held.changes.size() == max_changes) {
    held.beyond_limit = true;
    held.changes.clear();
  }
  if (!held.beyond_limit) held.changes.push_back(change);
  return Verdict::held;
}

BackoffCore::Verdict BackoffCore::on_own_write(const RequestKey& key, const Update& update) {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return Verdict::add;
  if (!found->second.running) return Verdict::add_unless_waiting;
  hold(found->second, update);
  return Verdict::held;
}

std::optional<TimePoint> BackoffCore::standing_deadline(const RequestKey& key, TimePoint now) const {
  const auto found = keys_.find(key);
  if (found == keys_.end() || !found->second.deadline || *found->second.deadline <= now) return std::nullopt;
  return found->second.deadline;
}

std::optional<BackoffCore::Held> BackoffCore::on_run_failed(const RequestKey& key, TimePoint deadline) {
  if (!enabled_) return std::nullopt;
  return std::exchange(keys_[key], {.deadline = deadline}).held;
}

std::optional<BackoffCore::Held> BackoffCore::on_run_ended(const RequestKey& key) {
  const auto node = keys_.extract(key);
  return node ? std::move(node.mapped().held) : std::nullopt;
}

void BackoffCore::on_renewed(const RequestKey& key) {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return;
  found->second.deadline.reset();
  if (!found->second.running) keys_.erase(found);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
