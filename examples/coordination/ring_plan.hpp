// SPDX-License-Identifier: Apache-2.0
// What a RingCluster's status should say of its process groups, before anything is agreed upon with others:
// which there are, which go, and how their pods are. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/coordination/process_groups/cluster.hpp>

#include "ring_cluster.hpp"

/// "--knob_cache=2 --knob_size=1"
std::string arguments_of(const RingClusterSpec& spec);

/// Marks what the spec wants removed, and adds groups until there are as many of each class as it wants,
/// without those that are marked. Ids are used once: "dc1-storage-9" after "dc1-storage-8".
void plan_groups(const RingClusterSpec& spec, std::vector<ec::ProcessGroup>& groups, ek::WallTime now);

/// A pod as the API server has it. Absent pods have none.
struct PodFacts {
  bool terminating = false;
  std::optional<std::string> address = {};  ///< Without a port; nothing while it is pending.
  std::string synced = {};                  ///< What its node copied last.
};
using PodsByGroup = std::map<std::string, PodFacts, std::less<>>;

/// The groups whose pods are to be created: they have none and are not on their way out.
std::vector<std::string> missing_pods(const std::vector<ec::ProcessGroup>& groups, const PodsByGroup& pods);

/// Sets and clears the conditions that pods tell of, and notes addresses. What processes tell of is set by
/// the step updateStatus.
void observe_pods(const RingClusterSpec& spec, const PodsByGroup& pods, std::vector<ec::ProcessGroup>& groups,
                  ek::WallTime now);

/// Groups that are as they should be: not marked, without a condition.
int count_ready(const std::vector<ec::ProcessGroup>& groups);
/// All groups that are wanted are there, and nothing else.
bool is_complete(const RingClusterSpec& spec, const std::vector<ec::ProcessGroup>& groups);

/// The same resource as the rules of process groups see it.
ec::ProcessCluster process_cluster(const RingCluster& cluster, std::size_t sites);
