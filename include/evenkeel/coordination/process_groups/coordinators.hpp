// SPDX-License-Identifier: Apache-2.0
// Chooses the coordinators of the database. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/coordination/process_groups/cluster.hpp>
#include <evenkeel/coordination/process_groups/database.hpp>
#include <evenkeel/coordination/process_groups/sets.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// A process that may be a coordinator.
struct CoordinatorCandidate {
  const DatabaseProcess* process = nullptr;
  std::int64_t priority = 0;  ///< Far below 0 if the process has yet to be upgraded, and so to restart once.
};

/// Returns all processes that may be coordinators: of an eligible class, with a locality, neither excluded
/// nor under maintenance, and not in `pending_removal`, the groups of all instances that are pending for
/// removal. Lifetime: the result must not outlive `status`. Source: selectCandidates.
EVENKEEL_API std::vector<CoordinatorCandidate> coordinator_candidates(const ProcessCluster& cluster,
                                                                      const DatabaseStatus& status,
                                                                      const GroupIds& pending_removal);

/// A choice of coordinators.
struct CoordinatorChoice {
  std::vector<std::string> coordinators = {};  ///< Addresses, spelled as in the connection string.
  std::optional<std::string> failure = {};     ///< Why no choice is possible.
};
/// Chooses the wanted number of coordinators, spread over zones, data centers and data halls as far as
/// possible, within ProcessCluster::coordinator_limits, higher priorities first. Deterministic.
/// Source: ChooseDistributedProcesses, SelectCoordinators.
EVENKEEL_API CoordinatorChoice choose_coordinators(const ProcessCluster& cluster,
                                                   const DatabaseStatus& status,
                                                   const GroupIds& pending_removal);

/// Returns why the present coordinators cannot stay; nullopt if they can. A coordinator that is marked for
/// removal is not a reason, because the exclusion changes the coordinators before it removes a process, once
/// for all instances; but one that is removed without exclusion is. Source: CheckCoordinatorValidity.
EVENKEEL_API std::optional<std::string> undesired_coordinators(const ProcessCluster& cluster,
                                                               const DatabaseStatus& status);

/// Returns the groups, of all instances, that have a coordinator among their processes.
EVENKEEL_API GroupIds coordinator_groups(const DatabaseStatus& status);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
