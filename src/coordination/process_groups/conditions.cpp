// SPDX-License-Identifier: Apache-2.0
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

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
