// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include <evenkeel/coordination/process_groups/coordinators.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

const CoordinatorClass* eligible(const ProcessCluster& cluster, std::string_view process_class) {
  const auto found =
      std::ranges::find(cluster.coordinator_classes, process_class, &CoordinatorClass::process_class);
  return found == cluster.coordinator_classes.end() ? nullptr : &*found;
}

bool is_candidate(const ProcessCluster& cluster, const DatabaseProcess& process,
                  const GroupIds& pending_removal) {
  if (process.excluded || process.under_maintenance || process.locality.empty()) return false;
  if (eligible(cluster, process.process_class) == nullptr) return false;
  if (cluster.dns_in_connection_string && process.where(locality::dns_name).empty()) return false;
  const ProcessGroup* group = cluster.find(process.group());
  return !pending_removal.contains(process.group()) && (group == nullptr || !group->is_marked_for_removal());
}

std::int64_t priority_of(const ProcessCluster& cluster, const DatabaseProcess& process) {
  const int priority = eligible(cluster, process.process_class)->priority;
  // A process with an old version, or with a binary in a shared volume, goes down when its Pod is recreated,
  // so it is chosen only if there are not enough others.
  const bool goes_down = process.version != cluster.version || process.command_line.starts_with("/var/");
  if (!goes_down) return priority;
  return std::numeric_limits<std::int64_t>::min() + std::max(priority, 0);
}

/// Chooses coordinators one by one, each time the first candidate within all limits. Limits start at one and
/// are raised, the innermost locality first, when no candidate is left.
class Chooser {
 public:
  Chooser(const ProcessCluster& cluster, const std::vector<CoordinatorCandidate>& candidates)
      : cluster_(cluster), candidates_(candidates) {
    for (const std::string_view place : {locality::zone_id, locality::dc_id, locality::data_hall}) {
      const bool is_used = std::ranges::any_of(
          candidates, [&](const CoordinatorCandidate& one) { return !one.process->where(place).empty(); });
      if (is_used) places_.push_back({place, hard_limit(place), 1, {}});
    }
  }

  std::vector<const DatabaseProcess*> choose() {
    while (chosen_.size() < cluster_.coordinator_count && (take_those_that_fit() || raise_a_limit())) {
    }
    return chosen_;
  }

 private:
  struct Place {
    std::string_view name;
    std::size_t hard_limit;
    std::size_t limit;
    std::map<std::string_view, std::size_t> taken;
  };

  std::size_t hard_limit(std::string_view place) const {
    const auto found = cluster_.coordinator_limits.find(place);
    return found == cluster_.coordinator_limits.end() ? cluster_.coordinator_count : found->second;
  }

  bool take_those_that_fit() {
    const std::size_t before = chosen_.size();
    for (const CoordinatorCandidate& one : candidates_) {
      if (chosen_.size() == cluster_.coordinator_count) break;
      if (groups_.contains(one.process->group()) || !fits(*one.process)) continue;
      for (Place& place : places_) ++place.taken[one.process->where(place.name)];
      groups_.insert(one.process->group());
      chosen_.push_back(one.process);
    }
    return chosen_.size() > before;
  }

  bool fits(const DatabaseProcess& process) {
    return std::ranges::all_of(
        places_, [&](Place& place) { return place.taken[process.where(place.name)] < place.limit; });
  }

  bool raise_a_limit() {
    for (auto place = places_.rbegin(); place != places_.rend(); ++place) {
      if (place->limit >= place->hard_limit) continue;
      ++place->limit;
      return true;
    }
    return false;
  }

  const ProcessCluster& cluster_;
  const std::vector<CoordinatorCandidate>& candidates_;
  std::vector<Place> places_;
  std::set<std::string_view> groups_;
  std::vector<const DatabaseProcess*> chosen_;
};

