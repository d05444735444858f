// SPDX-License-Identifier: Apache-2.0
// A process group as described in the status of its operator's resource: the processes of one Pod, and their
// state. The structs can be used as fields of a resource.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/time.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/identity.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// Names of conditions. An operator may define others.
namespace condition {
/// The arguments of the process differ from those that the resource asks for: it must be restarted.
inline constexpr std::string_view incorrect_command_line = "IncorrectCommandLine";
/// The Pod must still be recreated or changed.
inline constexpr std::string_view incorrect_pod_spec = "IncorrectPodSpec";
/// The Pod does not have the new configuration yet.
inline constexpr std::string_view incorrect_config_map = "IncorrectConfigMap";
/// The Pod does not have the files of the new version yet.
inline constexpr std::string_view incorrect_sidecar_image = "IncorrectSidecarImage";
/// The database does not report the group's processes.
inline constexpr std::string_view missing_processes = "MissingProcesses";
inline constexpr std::string_view pod_pending = "PodPending";
/// The resources of the group are being deleted, but are not gone yet.
inline constexpr std::string_view resources_terminating = "ResourcesTerminating";
inline constexpr std::string_view sidecar_unreachable = "SidecarUnreachable";
}  // namespace condition

/// A condition of a group, and since when it holds.
struct ProcessGroupCondition {
  std::string type = {};
  MicroTime since = {};

  friend bool operator==(const ProcessGroupCondition&, const ProcessGroupCondition&) = default;
};

/// A process group. Thread safety: one thread at a time, as any struct.
struct EVENKEEL_API ProcessGroup {
  std::string id = {};             ///< Unique in the whole database: "kube-cluster-1-storage-1".
  std::string process_class = {};  ///< "storage", "log", "stateless"...
  /// All addresses of the group that the database may still know, without ports: "10.1.0.3".
  std::vector<std::string> addresses = {};
  std::optional<MicroTime> removal_timestamp = {};    ///< Since when it is marked for removal.
  std::optional<MicroTime> exclusion_timestamp = {};  ///< Since when it has neither roles nor data.
  bool exclusion_skipped = false;                     ///< It may be removed without being excluded.
  std::vector<ProcessGroupCondition> conditions = {};

  bool is_marked_for_removal() const { return removal_timestamp.has_value(); }
  /// True if the exclusion is complete, or is skipped.
  bool is_excluded() const { return exclusion_timestamp.has_value() || exclusion_skipped; }
  /// Returns since when the condition holds; nullopt if it does not.
  std::optional<WallTime> since(std::string_view type) const;
  bool has(std::string_view type) const { return since(type).has_value(); }
  /// Sets the condition as of `now`; a condition that already holds keeps its time.
  void set(std::string_view type, WallTime now);
  void clear(std::string_view type);
  /// Returns the text by which the database excludes the group on any host: "locality_instance_id:<id>".
  std::string exclusion_text() const;

  friend bool operator==(const ProcessGroup&, const ProcessGroup&) = default;
};

/// Prefix of exclusion_text().
inline constexpr std::string_view locality_exclusion_prefix = "locality_instance_id:";

/// True for the class test, whose processes are clients of the database under test: they are neither excluded
/// nor restarted nor coordinated.
inline bool is_test_class(std::string_view process_class) {
  return process_class == "test";
}
inline bool is_log_class(std::string_view process_class) {
  return process_class == "log" || process_class == "transaction";
}
/// True if a process of the class may belong to the transaction system, so that its exclusion makes the
/// database recover.
inline bool is_transaction_class(std::string_view process_class) {
  return process_class != "storage" && process_class != "general";
}

/// Makes Mode a field of a resource, for its synchronization mode.
EVENKEEL_ENUM(Mode, (local, "local"), (shadow, "shadow"), (global, "global"))
EVENKEEL_FIELDS(ProcessGroupCondition, (type, required), since)
EVENKEEL_FIELDS(ProcessGroup, (id, required), process_class, addresses, removal_timestamp,
                exclusion_timestamp, (exclusion_skipped, omit_empty), (conditions, list_map("type")))

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
