// SPDX-License-Identifier: Apache-2.0
// What the rules of process groups need to know of one resource: the part of a database that one operator
// instance looks after.
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

/// A process class whose processes may be coordinators; of two classes the one with the higher priority is
/// taken first.
struct CoordinatorClass {
  std::string process_class = {};
  int priority = 0;
};

/// Which of the groups that may be deleted are deleted at the same time.
enum class RemovalMode : std::uint8_t {
  all,            ///< All of them, without a pause.
  zone,           ///< Those of one zone, the one that has the most of them; then a pause.
  process_group,  ///< One; then a pause.
  none,           ///< None: people do it.
};

/// Thread safety: as any struct.
struct EVENKEEL_API ProcessCluster {
  // What is wanted.
  std::string version = {};
  std::map<std::string, std::size_t, std::less<>> process_counts = {};  ///< By process class.
  /// How many processes of a class, or zones, may fail without harm: 0 single, 1 double, 2 triple redundancy.
  std::size_t fault_tolerance = 1;
  bool localities_for_exclusion = true;  ///< Else by address.
  std::size_t coordinator_count = 3;
  /// Nobody else is a coordinator; with priority 0 for each.
  std::vector<CoordinatorClass> coordinator_classes = {
      {"storage"}, {"log"}, {"transaction"}, {"coordinator"}};
  /// Most coordinators that may share a value of a locality: {"zoneid": 1}.
  std::map<std::string, std::size_t, std::less<>> coordinator_limits = {{"zoneid", 1}};
  std::string primary_dc = {};            ///< Coordinators are looked for here first; "": nowhere.
  bool dns_in_connection_string = false;  ///< Coordinators by their dns_name.
  std::size_t servers_per_pod = 1;        ///< Of the classes storage and log, for upgrades.
  RemovalMode removal_mode = RemovalMode::zone;

  // What is known.
  std::string running_version = {};  ///< Of the database; "": as wanted.
  std::vector<ProcessGroup> process_groups = {};
  std::string connection_string = {};
  /// The database runs. Until then nothing is coordinated.
  bool configured = true;
  /// Besides its groups, nothing of the resource is left to do: the lock may be released.
  bool reconciled = true;

  const ProcessGroup* find(std::string_view id) const;
  ProcessGroup* find(std::string_view id);
  /// The wanted version cannot talk to the running one, so that all processes of the database restart at
  /// once: major or minor differ.
  bool has_incompatible_upgrade() const;
};

/// How long what is waited for. The defaults are those of the FoundationDB operator.
struct ProcessGroupTimes {
  /// A group whose processes are missing for longer is not waited for in a restart.
  Duration ignore_missing_for_restart = std::chrono::seconds{30};
  /// A group that is missing for less allows no exclusion of its class.
  Duration ignore_missing_for_exclusion = std::chrono::minutes{5};
  /// A group whose Pod is pending for longer is not waited for in a restart.
  Duration ignore_pending_pods = std::chrono::minutes{5};
  /// A group that is being deleted for longer holds nobody's inclusion up.
  Duration ignore_terminating = std::chrono::minutes{5};
  /// Since the last recovery, or since the youngest process began.
  Duration minimum_uptime_for_restart = std::chrono::minutes{10};
  Duration minimum_recovery_for_exclusion = std::chrono::minutes{2};
  Duration minimum_recovery_for_inclusion = std::chrono::minutes{10};
  /// Between the deletion of the groups of one zone and that of the next, see RemovalMode.
  Duration wait_between_removals = std::chrono::seconds{60};
  /// Before coordinators are changed because one is missing, or because one should not be one.
  Duration minimum_uptime_for_missing_coordinator = std::chrono::minutes{2};
  Duration minimum_uptime_for_undesired_coordinator = std::chrono::minutes{5};
  std::size_t maximum_active_generations = 10;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
