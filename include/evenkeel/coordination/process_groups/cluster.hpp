// SPDX-License-Identifier: Apache-2.0
// The input of the process group rules: the part of a database that one operator instance manages, as its
// resource describes it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/process_groups/process_group.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// A process class whose processes may be coordinators. Classes with higher priority are preferred.
struct CoordinatorClass {
  std::string process_class = {};
  int priority = 0;
};

/// The number of removable groups that are deleted at the same time.
enum class RemovalMode : std::uint8_t {
  all,            ///< All of them, without a pause.
  zone,           ///< Those of the zone that has the most of them, followed by a pause.
  process_group,  ///< One, followed by a pause.
  none,           ///< None; people delete them.
};

/// The desired and the present state of the cluster. Thread safety: one thread at a time, as any struct.
struct EVENKEEL_API ProcessCluster {
  // Desired state.
  std::string version = {};
  std::map<std::string, std::size_t, std::less<>> process_counts = {};  ///< By process class.
  /// Number of processes of a class, or of zones, that may fail without harm: 0 single, 1 double, 2 triple
  /// redundancy.
  std::size_t fault_tolerance = 1;
  bool localities_for_exclusion = true;  ///< Excludes by locality; false: by address.
  std::size_t coordinator_count = 3;
  /// The classes that may be coordinators; the default has priority 0 for each.
  std::vector<CoordinatorClass> coordinator_classes = {
      {"storage"}, {"log"}, {"transaction"}, {"coordinator"}};
  /// Maximum number of coordinators that may share a value of a locality: {"zoneid": 1}.
  std::map<std::string, std::size_t, std::less<>> coordinator_limits = {{"zoneid", 1}};
  std::string primary_dc = {};            ///< The preferred data center of coordinators; "": no preference.
  bool dns_in_connection_string = false;  ///< Names coordinators by their dns_name.
  std::size_t servers_per_pod = 1;        ///< For the classes storage and log; used in upgrades.
  RemovalMode removal_mode = RemovalMode::zone;

  // Present state.
  std::string running_version = {};  ///< Version of the database; "": the desired one.
  std::vector<ProcessGroup> process_groups = {};
  std::string connection_string = {};
  /// The database has been created. Until then nothing is coordinated.
  bool configured = true;
  /// The rest of the resource, apart from its groups, is up to date: the lock may be released.
  bool reconciled = true;

  const ProcessGroup* find(std::string_view id) const;
  ProcessGroup* find(std::string_view id);
  /// Returns true if the desired version cannot communicate with the running one (major or minor differ), so
  /// that all processes of the database must restart at once.
  bool has_incompatible_upgrade() const;
};

/// The waiting times of the rules. The defaults are those of the FoundationDB operator.
struct ProcessGroupTimes {
  /// A restart ignores a group whose processes are missing for longer than this.
  Duration ignore_missing_for_restart = std::chrono::seconds{30};
  /// A group that is missing for less than this prevents exclusions in its class.
  Duration ignore_missing_for_exclusion = std::chrono::minutes{5};
  /// A restart ignores a group whose Pod is pending for longer than this.
  Duration ignore_pending_pods = std::chrono::minutes{5};
  /// A group that is being deleted for longer than this does not block the inclusion of others.
  Duration ignore_terminating = std::chrono::minutes{5};
  /// Minimum time since the last recovery and since the start of the youngest process.
  Duration minimum_uptime_for_restart = std::chrono::minutes{10};
  Duration minimum_recovery_for_exclusion = std::chrono::minutes{2};
  Duration minimum_recovery_for_inclusion = std::chrono::minutes{10};
  /// Pause between the deletion of the groups of one zone and of the next, see RemovalMode.
  Duration wait_between_removals = std::chrono::seconds{60};
  /// Minimum uptime before coordinators are changed because one is missing, or because one is undesired.
  Duration minimum_uptime_for_missing_coordinator = std::chrono::minutes{2};
  Duration minimum_uptime_for_undesired_coordinator = std::chrono::minutes{5};
  std::size_t maximum_active_generations = 10;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
