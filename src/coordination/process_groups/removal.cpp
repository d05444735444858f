// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <evenkeel/coordination/process_groups/removal.hpp>

#include "processes_by_group.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

bool contains(const std::vector<std::string>& texts, std::string_view one) {
  return std::ranges::find(texts, one) != texts.end();
}

/// Returns true if the database still has roles on the group, or shows a process of it that is not excluded.
bool is_used(const std::vector<const DatabaseProcess*>& processes) {
  return std::ranges::any_of(processes, [](const DatabaseProcess* process) {
    return !process->excluded || !process->roles.empty();
  });
}

bool has_coordinator(const std::vector<const DatabaseProcess*>& processes, const DatabaseStatus& status) {
  return std::ranges::any_of(processes,
                             [&](const DatabaseProcess* process) { return status.is_coordinator(*process); });
}

/// Returns true if the group is empty and stays so. A group that the database does not report counts as empty
/// only if it is excluded.
bool is_done(const ProcessGroup& group, const std::vector<const DatabaseProcess*>& processes,
             const DatabaseStatus& status) {
  if (is_test_class(group.process_class) || group.exclusion_skipped) return true;
  if (is_used(processes)) return false;
  if (!processes.empty() || group.is_excluded()) return true;
  if (contains(status.exclusions, group.exclusion_text())) return true;
  return !group.addresses.empty() && std::ranges::all_of(group.addresses, [&](const std::string& address) {
    return contains(status.exclusions, address);
  });
}

using Zones = std::map<std::string, std::vector<std::string>, std::less<>>;

std::string zone_of(const std::vector<const DatabaseProcess*>& processes) {
  const std::string_view zone = processes.empty() ? "" : processes.front()->where(locality::zone_id);
  return zone.empty() ? "foundationdb.org/unknown" : std::string(zone);
}

/// Makes a batch of `zones`, which must not be empty.
void choose(RemovalMode mode, Zones zones, RemovalBatch& batch) {
  const auto largest =
      std::ranges::max_element(zones, {}, [](const auto& zone) { return zone.second.size(); });
  switch (mode) {
    case RemovalMode::all:
      batch.zone = "cluster";
      for (auto& [zone, ids] : zones) batch.begin.insert(batch.begin.end(), ids.begin(), ids.end());
      return;
    case RemovalMode::zone:
      batch.zone = largest->first;
      batch.begin = std::move(largest->second);
      return;
    case RemovalMode::process_group:
      batch.zone = zones.begin()->first;
      batch.begin = {zones.begin()->second.front()};
      return;
    case RemovalMode::none:
      return;
  }
}

}  // namespace

RemovalBatch next_removals(const ProcessCluster& cluster, const DatabaseStatus& status,
                           const std::vector<std::string>& removable, const ProcessGroupTimes& times,
                           WallTime now) {
  RemovalBatch batch;
  Zones zones;
  const ProcessesByGroup processes(status);
  std::optional<WallTime> last;
  for (const std::string& id : removable) {
    const ProcessGroup* group = cluster.find(id);
    if (group == nullptr) continue;
    if (const auto since = group->since(condition::resources_terminating)) {
      batch.under_way.push_back(id);
      last = std::max(last.value_or(*since), *since);
    } else {
      zones[zone_of(processes.of(id))].push_back(id);
    }
  }
  if (zones.empty()) return batch;
  if (last && cluster.removal_mode != RemovalMode::all) {
    batch.wait = std::max(times.wait_between_removals - Duration(now - *last), Duration::zero());
    if (batch.wait > Duration::zero()) return batch;
  }
  choose(cluster.removal_mode, std::move(zones), batch);
  return batch;
}

RemovalPlan plan_removal(const ProcessCluster& cluster, const DatabaseStatus& status) {
  RemovalPlan plan;
  const ProcessesByGroup by_group(status);
  for (const ProcessGroup& group : cluster.process_groups) {
    if (!group.is_marked_for_removal()) continue;
    const auto& processes = by_group.of(group.id);
    if (has_coordinator(processes, status) || !is_done(group, processes, status)) {
      plan.all_excluded = false;
      continue;
    }
    plan.removable.push_back(group.id);
    if (!group.is_excluded()) plan.newly_done.push_back(group.id);
  }
  return plan;
}

std::vector<std::string> exclusion_texts(std::string_view id, const std::vector<std::string>& addresses) {
  std::vector<std::string> texts{std::string(locality_exclusion_prefix).append(id)};
  texts.insert(texts.end(), addresses.begin(), addresses.end());
  return texts;
}

std::vector<std::string> only_excluded(const std::vector<std::string>& texts,
                                       const std::vector<std::string>& exclusions) {
  std::vector<std::string> out;
  std::ranges::copy_if(texts, std::back_inserter(out),
                       [&](const std::string& text) { return contains(exclusions, text); });
  return out;
}

InclusionNeed inclusion_need(const ProcessCluster& cluster, const GroupIds& gone,
                             const std::vector<std::string>& exclusions) {
  InclusionNeed need;
  for (const ProcessGroup& group : cluster.process_groups) {
    if (!group.is_marked_for_removal() || !gone.contains(group.id)) continue;
    std::vector<std::string> texts;
    if (!is_test_class(group.process_class)) {
      texts = only_excluded(exclusion_texts(group.id, group.addresses), exclusions);
    }
    // The exclusion of a log process by locality is checked by address, so an exclusion by address may
    // remain.
    if (is_log_class(group.process_class) && contains(texts, group.exclusion_text())) {
      texts = exclusion_texts(group.id, group.addresses);
    }
    (texts.empty() ? need.to_drop : need.ready).push_back(group.id);
    need.targets.insert(need.targets.end(), texts.begin(), texts.end());
  }
  return need;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
