// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>

#include <evenkeel/coordination/process_groups/coordinator.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

void add(Condition& condition, const char* reason, const std::string& action, const std::string& why) {
  condition.status = "True";
  condition.reason = reason;
  condition.message.append(condition.message.empty() ? "" : "; ").append(action).append(": ").append(why);
}

// Returns "waits for another 12s" and "2.34 seconds ago" without the numbers.
std::string without_times(std::string_view text) {
  std::string rest;
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::string_view unit = text.substr(digits);
    const bool is_time = digits > 0 && (unit.starts_with("s") || unit.starts_with(" seconds"));
    const std::size_t taken = std::max<std::size_t>(digits, 1);
    if (!is_time) rest += text.substr(0, taken);
    text.remove_prefix(taken);
  }
  return rest;
}

}  // namespace

std::vector<Condition> conditions_of(const std::map<std::string, ActionWait>& waits) {
  Condition pending{.type = "CoordinationPending", .status = "False", .reason = "NothingToDo"};
  Condition blocked{.type = "CoordinationBlocked", .status = "False", .reason = "NotBlocked"};
  for (const auto& [action, wait] : waits) {
    add(pending, "Waits", action, wait.why);
    std::string by;
    for (const std::string& scope : wait.blocked_by) by.append(by.empty() ? "by " : ", ").append(scope);
    if (!by.empty()) add(blocked, "OthersNotReady", action, by + ": " + wait.why);
  }
  return {std::move(pending), std::move(blocked)};
}

void set_wait_conditions(std::vector<Condition>& conditions, const std::map<std::string, ActionWait>& waits,
                         WallTime now) {
  for (Condition& wait : conditions_of(waits)) {
    const Condition* const known = find_condition(conditions, wait.type);
    const bool is_known = known != nullptr && known->status == wait.status && known->reason == wait.reason &&
                          without_times(known->message) == without_times(wait.message);
    if (!is_known) set_condition(conditions, std::move(wait), now);
  }
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
