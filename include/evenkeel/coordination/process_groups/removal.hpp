// SPDX-License-Identifier: Apache-2.0
// Determines which process groups may be deleted, and which deleted groups must be included again, so that
// the database forgets their exclusion. Pure.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/process_groups/cluster.hpp>
#include <evenkeel/coordination/process_groups/database.hpp>
#include <evenkeel/coordination/process_groups/sets.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// The groups that may be deleted.
struct RemovalPlan {
  std::vector<std::string> removable = {};  ///< Groups that are marked for removal and hold nothing any more.
  std::vector<std::string> newly_done = {};  ///< Those of them whose exclusion was not known to be complete.
  bool all_excluded = true;                  ///< No marked group still has to be excluded.
};
/// Plans removals. A group with a coordinator is never removable, whatever its timestamps; nor is an excluded
/// group of which the database still shows a process with a role, or one that is not excluded.
/// Source: getProcessGroupsToRemove, getRemainingAndExcludedFromStatus.
EVENKEEL_API RemovalPlan plan_removal(const ProcessCluster& cluster, const DatabaseStatus& status);

/// The groups that are deleted next.
struct RemovalBatch {
  std::string zone = {};                    ///< The zone of these groups; "cluster" for RemovalMode::all.
  std::vector<std::string> begin = {};      ///< Groups whose deletion starts now.
  std::vector<std::string> under_way = {};  ///< Groups whose deletion has started before.
  /// The time for which other groups still have to wait; 0: they wait only for the present deletions.
  Duration wait = {};
};
/// Returns which of `removable` (see RemovalPlan) are deleted now, by ProcessCluster::removal_mode. The pause
/// counts from the newest condition ResourcesTerminating, so it ends early if that group is forgotten before.
/// Zones are those of the processes that the database reports; a group without a reported process is in the
/// zone "foundationdb.org/unknown". Of zones with equally many groups the first by name is chosen.
/// Source: internal/removals GetZonedRemovals, GetProcessGroupsToRemove, RemovalAllowed.
EVENKEEL_API RemovalBatch next_removals(const ProcessCluster& cluster, const DatabaseStatus& status,
                                        const std::vector<std::string>& removable,
                                        const ProcessGroupTimes& times, WallTime now);

/// The exclusions that must end.
struct InclusionNeed {
  std::vector<std::string> targets = {};  ///< The exclusions in the database that concern deleted groups.
  std::vector<std::string> ready = {};    ///< The groups of these targets.
  std::vector<std::string> to_drop = {};  ///< Deleted groups that need no inclusion.
};
/// Plans inclusions. `gone` are the groups of which nothing is left. Test processes are never excluded. A log
/// group is included by all its addresses as well. Source: getProcessesToInclude.
EVENKEEL_API InclusionNeed inclusion_need(const ProcessCluster& cluster, const GroupIds& gone,
                                          const std::vector<std::string>& exclusions);

/// Returns the texts by which the database may know an excluded group: its locality, and its addresses.
EVENKEEL_API std::vector<std::string> exclusion_texts(std::string_view id,
                                                      const std::vector<std::string>& addresses);
/// Returns those of `texts` that are in `exclusions`. Source: filterAddressesToInclude.
EVENKEEL_API std::vector<std::string> only_excluded(const std::vector<std::string>& texts,
                                                    const std::vector<std::string>& exclusions);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
