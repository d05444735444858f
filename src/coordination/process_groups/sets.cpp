// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <evenkeel/coordination/process_groups/sets.hpp>

#include "processes_by_group.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

using SetMember = std::pair<std::string_view, GroupIds GroupSets::*>;

constexpr std::array<SetMember, 7> set_members{{
    {set_name::pending_for_removal, &GroupSets::pending_for_removal},
    {set_name::pending_for_exclusion, &GroupSets::pending_for_exclusion},
    {set_name::ready_for_exclusion, &GroupSets::ready_for_exclusion},
    {set_name::pending_for_inclusion, &GroupSets::pending_for_inclusion},
    {set_name::ready_for_inclusion, &GroupSets::ready_for_inclusion},
    {set_name::pending_for_restart, &GroupSets::pending_for_restart},
    {set_name::ready_for_restart, &GroupSets::ready_for_restart},
}};

GroupIds GroupSets::*member_named(std::string_view name) {
  const auto* const found = std::ranges::find(set_members, name, &SetMember::first);
  return found == set_members.end() ? nullptr : found->second;
}

bool holds_for(const ProcessGroup& group, std::string_view type, Duration at_least, WallTime now) {
  const auto since = group.since(type);
  return since && now - *since > at_least;
}

bool is_excluded(const ProcessGroup& group, const ProcessesByGroup& processes) {
  if (group.is_excluded()) return true;
  return std::ranges::any_of(processes.of(group.id),
                             [](const DatabaseProcess* process) { return process->excluded; });
}

void keep_ready(const GroupIds& current, GroupIds& next, const std::string& id) {
  if (current.contains(id)) next.insert(id);
}

/// The state of a group whose deletion hangs. It does not block others: if its processes are gone, it counts
/// as gone; if they still run, they must not be included, and the group is pending again when it is gone.
enum class Hanging : std::uint8_t { no, dead, alive };

Hanging hanging(const ProcessGroup& group, const ProcessesByGroup& processes, const ProcessGroupTimes& times,
                WallTime now) {
  if (!holds_for(group, condition::resources_terminating, times.ignore_terminating, now)) return Hanging::no;
  return processes.of(group.id).empty() ? Hanging::dead : Hanging::alive;
}

void place_removed(const ProcessGroup& group, const ProcessesByGroup& processes, const GroupSets& current,
                   Hanging hangs, GroupSets& next) {
  next.pending_for_removal.insert(group.id);
  if (!group.addresses.empty()) next.addresses[group.id] = group.addresses;
  if (!is_excluded(group, processes)) {
    next.pending_for_exclusion.insert(group.id);
    keep_ready(current.ready_for_exclusion, next.ready_for_exclusion, group.id);
  } else if (hangs == Hanging::alive) {
    return;
  }
  next.pending_for_inclusion.insert(group.id);
  keep_ready(current.ready_for_inclusion, next.ready_for_inclusion, group.id);
  if (group.exclusion_skipped || hangs == Hanging::dead) next.ready_for_inclusion.insert(group.id);
}

}  // namespace

GroupIds* GroupSets::named(std::string_view name) {
  const auto member = member_named(name);
  return member == nullptr ? nullptr : &(this->*member);
}

const GroupIds* GroupSets::named(std::string_view name) const {
  const auto member = member_named(name);
  return member == nullptr ? nullptr : &(this->*member);
}

bool is_ignored_for_restart(const ProcessGroup& group, const ProcessGroupTimes& times, WallTime now) {
  return holds_for(group, condition::missing_processes, times.ignore_missing_for_restart, now) ||
         holds_for(group, condition::pod_pending, times.ignore_pending_pods, now) ||
         group.has(condition::resources_terminating);
}

GroupSets next_sets(const ProcessCluster& cluster, const DatabaseStatus& status, const GroupSets& current,
                    const ProcessGroupTimes& times, WallTime now) {
  GroupSets next;
  const ProcessesByGroup processes(status);
  for (const ProcessGroup& group : cluster.process_groups) {
    if (is_test_class(group.process_class)) continue;
    if (group.has(condition::incorrect_command_line) && !is_ignored_for_restart(group, times, now)) {
      next.pending_for_restart.insert(group.id);
      keep_ready(current.ready_for_restart, next.ready_for_restart, group.id);
    }
    if (!group.is_marked_for_removal()) continue;
    place_removed(group, processes, current, hanging(group, processes, times, now), next);
  }
  return next;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
