// SPDX-License-Identifier: Apache-2.0
// The sets of process groups that an instance publishes: the seven sets of the FoundationDB operator, and the
// addresses. Pure: the next sets follow from the resource, the database status and the present sets.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/process_groups/cluster.hpp>
#include <evenkeel/coordination/process_groups/database.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// Names of the sets in the key space.
namespace set_name {
inline constexpr std::string_view pending_for_removal = "pendingForRemoval";
inline constexpr std::string_view pending_for_exclusion = "pendingForExclusion";
inline constexpr std::string_view ready_for_exclusion = "readyForExclusion";
inline constexpr std::string_view pending_for_inclusion = "pendingForInclusion";
inline constexpr std::string_view ready_for_inclusion = "readyForInclusion";
inline constexpr std::string_view pending_for_restart = "pendingForRestart";
inline constexpr std::string_view ready_for_restart = "readyForRestart";
}  // namespace set_name

using GroupIds = std::set<std::string, std::less<>>;

/// The sets of one scope: ids of process groups.
struct EVENKEEL_API GroupSets {
  GroupIds pending_for_removal = {};
  GroupIds pending_for_exclusion = {};
  GroupIds ready_for_exclusion = {};
  GroupIds pending_for_inclusion = {};
  GroupIds ready_for_inclusion = {};
  GroupIds pending_for_restart = {};
  GroupIds ready_for_restart = {};
  /// Addresses of the groups that are marked for removal.
  std::map<std::string, std::vector<std::string>, std::less<>> addresses = {};

  /// Returns one of the seven sets by its name in the key space; null for another name.
  GroupIds* named(std::string_view name);
  const GroupIds* named(std::string_view name) const;

  friend bool operator==(const GroupSets&, const GroupSets&) = default;
};

/// Returns true if a restart does not wait for the group: its processes are missing or its Pod is pending for
/// too long, or it is being deleted.
EVENKEEL_API bool is_ignored_for_restart(const ProcessGroup& group, const ProcessGroupTimes& times,
                                         WallTime now);

/// Returns the sets of the cluster for the next publish; `current` are the present ones. A group that is no
/// longer in the cluster is in no set, a ready group is pending, and a group that a step made ready stays
/// ready until the action has been done.
/// Source: UpdateGlobalCoordinationState of the FoundationDB operator. Deviation: a group that is excluded
/// and has been in deletion for longer than ignore_terminating blocks nobody. It is ready for inclusion if
/// the database no longer knows any of its processes; otherwise it is not pending until it is gone.
EVENKEEL_API GroupSets next_sets(const ProcessCluster& cluster, const DatabaseStatus& status,
                                 const GroupSets& current, const ProcessGroupTimes& times, WallTime now);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
