// SPDX-License-Identifier: Apache-2.0
// A process group as its operator's resource describes it in its status: what one Pod runs, and what is known
// of it. The structs can be fields of a resource of yours, as they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/time.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// Names of conditions; an operator may use more of its own.
namespace condition {
/// The process runs with other arguments than the resource asks for: it must be restarted.
inline constexpr std::string_view incorrect_command_line = "IncorrectCommandLine";
/// The Pod is yet to be recreated or changed.
inline constexpr std::string_view incorrect_pod_spec = "IncorrectPodSpec";
/// The Pod does not have the new configuration yet.
inline constexpr std::string_view incorrect_config_map = "IncorrectConfigMap";
/// The Pod does not have the new version at hand yet.
inline constexpr std::string_view incorrect_sidecar_image = "IncorrectSidecarImage";
/// The database does not report the processes.
inline constexpr std::string_view missing_processes = "MissingProcesses";
inline constexpr std::string_view pod_pending = "PodPending";
/// What the group is made of is being deleted, and is not gone yet.
inline constexpr std::string_view resources_terminating = "ResourcesTerminating";
inline constexpr std::string_view sidecar_unreachable = "SidecarUnreachable";
}  // namespace condition

/// Something that holds for a group since a moment.
struct ProcessGroupCondition {
  std::string type = {};
  MicroTime since = {};

  friend bool operator==(const ProcessGroupCondition&, const ProcessGroupCondition&) = default;
};

/// Thread safety: as any struct.
struct EVENKEEL_API ProcessGroup {
  std::string id = {};             ///< Unique in the whole database: "kube-cluster-1-storage-1".
  std::string process_class = {};  ///< "storage", "log", "stateless"...
  /// All that the group had and the database may still know, without ports: "10.1.0.3".
  std::vector<std::string> addresses = {};
  std::optional<MicroTime> removal_timestamp = {};    ///< Marked for removal since.
  std::optional<MicroTime> exclusion_timestamp = {};  ///< Known to hold neither roles nor data since.
  bool exclusion_skipped = false;                     ///< May be removed without being excluded.
  std::vector<ProcessGroupCondition> conditions = {};

  bool is_marked_for_removal() const { return removal_timestamp.has_value(); }
  /// Excluded to the end, or not to be.
  bool is_excluded() const { return exclusion_timestamp.has_value() || exclusion_skipped; }
  /// Since when the condition holds; nothing if it does not.
  std::optional<WallTime> since(std::string_view type) const;
  bool has(std::string_view type) const { return since(type).has_value(); }
  /// Makes the condition hold from `now` on, or from earlier if it did already.
  void set(std::string_view type, WallTime now);
  void clear(std::string_view type);
  /// The text by which the database excludes the group wherever it runs: "locality_instance_id:<id>".
  std::string exclusion_text() const;

  friend bool operator==(const ProcessGroup&, const ProcessGroup&) = default;
};

/// What exclusion_text() begins with.
inline constexpr std::string_view locality_exclusion_prefix = "locality_instance_id:";

/// Processes of the class test are clients of the database under test: neither excluded nor restarted nor
/// coordinated.
inline bool is_test_class(std::string_view process_class) {
  return process_class == "test";
}
inline bool is_log_class(std::string_view process_class) {
  return process_class == "log" || process_class == "transaction";
}
/// Whether a process of the class may belong to the transaction system, so that its exclusion makes the
/// database recover.
inline bool is_transaction_class(std::string_view process_class) {
  return process_class != "storage" && process_class != "general";
}

EVENKEEL_FIELDS(ProcessGroupCondition, (type, required), since)
EVENKEEL_FIELDS(ProcessGroup, (id, required), process_class, addresses, removal_timestamp,
                exclusion_timestamp, (exclusion_skipped, omit_empty), (conditions, list_map("type")))

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
