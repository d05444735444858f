// SPDX-License-Identifier: Apache-2.0
// Clusters for the tests of process groups.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <evenkeel/coordination/process_groups/cluster.hpp>
#include <evenkeel/coordination/process_groups/database.hpp>

namespace evenkeel::coordination::tests {

using namespace std::chrono_literals;

inline const WallTime wall_start{1'700'000'000s};

inline void add_groups(ProcessCluster& cluster, const std::string& prefix, const std::string& process_class,
                       std::size_t count) {
  int net = 0;  // differs for each prefix
  for (const char c : prefix) net = (net * 7 + c) % 250;
  for (std::size_t i = 1; i <= count; ++i) {
    const std::string last = std::to_string(cluster.process_groups.size() + 1);
    cluster.process_groups.push_back({.id = prefix + process_class + "-" + std::to_string(i),
                                      .process_class = process_class,
                                      .addresses = {"1.1." + std::to_string(net) + "." + last}});
  }
  cluster.process_counts[process_class] = count;
}

/// Equivalent of CreateDefaultCluster of the FoundationDB operator: double redundancy, 17 groups. `prefix`
/// ends with '-', or is empty.
inline ProcessCluster default_cluster(const std::string& prefix = "") {
  ProcessCluster cluster{.version = "7.1.57"};
  add_groups(cluster, prefix, "storage", 4);
  add_groups(cluster, prefix, "log", 4);
  add_groups(cluster, prefix, "stateless", 8);
  add_groups(cluster, prefix, "cluster_controller", 1);
  return cluster;
}

/// The processes of the groups that have an address, each with a long uptime and its own zone.
inline std::vector<DatabaseProcess> processes_of(const ProcessCluster& cluster) {
  std::vector<DatabaseProcess> processes;
  for (const ProcessGroup& group : cluster.process_groups) {
    if (group.addresses.empty()) continue;
    processes.push_back({.address = group.addresses.back() + ":4501",
                         .process_class = group.process_class,
                         .locality = {{"instance_id", group.id}, {"zoneid", group.id}},
                         .version = cluster.version,
                         .uptime = 60000s,
                         .roles = {group.process_class}});
  }
  return processes;
}

/// A database that runs nothing but the cluster, with its first storage groups as coordinators.
inline DatabaseStatus status_of(const ProcessCluster& cluster) {
  DatabaseStatus status{.generation = 10, .since_last_recovery = 60000s, .processes = processes_of(cluster)};
  for (DatabaseProcess& process : status.processes) {
    if (status.coordinators.size() == cluster.coordinator_count) break;
    status.coordinators.push_back(process.address);
    process.roles.emplace_back("coordinator");
  }
  status.connection_string = "first";
  return status;
}

inline std::vector<ProcessGroup*> of_class(ProcessCluster& cluster, std::string_view process_class) {
  std::vector<ProcessGroup*> groups;
  for (ProcessGroup& group : cluster.process_groups) {
    if (group.process_class == process_class) groups.push_back(&group);
  }
  return groups;
}

}  // namespace evenkeel::coordination::tests