/// Orders by primary data center, priority and id, so that the choice is deterministic.
void sort(std::vector<CoordinatorCandidate>& candidates, std::string_view primary_dc) {
  const auto rank = [&](const CoordinatorCandidate& one) {
    const bool is_away = !primary_dc.empty() && one.process->where(locality::dc_id) != primary_dc;
    return std::tuple(is_away, -(one.priority + 1), one.process->group(),
                      std::string_view(one.process->address));
  };
  std::ranges::stable_sort(candidates, {}, rank);
}

std::string name_of(const ProcessCluster& cluster, const DatabaseProcess& process) {
  std::string name;
  if (cluster.dns_in_connection_string) name = process.dns_address();
  return name.empty() ? process.address : name;
}

/// Returns why this coordinator cannot stay one.
std::optional<std::string> unfit(const ProcessCluster& cluster, const DatabaseProcess& process,
                                 std::string_view known_as) {
  if (process.excluded) return "is excluded";
  if (eligible(cluster, process.process_class) == nullptr) return "is of class " + process.process_class;
  if (known_as != name_of(cluster, process)) return "is not listed by its current address";
  const ProcessGroup* group = cluster.find(process.group());
  if (group != nullptr && group->is_marked_for_removal() && group->exclusion_skipped) {
    return "is to be removed without being excluded";
  }
  return std::nullopt;
}

std::optional<std::string> crowded(const ProcessCluster& cluster,
                                   const std::vector<const DatabaseProcess*>& coordinators) {
  for (const auto& [place, limit] : cluster.coordinator_limits) {
    std::map<std::string_view, std::size_t> taken;
    for (const DatabaseProcess* one : coordinators) {
      const std::string_view where = one->where(place);
      if (where.empty() || ++taken[where] <= limit) continue;
      return "too many coordinators in " + place + " " + std::string(where);
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<CoordinatorCandidate> coordinator_candidates(const ProcessCluster& cluster,
                                                         const DatabaseStatus& status,
                                                         const GroupIds& pending_removal) {
  std::vector<CoordinatorCandidate> candidates;
  for (const DatabaseProcess& process : status.processes) {
    if (!is_candidate(cluster, process, pending_removal)) continue;
    candidates.push_back({&process, priority_of(cluster, process)});
  }
  return candidates;
}

CoordinatorChoice choose_coordinators(const ProcessCluster& cluster, const DatabaseStatus& status,
                                      const GroupIds& pending_removal) {
  std::vector<CoordinatorCandidate> candidates = coordinator_candidates(cluster, status, pending_removal);
  sort(candidates, cluster.primary_dc);
  const auto chosen = Chooser(cluster, candidates).choose();
  CoordinatorChoice choice;
  if (chosen.size() < cluster.coordinator_count) {
    choice.failure = "Could only select " + std::to_string(chosen.size()) + " processes, but " +
                     std::to_string(cluster.coordinator_count) + " are required";
    return choice;
  }
  for (const DatabaseProcess* one : chosen) choice.coordinators.push_back(name_of(cluster, *one));
  return choice;
}

std::optional<std::string> undesired_coordinators(const ProcessCluster& cluster,
                                                  const DatabaseStatus& status) {
  std::vector<const DatabaseProcess*> found;
  for (const std::string& coordinator : status.coordinators) {
    const auto process = std::ranges::find_if(
        status.processes, [&](const DatabaseProcess& one) { return one.is_known_as(coordinator); });
    if (process == status.processes.end()) return coordinator + " is not reported";
    if (const auto why = unfit(cluster, *process, coordinator)) return coordinator + " " + *why;
    found.push_back(&*process);
  }
  if (found.size() != cluster.coordinator_count) {
    return std::to_string(found.size()) + " coordinators instead of " +
           std::to_string(cluster.coordinator_count);
  }
  return crowded(cluster, found);
}

GroupIds coordinator_groups(const DatabaseStatus& status) {
  GroupIds groups;
  for (const DatabaseProcess& process : status.processes) {
    if (status.is_coordinator(process) && !process.group().empty()) groups.emplace(process.group());
  }
  return groups;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
