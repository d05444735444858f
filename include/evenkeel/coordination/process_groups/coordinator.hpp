// SPDX-License-Identifier: Apache-2.0
// The sub-reconcilers of the FoundationDB operator that need the agreement of all instances: exclude, change
// coordinators, restart, remove and include. A ProcessGroupCoordinator serves one resource and its scope.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/metadata.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/controller/pipeline.hpp>
#include <evenkeel/coordination/gate.hpp>
#include <evenkeel/coordination/identity.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/coordination/process_groups/cluster.hpp>
#include <evenkeel/coordination/process_groups/database.hpp>
#include <evenkeel/coordination/transact.hpp>

namespace evenkeel {
inline namespace v0 {

class MetricSink;

namespace coordination {

class CoordinationMeter;
class Ledger;
struct Migration;
class Store;
struct DenyListEntry;

/// The root below which the FoundationDB operator keeps its keys.
inline constexpr std::string_view fdb_lock_prefix = "\xff\x02/org.foundationdb.kubernetes-operator";

/// The partition of the groups that are pending for exclusion; the groups of one partition wait for each
/// other, and partitions that are ready at the same time are excluded together. All instances of a database
/// use the same one.
enum class ReadyBy : std::uint8_t {
  all,                 ///< All groups: one exclusion, as late as the slowest replacement.
  transaction_system,  ///< The classes of the transaction system, for one recovery; each other class alone.
  process_class,       ///< Each class alone: the rule of the FoundationDB operator's design.
};
/// Returns "all", "transaction_system" or "process_class".
EVENKEEL_API std::string_view text_of(ReadyBy ready_by);
/// The inverse of text_of(); nullopt for any other text.
EVENKEEL_API std::optional<ReadyBy> ready_by_of(std::string_view text);

/// Options of a ProcessGroupCoordinator, which sets the name and the partition of each policy itself.
struct ProcessGroupOptions {
  /// The scope is the operator's processGroupIDPrefix; see ProcessGroupCoordinator::set_scope().
  Identity identity = {};
  Mode mode = Mode::local;  ///< See ProcessGroupCoordinator::set_mode().
  std::string root = std::string(fdb_lock_prefix);
  ReadyBy ready_by = ReadyBy::process_class;
  ActionPolicy exclusion = {.barrier = Barrier::ready_subset};
  ActionPolicy inclusion = {};
  ActionPolicy restart = {};
  ProcessGroupTimes times = {};
  LivenessOptions liveness = {};
  LeaseLockOptions lock = {};  ///< A holder_silence other than 0 is replaced by that of `liveness`.
  TransactOptions transact = {};
  /// Receives all decisions in modes shadow and global. All coordinators of a domain in a process may share
  /// one. If set, finish() reads the view of each action that the meter has not seen for a sixth of
  /// LivenessOptions::silence, so that actions in which this instance takes no part are up to date as well.
  /// Default: none.
  std::shared_ptr<CoordinationMeter> meter = {};
  /// Minimum delay before a restart is retried that waits for a longer uptime of the database. > 0.
  Duration least_restart_retry = std::chrono::seconds{15};
  Duration retry = std::chrono::seconds{2};  ///< Delay before a waiting step is retried. > 0.
  std::shared_ptr<const Clock> clock = real_clock();
};

/// The progress of the deletion of a group.
enum class RemovalState : std::uint8_t {
  present,      ///< Not started, or not allowed.
  terminating,  ///< In progress.
  gone,         ///< Nothing is left.
};
/// Starts to delete the resources of a group, if that has not started, and returns the progress.
using RemoveGroup = std::function<RemovalState(const ProcessGroup&)>;

/// Statistics of a coordinator since it was constructed.
struct ProcessGroupFigures {
  std::uint64_t exclusions = 0;  ///< Number of calls, not of groups; likewise below.
  std::uint64_t inclusions = 0;
  std::uint64_t restarts = 0;
  std::uint64_t coordinator_changes = 0;
  std::uint64_t waits = 0;         ///< Steps that were prepared but had no agreement.
  std::uint64_t shadow_goes = 0;   ///< In shadow mode: steps that global mode would have allowed.
  std::uint64_t shadow_waits = 0;  ///< In shadow mode: steps that global mode would have made wait.
};

/// The reason why an action waits, for conditions and people.
struct ActionWait {
  std::string why = {};
  /// The scopes that block it, in order: they have to act (or to become silent) before it can proceed. Empty
  /// if only time is needed.
  std::vector<std::string> blocked_by = {};

  friend bool operator==(const ActionWait&, const ActionWait&) = default;
};

/// Converts ProcessGroupCoordinator::waits() to conditions of the resource's status, see set_condition();
/// both are always present. CoordinationPending is True while an action waits, for whatever reason: "restart:
/// blocked: not all processes are ready: dc3-log-1". CoordinationBlocked is True while scopes block an
/// action, and names them: "restart: by dc3: blocked: not all processes are ready: dc3-log-1".
EVENKEEL_API std::vector<Condition> conditions_of(const std::map<std::string, ActionWait>& waits);
/// Sets both in the conditions of a status, as set_condition() does. A message stays as it is while only its
/// times have changed ("waits for another 12s", "2.34 seconds ago"): otherwise each pass would write the
/// status, and wake everybody who watches the resource.
EVENKEEL_API void set_wait_conditions(std::vector<Condition>& conditions,
                                      const std::map<std::string, ActionWait>& waits, WallTime now);

/// The steps of one resource. Call them in the order of their declaration, each with the resource as the step
/// before left it. A step updates the ProcessCluster; the caller saves it.
///
/// In mode global a disruptive step publishes that its groups are ready, and acts, for all instances, when
/// all are. In mode local it acts for its own groups, after it has taken the lock and queried the status
/// again, and uses the store for nothing else but upgrades. In mode shadow it acts as in local, publishes as
/// in global, and reports what global would have done. A step that waits returns later() with the reason, so
/// that the following steps run.
///
/// A store that does not answer, or whose values cannot be decoded, counts as no agreement: the disruptive
/// steps report that and wait, the others proceed.
/// Errors: DatabaseError; Cancelled.
/// Thread safety: one thread at a time, except for collect().
/// Blocks: as AdminClient and Store do.
/// Lifetime: must not outlive the database client and the store.
/// Source: fdb-kubernetes-operator controllers/{update_status, exclude_processes, change_coordinators,
/// bounce_processes, remove_process_groups}.go; docs/adr/0013 lists the deviations and their reasons.
class EVENKEEL_API ProcessGroupCoordinator {
 public:
  /// `store` may be null in mode local; there is no lock then, and an upgrade waits for no other instance.
  /// Throws std::invalid_argument for a null store in another mode and for options out of their bounds.
  ProcessGroupCoordinator(AdminClient& database, Store* store, ProcessGroupOptions options);
  ~ProcessGroupCoordinator();

  /// Changes the mode, for the synchronization mode of the resource; call it before update_status() in each
  /// pass. operator_coordination() makes the store agree: in mode local it removes what this run has
  /// published, and the registry record; in the other modes it publishes, and writes the mode to the record.
  /// Until that has succeeded this instance does not act alone, because others may act for it. Throws
  /// std::invalid_argument for a mode other than local without a store.
  void set_mode(Mode mode);
  /// Changes the scope, for a changed processGroupIDPrefix; call it before update_status() in each pass. In
  /// modes shadow and global, operator_coordination() moves everything from the former scope (see
  /// ScopeMigrator) before it publishes again, and waits as long as that is not possible. It also does so at
  /// the start of a run, for a change that an earlier run did not see. Throws std::invalid_argument for an
  /// empty scope.
  void set_scope(const std::string& scope);

  using WantedCommandLine = std::function<std::string(const ProcessGroup&)>;
  /// Reads the status of the database, which all steps of this pass use. Sets and clears the conditions
  /// MissingProcesses and, if `wanted` is set, IncorrectCommandLine.
  Step update_status(ProcessCluster& cluster, const WantedCommandLine& wanted = {},
                     std::stop_token stop = {});
  /// Applies the entries of the resource to the deny list.
  Step update_lock_configuration(const std::vector<DenyListEntry>& wanted, std::stop_token stop = {});
  /// Follows set_mode() and set_scope(). In modes shadow and global it publishes the sets of the scope,
  /// without former members, renews the registry record, and returns later() with the time by which that must
  /// be repeated.
  Step operator_coordination(ProcessCluster& cluster, std::stop_token stop = {});
  Step exclude_processes(ProcessCluster& cluster, std::stop_token stop = {});
  Step change_coordinators(ProcessCluster& cluster, std::stop_token stop = {});
  Step bounce_processes(ProcessCluster& cluster, std::stop_token stop = {});
  Step remove_process_groups(ProcessCluster& cluster, const RemoveGroup& remove, std::stop_token stop = {});
  /// Releases the lock if nothing is left to do, according to LeaseLockOptions::release.
  Step finish(const ProcessCluster& cluster, std::stop_token stop = {});

  /// Returns the options, with the present mode and scope.
  const ProcessGroupOptions& options() const noexcept;
  /// Returns the move of a scope that operator_coordination() completed in this pass, or null; see
  /// coordination/scope_migrator.hpp. Valid until the next pass.
  const Migration* migration() const noexcept;
  ProcessGroupFigures figures() const;
  /// Returns why each action of this instance waits, as of the last pass. Actions that do not wait are
  /// absent.
  std::map<std::string, ActionWait> waits() const;
  /// Writes the statistics of its lock to `sink`; the other figures are those of the meter and the store.
  /// Unlike the other members, this one may be called at any time from any thread.
  void collect(MetricSink& sink) const;
  /// Returns null in mode local.
  Ledger* ledger() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
