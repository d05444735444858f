// SPDX-License-Identifier: Apache-2.0
#include "ring_plan.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include <evenkeel/coordination/process_groups/database.hpp>

#include "ring_pods.hpp"

namespace {

using Groups = std::vector<ec::ProcessGroup>;

std::vector<std::pair<std::string, int>> wanted_counts(const RingClusterSpec& spec) {
  return {{"storage", spec.processes.storage},
          {"log", spec.processes.log},
          {"stateless", spec.processes.stateless}};
}

bool contains(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// Returns 9 for "dc1-storage-9" where `stem` is "dc1-storage-"; 0 for other names.
int number_of(std::string_view id, std::string_view stem) {
  int number = 0;
  if (!id.starts_with(stem)) return 0;
  const std::string_view digits = id.substr(stem.size());
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? number : 0;
}

int last_number(const RingClusterSpec& spec, const Groups& groups, std::string_view stem) {
  int last = 0;
  for (const ec::ProcessGroup& group : groups) last = std::max(last, number_of(group.id, stem));
  for (const std::string& id : spec.process_groups_to_remove) last = std::max(last, number_of(id, stem));
  return last;
}

void set_if(ec::ProcessGroup& group, std::string_view condition, bool holds, ek::WallTime now) {
  if (holds) {
    group.set(condition, now);
  } else {
    group.clear(condition);
  }
}

int count_staying(const Groups& groups, std::string_view process_class) {
  return static_cast<int>(std::count_if(groups.begin(), groups.end(), [&](const ec::ProcessGroup& group) {
    return group.process_class == process_class && !group.is_marked_for_removal();
  }));
}

}  // namespace

std::string arguments_of(const RingClusterSpec& spec) {
  std::string text;
  for (const auto& [name, value] : spec.knobs)
    text.append(text.empty() ? "" : " ").append("--knob_").append(name).append("=").append(value);
  return text;
}

void plan_groups(const RingClusterSpec& spec, Groups& groups, ek::WallTime now) {
  for (ec::ProcessGroup& group : groups) {
    if (!group.is_marked_for_removal() && contains(spec.process_groups_to_remove, group.id))
      group.removal_timestamp = now;
  }
  for (const auto& [process_class, count] : wanted_counts(spec)) {
    const std::string stem = spec.process_group_id_prefix + "-" + process_class + "-";
    int last = last_number(spec, groups, stem);
    for (int have = count_staying(groups, process_class); have < count; ++have) {
      ec::ProcessGroup group;
      group.id = stem + std::to_string(++last);
      group.process_class = process_class;
      group.set(ec::condition::missing_processes, now);
      groups.push_back(std::move(group));
    }
  }
}

std::vector<std::string> missing_pods(const Groups& groups, const PodsByGroup& pods) {
  std::vector<std::string> missing;
  for (const ec::ProcessGroup& group : groups) {
    if (!group.is_marked_for_removal() && !pods.contains(group.id)) missing.push_back(group.id);
  }
  return missing;
}

void observe_pods(const RingClusterSpec& spec, const PodsByGroup& pods, Groups& groups, ek::WallTime now) {
  const std::string text = configuration_text(spec.version, arguments_of(spec));
  for (ec::ProcessGroup& group : groups) {
    const auto found = pods.find(group.id);
    const PodFacts* pod = found == pods.end() ? nullptr : &found->second;
    if (pod != nullptr && pod->address && !contains(group.addresses, *pod->address))
      group.addresses.push_back(*pod->address);
    set_if(group, ec::condition::pod_pending, pod != nullptr && !pod->address, now);
    set_if(group, ec::condition::resources_terminating, pod != nullptr && pod->terminating, now);
    set_if(group, ec::condition::incorrect_config_map, pod != nullptr && pod->address && pod->synced != text,
           now);
    set_if(group, ec::condition::incorrect_sidecar_image,
           pod != nullptr && pod->address && !pod->synced.starts_with(spec.version + " "), now);
  }
}

int count_ready(const Groups& groups) {
  return static_cast<int>(std::count_if(groups.begin(), groups.end(), [](const ec::ProcessGroup& group) {
    return !group.is_marked_for_removal() && group.conditions.empty();
  }));
}

bool is_complete(const RingClusterSpec& spec, const Groups& groups) {
  int wanted = 0;
  for (const auto& [process_class, count] : wanted_counts(spec)) wanted += count;
  return count_ready(groups) == wanted && groups.size() == static_cast<std::size_t>(wanted);
}

ec::ProcessCluster process_cluster(const RingCluster& cluster, std::size_t sites, std::size_t coordinators) {
  ec::ProcessCluster result;
  result.version = cluster.spec.version;
  for (const auto& [process_class, count] : wanted_counts(cluster.spec))
    result.process_counts[process_class] = static_cast<std::size_t>(count);
  result.coordinator_count = coordinators;
  result.coordinator_classes = {{"storage"}, {"log"}};
  result.coordinator_limits = {{std::string(ec::locality::zone_id), 1},
                               {std::string(ec::locality::dc_id), (coordinators + sites - 1) / sites}};
  result.removal_mode = ec::RemovalMode::all;
  result.process_groups = cluster.status.process_groups;
  result.running_version = cluster.status.running_version;
  result.connection_string = cluster.status.connection_string;
  result.configured = cluster.status.configured;
  result.reconciled = is_complete(cluster.spec, cluster.status.process_groups);
  return result;
}
