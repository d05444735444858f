// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <evenkeel/coordination/process_groups/exclusion.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

bool is_in(const std::vector<std::string>& texts, std::string_view one) {
  return std::ranges::find(texts, one) != texts.end();
}

/// Returns what is left to exclude of the group, given that its locality is not excluded.
std::vector<std::string> targets_of(const ProcessCluster& cluster, const ProcessGroup& group,
                                    const std::vector<std::string>& exclusions) {
  if (cluster.localities_for_exclusion) return {group.exclusion_text()};
  std::vector<std::string> targets;
  std::ranges::copy_if(group.addresses, std::back_inserter(targets),
                       [&](const std::string& address) { return !is_in(exclusions, address); });
  return targets;
}

bool is_to_be_excluded(const ProcessGroup& group) {
  return !is_test_class(group.process_class) && group.is_marked_for_removal() && !group.is_excluded();
}

std::size_t count_of(const ProcessCluster& cluster, std::string_view process_class) {
  const auto found = cluster.process_counts.find(process_class);
  return found == cluster.process_counts.end() ? 0 : found->second;
}

}  // namespace

ExclusionNeed exclusion_need(const ProcessCluster& cluster, const std::vector<std::string>& exclusions) {
  ExclusionNeed need;
  for (const ProcessGroup& group : cluster.process_groups) {
    if (!is_to_be_excluded(group)) continue;
    std::vector<std::string> targets;
    if (!is_in(exclusions, group.exclusion_text())) targets = targets_of(cluster, group, exclusions);
    if (targets.empty()) {
      ++need.ongoing[group.process_class];
    } else {
      need.to_exclude[group.process_class].push_back({group.id, std::move(targets)});
    }
  }
  return need;
}

AllowedExclusions allowed_exclusions(const ProcessCluster& cluster, std::string_view process_class,
                                     std::size_t ongoing, const ProcessGroupTimes& times, WallTime now) {
  AllowedExclusions allowed;
  std::size_t valid = 0;
  bool has_recent = false;
  for (const ProcessGroup& group : cluster.process_groups) {
    if (group.process_class != process_class) continue;
    if (group.is_marked_for_removal() && group.is_excluded()) continue;
    const auto missing = group.since(condition::missing_processes);
    if (!missing) {
      ++valid;
      continue;
    }
    allowed.missing.push_back(group.id);
    has_recent = has_recent || now - *missing < times.ignore_missing_for_exclusion;
  }
  const std::size_t have = valid + cluster.fault_tolerance;
  const std::size_t need = count_of(cluster, process_class) + ongoing;
  if (!has_recent && have > need) allowed.count = have - need;
  return allowed;
}

ExclusionPlan plan_exclusion(const ProcessCluster& cluster, const DatabaseStatus& status,
                             const ProcessGroupTimes& times, WallTime now) {
  ExclusionPlan plan;
  const ExclusionNeed need = exclusion_need(cluster, status.exclusions);
  bool transaction_system_allowed = true;
  for (const auto& [process_class, entries] : need.to_exclude) {
    const auto ongoing = need.ongoing.find(process_class);
    const AllowedExclusions allowed = allowed_exclusions(
        cluster, process_class, ongoing == need.ongoing.end() ? 0 : ongoing->second, times, now);
    const std::size_t count = std::min(allowed.count, entries.size());
    if (count == 0 && is_transaction_class(process_class)) transaction_system_allowed = false;
    plan.all = plan.all && count == entries.size();
    plan.ready.insert(plan.ready.end(), entries.begin(),
                      entries.begin() + static_cast<std::ptrdiff_t>(count));
  }
  plan.needed = !need.to_exclude.empty();
  if (plan.needed && plan.ready.empty()) {
    plan.wait = "more exclusions needed but not allowed, have to wait for new processes to come up";
  } else if (!transaction_system_allowed) {
    plan.wait =
        "more exclusions needed but not allowed, have to wait until new processes for the transaction system "
        "are up to reduce number of recoveries.";
  }
  if (plan.wait) plan.ready.clear();
  return plan;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
