// SPDX-License-Identifier: Apache-2.0
// Determines which process groups must be excluded, and how many of them may be excluded now. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/process_groups/cluster.hpp>
#include <evenkeel/coordination/process_groups/database.hpp>
#include <evenkeel/coordination/process_groups/sets.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// A group that must be excluded, and the texts by which the database excludes it.
struct ExclusionEntry {
  std::string id = {};
  std::vector<std::string> targets = {};

  friend bool operator==(const ExclusionEntry&, const ExclusionEntry&) = default;
};

/// The groups that must be excluded.
struct ExclusionNeed {
  /// By process class, in the order of the cluster's groups. A class without entries is absent.
  std::map<std::string, std::vector<ExclusionEntry>, std::less<>> to_exclude = {};
  /// Number of groups whose exclusion has started and is not complete, by class.
  std::map<std::string, std::size_t, std::less<>> ongoing = {};
};

/// Returns the groups that are marked for removal and neither excluded nor being excluded. They are excluded
/// by locality if the cluster asks for that, otherwise by those of their addresses that are not excluded yet.
/// `exclusions` is the list of the database. Source: getProcessesToExclude.
EVENKEEL_API ExclusionNeed exclusion_need(const ProcessCluster& cluster,
                                          const std::vector<std::string>& exclusions);

/// The number of groups of a class that may be excluded.
struct AllowedExclusions {
  std::size_t count = 0;
  std::vector<std::string> missing = {};  ///< Groups of the class whose processes are missing.
};
/// Returns how many groups of a class may be excluded: the number of processes above the desired one, plus
/// the fault tolerance, minus those that are being excluded. Zero while a group has been missing for less
/// than ignore_missing_for_exclusion. Source: getAllowedExclusionsAndMissingProcesses.
EVENKEEL_API AllowedExclusions allowed_exclusions(const ProcessCluster& cluster,
                                                  std::string_view process_class, std::size_t ongoing,
                                                  const ProcessGroupTimes& times, WallTime now);

/// The exclusions that are possible now.
struct ExclusionPlan {
  bool needed = false;                     ///< At least one group must be excluded.
  std::vector<ExclusionEntry> ready = {};  ///< The groups that may be excluded now.
  bool all = true;                         ///< `ready` has all groups that must be excluded.
  std::optional<std::string> wait = {};    ///< Why `ready` is empty.
};
/// Plans the exclusions of the cluster. Classes of the transaction system wait for each other, so that the
/// database recovers once: nothing is ready while one of them has groups to exclude and none of them is
/// allowed.
EVENKEEL_API ExclusionPlan plan_exclusion(const ProcessCluster& cluster, const DatabaseStatus& status,
                                          const ProcessGroupTimes& times, WallTime now);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
