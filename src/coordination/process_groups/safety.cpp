// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>

#include <evenkeel/coordination/process_groups/safety.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

std::string seconds(Duration time, int digits) {
  std::array<char, 40> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%.*f", digits, std::chrono::duration<double>(time).count());
  return {text.data(), static_cast<std::size_t>(std::max(length, 0))};
}

Refusal refuse_any(const DatabaseStatus& status, const ProcessGroupTimes& times, const std::string& action) {
  if (status.active_generations > times.maximum_active_generations) {
    return "cluster has " + std::to_string(status.active_generations) + " active generations, but only " +
           std::to_string(times.maximum_active_generations) + " active generations are allowed to safely " +
           action;
  }
  if (!status.available) return "cluster is unavailable, cannot " + action;
  return std::nullopt;
}

Refusal refuse_so_soon(const DatabaseStatus& status, Duration minimum, const std::string& action) {
  if (status.since_last_recovery >= minimum) return std::nullopt;
  return "cannot: " + action + ", clusters last recovery was " + seconds(status.since_last_recovery, 2) +
         " seconds ago, waiting until the last recovery was " + seconds(minimum, 0) + " seconds ago";
}

bool is_running(const DatabaseStatus& status, std::string_view coordinator) {
  return std::ranges::any_of(
      status.processes, [&](const DatabaseProcess& process) { return process.is_known_as(coordinator); });
}

}  // namespace

Duration minimum_uptime(const DatabaseStatus& status) {
  Duration least = status.since_last_recovery;
  for (const DatabaseProcess& process : status.processes) {
    // An uptime of exactly 0 means that the process did not report one.
    if (process.excluded || is_test_class(process.process_class) || process.uptime == Duration::zero())
      continue;
    if (!process.group().empty()) least = std::min(least, process.uptime);
  }
  return least;
}

Refusal refuse_exclusion(const DatabaseStatus& status, const ProcessGroupTimes& times) {
  const std::string action = "exclude processes";
  if (Refusal refusal = refuse_any(status, times, action)) return refusal;
  return refuse_so_soon(status, times.minimum_recovery_for_exclusion, action);
}

Refusal refuse_inclusion(const DatabaseStatus& status, const ProcessGroupTimes& times) {
  const std::string action = "include processes";
  if (Refusal refusal = refuse_any(status, times, action)) return refusal;
  if (Refusal refusal = refuse_so_soon(status, times.minimum_recovery_for_inclusion, action)) return refusal;
  if (status.recovery_state == "fully_recovered" || status.recovery_state == "all_logs_recruited") {
    return std::nullopt;
  }
  return "cannot: " + action + ", cluster recovery state is " + status.recovery_state +
         R"(, but it must be "fully_recovered" or "all_logs_recruited")";
}

Refusal refuse_restart(const DatabaseStatus& status, const ProcessGroupTimes& times) {
  if (Refusal refusal = refuse_any(status, times, "bounce processes")) return refusal;
  const Duration uptime = minimum_uptime(status);
  if (uptime < times.minimum_uptime_for_restart) {
    return "cluster has only been up for " + seconds(uptime, 2) + " seconds, but must be up for " +
           seconds(times.minimum_uptime_for_restart, 2) + " seconds to safely bounce";
  }
  if (status.can_clean_bounce == std::optional(false)) {
    return "cannot perform a clean bounce based on cluster status, current recovery state: " +
           status.recovery_state;
  }
  return std::nullopt;
}

Refusal refuse_coordinator_change(const DatabaseStatus& status, const ProcessGroupTimes& times) {
  const auto missing = std::ranges::count_if(
      status.coordinators, [&](const std::string& one) { return !is_running(status, one); });
  if (missing > 0) {
    return refuse_so_soon(
        status, times.minimum_uptime_for_missing_coordinator,
        "change coordinators: cluster has " + std::to_string(missing) + " missing coordinators");
  }
  if (Refusal refusal = refuse_any(status, times, "change coordinators")) return refusal;
  return refuse_so_soon(status, times.minimum_uptime_for_undesired_coordinator,
                        "change coordinators: cluster is not up for long enough");
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
