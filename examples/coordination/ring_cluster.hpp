// SPDX-License-Identifier: Apache-2.0
// The kind RingCluster: the part of a database that lives in one namespace and is managed by one operator.
// Three of them, in three namespaces, form the database of the demo.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/coordination/process_groups/process_group.hpp>

namespace ek = evenkeel;
namespace ec = evenkeel::coordination;

struct ProcessCounts {
  int storage = 0;
  int log = 0;
  int stateless = 0;
};
EVENKEEL_FIELDS(ProcessCounts, storage, log, stateless)

/// An instance that must not take the lock or claim an action; `allow` ends that.
struct RingDenyListEntry {
  std::string id = {};
  bool allow = false;
};
EVENKEEL_FIELDS(RingDenyListEntry, id, allow)

struct RingAutomationOptions {
  /// local: acts alone, one instance after the other; shadow: also evaluates agreement; global: acts in
  /// agreement. It may change at any time.
  ec::Mode synchronization_mode = ec::Mode::local;
};
EVENKEEL_FIELDS(RingAutomationOptions, synchronization_mode)

struct RingClusterSpec {
  /// The prefix of the names of all process groups, and the scope of this instance: "dc1".
  std::string process_group_id_prefix = {};
  std::string version = "7.1.0";
  std::map<std::string, std::string> knobs = {};  ///< Passed on the command line of every process.
  ProcessCounts processes = {};
  std::vector<std::string> process_groups_to_remove = {};  ///< Process groups to be replaced.
  std::vector<RingDenyListEntry> deny_list = {};
  RingAutomationOptions automation_options = {};
};
EVENKEEL_FIELDS(RingClusterSpec, process_group_id_prefix, version, knobs, processes, process_groups_to_remove,
                deny_list, automation_options)

/// In mode shadow: the verdicts of the gate when this instance acted alone, counted since it started.
struct RingShadow {
  std::int64_t goes = 0;   ///< The action may be done now.
  std::int64_t waits = 0;  ///< The action has to wait.

  friend bool operator==(const RingShadow&, const RingShadow&) = default;
};
EVENKEEL_FIELDS(RingShadow, goes, waits)

struct RingClusterStatus {
  bool configured = false;             ///< True once the database has been created.
  std::string connection_string = {};  ///< Names the coordinators.
  std::string running_version = {};    ///< Version of the database, until all processes have the desired one.
  std::int64_t generation = 0;         ///< Generation of the object that was last reconciled completely.
  int ready = 0;                       ///< Number of process groups that are up to date.
  int wanted = 0;
  std::string phase = {};
  std::vector<ec::ProcessGroup> process_groups = {};
  RingShadow shadow = {};
  std::vector<ek::Condition> conditions = {};
};
EVENKEEL_FIELDS(RingClusterStatus, configured, connection_string, running_version, generation, ready, wanted,
                phase, process_groups, shadow, conditions)

struct RingCluster {
  static constexpr ek::ResourceInfo resource{.group = "ringdb.evenkeel.dev",
                                             .version = "v1",
                                             .kind = "RingCluster",
                                             .plural = "ringclusters",
                                             .short_name = "ring",
                                             .installs_crd = true};
  static constexpr ek::PrinterColumn columns[] = {
      {.name = "Wanted", .type = "integer", .json_path = ".status.wanted"},
      {.name = "Ready", .type = "integer", .json_path = ".status.ready"},
      {.name = "Version", .json_path = ".spec.version"},
      {.name = "Phase", .json_path = ".status.phase"}};
  ek::ObjectMeta metadata = {};
  RingClusterSpec spec = {};
  RingClusterStatus status = {};
};
EVENKEEL_FIELDS(RingCluster, metadata, spec, status)
