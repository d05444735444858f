// SPDX-License-Identifier: Apache-2.0
// What an instance says to the others of its process groups: the seven sets of the FoundationDB operator and
// the addresses. Pure: what the sets become follows from the resource, the status and the sets as they were.
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

/// The sets' names in the key space.
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
  /// Of groups marked for removal.
  std::map<std::string, std::vector<std::string>, std::less<>> addresses = {};

  /// One of the seven, by its name in the key space; null for another name.
  GroupIds* named(std::string_view name);
  const GroupIds* named(std::string_view name) const;

  friend bool operator==(const GroupSets&, const GroupSets&) = default;
};

/// Whether a restart does not wait for the group: its processes are missing or its Pod pending for too long,
/// or it is being deleted.
EVENKEEL_API bool is_ignored_for_restart(const ProcessGroup& group, const ProcessGroupTimes& times,
                                         WallTime now);

/// The sets of the cluster as the next publish has them; `current` is what they are. A group that is not in
/// the cluster any more is in none of them, one that is ready is pending, and who became ready by a step
/// stays so until what it was ready for has happened.
/// Source: UpdateGlobalCoordinationState of the FoundationDB operator, with one difference: a group that is
/// excluded and has been in deletion for longer than ignore_terminating holds up nobody. It is ready for
/// inclusion if the database knows no process of it any more, and else not pending until it is gone.
EVENKEEL_API GroupSets next_sets(const ProcessCluster& cluster, const DatabaseStatus& status,
                                 const GroupSets& current, const ProcessGroupTimes& times, WallTime now);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
