// SPDX-License-Identifier: Apache-2.0
// Which process groups may be deleted, and which of those that are gone are to be included again, so that the
// database forgets that they were excluded. Pure.
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

struct RemovalPlan {
  std::vector<std::string> removable = {};   ///< Marked for removal, and nothing is left on them.
  std::vector<std::string> newly_done = {};  ///< Of these, whose exclusion was not known to be done.
  bool all_excluded = true;                  ///< Nothing that is marked has to be excluded yet.
};
/// A group that is a coordinator is never removable, whatever its timestamps say; nor is one that was
/// excluded while the database still shows one of its processes with a role, or not excluded.
/// Source: getProcessGroupsToRemove, getRemainingAndExcludedFromStatus.
EVENKEEL_API RemovalPlan plan_removal(const ProcessCluster& cluster, const DatabaseStatus& status);

/// What is deleted now.
struct RemovalBatch {
  std::string zone = {};                    ///< Whose groups these are; "cluster" for RemovalMode::all.
  std::vector<std::string> begin = {};      ///< To be deleted.
  std::vector<std::string> under_way = {};  ///< Their deletion has begun before.
  /// There are others, and they are yet to wait for so long; 0: for those that are deleted now.
  Duration wait = {};
};
/// What of `removable` (as plan_removal() gives it) is deleted now, by ProcessCluster::removal_mode. The
/// pause counts from the newest condition ResourcesTerminating, so it ends early if that group is forgotten
/// before. Zones are those of the processes that the database reports; a group of which it reports none is in
/// the zone "foundationdb.org/unknown". Of zones with as many groups the first by name is taken.
/// Source: internal/removals GetZonedRemovals, GetProcessGroupsToRemove, RemovalAllowed.
EVENKEEL_API RemovalBatch next_removals(const ProcessCluster& cluster, const DatabaseStatus& status,
                                        const std::vector<std::string>& removable,
                                        const ProcessGroupTimes& times, WallTime now);

struct InclusionNeed {
  std::vector<std::string> targets = {};  ///< What the database excludes of the groups that are gone.
  std::vector<std::string> ready = {};    ///< The groups of these targets.
  std::vector<std::string> to_drop = {};  ///< Groups that are gone and need no inclusion.
};
/// `gone` are groups of which nothing is left. Test processes are never excluded. A log group is included by
/// all its addresses, too. Source: getProcessesToInclude.
EVENKEEL_API InclusionNeed inclusion_need(const ProcessCluster& cluster, const GroupIds& gone,
                                          const std::vector<std::string>& exclusions);

/// The texts by which the database may know an excluded group: its locality, and its addresses.
EVENKEEL_API std::vector<std::string> exclusion_texts(std::string_view id,
                                                      const std::vector<std::string>& addresses);
/// Those of `texts` that are in `exclusions`. Source: filterAddressesToInclude.
EVENKEEL_API std::vector<std::string> only_excluded(const std::vector<std::string>& texts,
                                                    const std::vector<std::string>& exclusions);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
