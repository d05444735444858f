// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <map>
#include <span>

#include <evenkeel/coordination/process_groups/restart.hpp>

#include "bracketed.hpp"
#include "processes_by_group.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

/// Conditions that prevent the restart of a group whose command line differs from the desired one.
std::span<const std::string_view> unwanted_conditions(const ProcessCluster& cluster) {
  static constexpr std::string_view of_upgrade[] = {condition::incorrect_sidecar_image,
                                                    condition::incorrect_config_map};
  static constexpr std::string_view of_others[] = {
      condition::incorrect_pod_spec, condition::sidecar_unreachable, condition::incorrect_config_map};
  if (cluster.has_incompatible_upgrade()) return of_upgrade;
  return of_others;
}

bool is_prepared(const ProcessCluster& cluster, const ProcessGroup& group) {
  return group.has(condition::incorrect_command_line) &&
         std::ranges::none_of(unwanted_conditions(cluster),
                              [&](std::string_view type) { return group.has(type); });
}

struct Walk {
  RestartPlan plan;
  std::vector<std::string> without_address;
  bool all_synced = true;
  std::size_t ignored = 0;
};

void visit(const ProcessCluster& cluster, const ProcessesByGroup& by_group, const ProcessGroup& group,
           const ProcessGroupTimes& times, WallTime now, Walk& walk) {
  // In an upgrade an excluded process restarts with the others; otherwise it could not communicate with them
  // any more.
  const bool goes_along =
      cluster.has_incompatible_upgrade() && group.is_marked_for_removal() && group.is_excluded();
  if (!goes_along && is_ignored_for_restart(group, times, now)) {
    ++walk.ignored;
    return;
  }
  if (!goes_along && group.has(condition::incorrect_config_map)) walk.all_synced = false;
  if (!goes_along && !is_prepared(cluster, group)) return;
  walk.plan.pending.push_back(group.id);
  const auto& processes = by_group.of(group.id);
  if (processes.empty() && !goes_along) walk.without_address.push_back(group.id);
  if (processes.empty()) return;
  walk.plan.ready.push_back(group.id);
  std::ranges::transform(processes, std::back_inserter(walk.plan.addresses), &DatabaseProcess::address);
}

/// Counts the processes that an upgrade must find in the groups that it does not ignore.
std::size_t expected_processes(const ProcessCluster& cluster, const ProcessGroupTimes& times, WallTime now) {
  std::map<std::string_view, std::ptrdiff_t> groups;
  for (const auto& [process_class, count] : cluster.process_counts) {
    if (!is_test_class(process_class)) groups[process_class] = static_cast<std::ptrdiff_t>(count);
  }
  for (const ProcessGroup& group : cluster.process_groups) {
    if (is_test_class(group.process_class) || group.has(condition::resources_terminating)) continue;
    if (group.is_marked_for_removal()) ++groups[group.process_class];
    if (is_ignored_for_restart(group, times, now)) --groups[group.process_class];
  }
  std::ptrdiff_t expected = 0;
  for (const auto& [process_class, count] : groups) {
    const bool several = process_class == "storage" || is_log_class(process_class);
    expected += count * static_cast<std::ptrdiff_t>(several ? cluster.servers_per_pod : 1);
  }
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(expected, 0));
}

}  // namespace

RestartPlan plan_restart(const ProcessCluster& cluster, const DatabaseStatus& status,
                         const ProcessGroupTimes& times, WallTime now) {
  Walk walk;
  const ProcessesByGroup by_group(status);
  for (const ProcessGroup& group : cluster.process_groups) {
    const bool is_out = is_test_class(group.process_class) || group.has(condition::resources_terminating);
    if (!is_out) visit(cluster, by_group, group, times, now, walk);
  }
  RestartPlan& plan = walk.plan;
  if (!walk.without_address.empty()) {
    plan.wait = "could not find address for processes: " + bracketed(walk.without_address);
  } else if (!walk.all_synced) {
    plan.wait = "Waiting for config map to sync to all pods";
  } else if (cluster.has_incompatible_upgrade()) {
    const std::size_t expected = expected_processes(cluster, times, now);
    if (expected > plan.addresses.size()) {
      plan.wait = "expected " + std::to_string(expected) + " processes, got " +
                  std::to_string(plan.addresses.size()) + " processes ready to restart";
    }
  }
  if (plan.wait) {
    plan.ready.clear();
    plan.addresses.clear();
  }
  return std::move(walk.plan);
}

std::vector<std::string> addresses_of(const DatabaseStatus& status, const GroupIds& groups) {
  std::vector<std::string> addresses;
  const ProcessesByGroup by_group(status);
  for (const std::string& id : groups) {
    for (const DatabaseProcess* process : by_group.of(id)) {
      if (!is_test_class(process->process_class)) addresses.push_back(process->address);
    }
  }
  return addresses;
}

UpgradeNeed upgrade_need(const DatabaseStatus& status, const GroupIds& registered, std::string_view version) {
  UpgradeNeed need;
  for (const DatabaseProcess& process : status.processes) {
    if (is_test_class(process.process_class) || process.group().empty() || process.version == version)
      continue;
    if (registered.contains(process.group())) {
      need.addresses.push_back(process.address);
    } else {
      need.not_ready.emplace_back(process.group());
    }
  }
  return need;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
