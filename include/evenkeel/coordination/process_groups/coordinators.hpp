// SPDX-License-Identifier: Apache-2.0
// Who may be a coordinator of the database, and who is to be. Pure.
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
  std::int64_t priority = 0;  ///< Far below 0 if the process is yet to be upgraded, and so to go down once.
};

/// All processes that may be one: of an eligible class, with a locality, neither excluded nor under
/// maintenance, and of a group that stays: `doomed` are those that are pending for removal, of all instances.
/// Lifetime: of the candidates, as `status`. Source: selectCandidates.
EVENKEEL_API std::vector<CoordinatorCandidate> coordinator_candidates(const ProcessCluster& cluster,
                                                                      const DatabaseStatus& status,
                                                                      const GroupIds& doomed);

struct CoordinatorChoice {
  std::vector<std::string> coordinators = {};  ///< As the connection string names them.
  std::optional<std::string> failure = {};     ///< Why there is no such choice.
};
/// As many as wanted, spread over zones, data centers and data halls as far as that goes, never more than
/// ProcessCluster::coordinator_limits says, those with a higher priority first; the same for the same input.
/// Source: ChooseDistributedProcesses, SelectCoordinators.
EVENKEEL_API CoordinatorChoice choose_coordinators(const ProcessCluster& cluster,
                                                   const DatabaseStatus& status, const GroupIds& doomed);

/// Why the present coordinators cannot stay; nothing if they can. That one is marked for removal is no
/// reason: the exclusion changes the coordinators before it takes away a process, once for all instances; but
/// one that is removed without exclusion is. Source: CheckCoordinatorValidity.
EVENKEEL_API std::optional<std::string> undesired_coordinators(const ProcessCluster& cluster,
                                                               const DatabaseStatus& status);

/// The groups, of all instances, that have a coordinator among their processes.
EVENKEEL_API GroupIds coordinator_groups(const DatabaseStatus& status);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
