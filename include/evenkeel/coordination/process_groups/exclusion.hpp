// SPDX-License-Identifier: Apache-2.0
// Which process groups are to be excluded, and how many of them may be now. Pure.
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

/// A group that is to be excluded, and by which texts.
struct ExclusionEntry {
  std::string id = {};
  std::vector<std::string> targets = {};

  friend bool operator==(const ExclusionEntry&, const ExclusionEntry&) = default;
};

struct ExclusionNeed {
  /// By process class, in the order of the cluster's groups. A class without entries is not there.
  std::map<std::string, std::vector<ExclusionEntry>, std::less<>> to_exclude = {};
  /// Groups that the database excludes already and that are not done, by class.
  std::map<std::string, std::size_t, std::less<>> ongoing = {};
};

/// Groups that are marked for removal and neither excluded nor being excluded. By locality, if the cluster
/// says so, else by the addresses that are not excluded yet. `exclusions` is what the database excludes.
/// Source: getProcessesToExclude.
EVENKEEL_API ExclusionNeed exclusion_need(const ProcessCluster& cluster,
                                          const std::vector<std::string>& exclusions);

struct AllowedExclusions {
  std::size_t count = 0;
  std::vector<std::string> missing = {};  ///< Groups of the class whose processes are missing.
};
/// How many groups of a class may be excluded: as many as there are processes above the wanted number, and
/// the fault tolerance beyond, less those that are being excluded. None while one is missing for less than
/// ignore_missing_for_exclusion. Source: getAllowedExclusionsAndMissingProcesses.
EVENKEEL_API AllowedExclusions allowed_exclusions(const ProcessCluster& cluster,
                                                  std::string_view process_class, std::size_t ongoing,
                                                  const ProcessGroupTimes& times, WallTime now);

struct ExclusionPlan {
  bool needed = false;                     ///< Some group is to be excluded.
  std::vector<ExclusionEntry> ready = {};  ///< Those that may be excluded now.
  bool all = true;                         ///< ... are all that are to be.
  std::optional<std::string> wait = {};    ///< Why none of them may.
};
/// What of the cluster may be excluded now. Classes of the transaction system wait for each other, so that it
/// recovers once: nothing is ready while one of them has groups to exclude and none allowed.
EVENKEEL_API ExclusionPlan plan_exclusion(const ProcessCluster& cluster, const DatabaseStatus& status,
                                          const ProcessGroupTimes& times, WallTime now);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
