// SPDX-License-Identifier: Apache-2.0
// Plans the process groups in the status of a RingCluster, before anything is coordinated with others: which
// groups exist, which are to be removed, and the state of their Pods. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/coordination/process_groups/cluster.hpp>

#include "ring_cluster.hpp"

/// Returns the arguments of knobs: "--knob_cache=2 --knob_size=1".
std::string arguments_of(const RingClusterSpec& spec);

/// Marks the groups that the spec removes, and adds groups until each class has as many unmarked ones as the
/// spec asks for. Ids are used once: "dc1-storage-9" after "dc1-storage-8".
void plan_groups(const RingClusterSpec& spec, std::vector<ec::ProcessGroup>& groups, ek::WallTime now);

/// A Pod in the API server. Absent Pods have no entry.
struct PodFacts {
  bool terminating = false;
  std::optional<std::string> address = {};  ///< Without a port; unset while the Pod is pending.
  std::string synced = {};                  ///< The configuration that its node copied last.
};
using PodsByGroup = std::map<std::string, PodFacts, std::less<>>;

/// Returns the groups whose Pods must be created: they have none and are not being removed.
std::vector<std::string> missing_pods(const std::vector<ec::ProcessGroup>& groups, const PodsByGroup& pods);

/// Sets and clears the conditions that depend on Pods, and records addresses. The step updateStatus sets the
/// conditions that depend on processes.
void observe_pods(const RingClusterSpec& spec, const PodsByGroup& pods, std::vector<ec::ProcessGroup>& groups,
                  ek::WallTime now);

/// Returns the groups that are up to date: not marked, without a condition.
int count_ready(const std::vector<ec::ProcessGroup>& groups);
/// Returns true if exactly the desired groups exist.
bool is_complete(const RingClusterSpec& spec, const std::vector<ec::ProcessGroup>& groups);

/// Converts the resource to the input of the process group rules. `coordinators`: the number of coordinators
/// of the database, which the sites share.
ec::ProcessCluster process_cluster(const RingCluster& cluster, std::size_t sites, std::size_t coordinators);
