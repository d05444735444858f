// SPDX-License-Identifier: Apache-2.0
// The sub-reconcilers of the FoundationDB operator that need the agreement of all instances: exclude, change
// coordinators, restart, remove and include. One ProcessGroupCoordinator serves one resource: one scope.
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
#include <evenkeel/base/metrics.hpp>
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
namespace coordination {

class CoordinationMeter;
class Ledger;
class Store;
struct DenyListEntry;

/// Below what the FoundationDB operator keeps its keys.
inline constexpr std::string_view fdb_lock_prefix = "\xff\x02/org.foundationdb.kubernetes-operator";

/// Within what groups that are pending for exclusion wait for each other.
enum class ReadyBy : std::uint8_t {
  all,                 ///< Everything goes at once: one exclusion, as late as the slowest replacement.
  transaction_system,  ///< The classes of the transaction system, for one recovery; each other class alone.
  process_class,       ///< Each class alone.
};

/// The name of a policy is set by the coordinator, as are the partitions.
struct ProcessGroupOptions {
  Identity identity = {};  ///< Its scope is the operator's processGroupIDPrefix.
  Mode mode = Mode::local;
  std::string root = std::string(fdb_lock_prefix);
  ReadyBy ready_by = ReadyBy::transaction_system;
  ActionPolicy exclusion = {.barrier = Barrier::ready_subset};
  ActionPolicy inclusion = {};
  ActionPolicy restart = {};
  ProcessGroupTimes times = {};
  LivenessOptions liveness = {};
  LeaseLockOptions lock = {};  ///< Its holder_silence is that of `liveness`, unless it is 0.
  TransactOptions transact = {};
  /// Is told of all that is decided in modes shadow and global. All coordinators of a domain in a process may
  /// share one. With it, finish() looks at what it has not seen for a sixth of LivenessOptions::silence, so
  /// that it tells the truth of actions that this instance has no part in. Default: none.
  std::shared_ptr<CoordinationMeter> meter = {};
  /// A restart that waits for the database to have run for long enough is tried again no sooner than this. >
  /// 0.
  Duration least_restart_retry = std::chrono::seconds{15};
  Duration retry = std::chrono::seconds{2};  ///< After which a step that waits is tried again. > 0.
  std::shared_ptr<const Clock> clock = real_clock();
};

/// How far the deletion of a group is.
enum class RemovalState : std::uint8_t {
  present,      ///< Not begun, or not allowed.
  terminating,  ///< Under way.
  gone,         ///< Nothing is left.
};
/// Begins to delete what a group is made of, if that has not begun, and says how far it is.
using RemoveGroup = std::function<RemovalState(const ProcessGroup&)>;

/// What a coordinator has done since it was made.
struct ProcessGroupFigures {
  std::uint64_t exclusions = 0;  ///< Calls, not groups; likewise below.
  std::uint64_t inclusions = 0;
  std::uint64_t restarts = 0;
  std::uint64_t coordinator_changes = 0;
  std::uint64_t waits = 0;         ///< Steps that were prepared and had no agreement.
  std::uint64_t shadow_goes = 0;   ///< In shadow mode: acted alone, and would have been allowed to.
  std::uint64_t shadow_waits = 0;  ///< ... and would have had to wait.
};

/// For what an action waits, for conditions and people.
struct ActionWait {
  std::string why = {};
  /// The scopes that hold it up, in order: more than time is needed, and it is they who have to do something
  /// (or to fall silent). Empty otherwise.
  std::vector<std::string> blocked_by = {};

  friend bool operator==(const ActionWait&, const ActionWait&) = default;
};

/// ProcessGroupCoordinator::waits() as conditions for the resource's status, see set_condition(); both are
/// always there. CoordinationPending is True while an action waits, whatever for: "restart: blocked: not all
/// processes are ready: dc3-log-1". CoordinationBlocked is True while scopes hold one up, and names them:
/// "restart: by dc3: blocked: not all processes are ready: dc3-log-1".
EVENKEEL_API std::vector<Condition> conditions_of(const std::map<std::string, ActionWait>& waits);

/// The steps of one resource, to be called in the order in which they stand here, with the resource as the
/// step before left it. A step changes the ProcessCluster where it finds something; the caller saves it.
///
/// In mode global a disruptive step publishes that its groups are ready, and acts, for all instances, when
/// all are; in mode local it acts for its own groups, and the store is not used but for upgrades; in mode
/// shadow it acts as in local, publishes as in global, and tells what global would have done. A step that
/// waits answers later(), so that the steps after it run; its reason is what it waits for.
///
/// A store that does not answer, or has values that nobody of ours wrote, is no agreement: the disruptive
/// steps say so and wait, the others go on. Errors: DatabaseError. Cancelled.
/// Thread safety: one thread at a time. Blocks: as AdminClient and Store do. Lifetime: not longer than both.
/// Source: fdb-kubernetes-operator controllers/{update_status, exclude_processes, change_coordinators,
/// bounce_processes, remove_process_groups}.go; docs/adr/0013 has what is different, and why.
class EVENKEEL_API ProcessGroupCoordinator {
 public:
  /// `store` may be null in mode local: then an upgrade waits for nobody else. Throws std::invalid_argument
  /// for a null store in another mode and for options that break the bounds of their members.
  ProcessGroupCoordinator(AdminClient& database, Store* store, ProcessGroupOptions options);
  ~ProcessGroupCoordinator();

  using WantedCommandLine = std::function<std::string(const ProcessGroup&)>;
  /// Asks the database for its status, which is that of all steps of this pass. Sets and clears the condition
  /// MissingProcesses, and, with `wanted`, IncorrectCommandLine.
  Step update_status(ProcessCluster& cluster, const WantedCommandLine& wanted = {},
                     std::stop_token stop = {});
  /// Makes the deny list as the resource says.
  Step update_lock_configuration(const std::vector<DenyListEntry>& wanted, std::stop_token stop = {});
  /// Publishes the sets of the scope, without what is no more, and that this instance lives. Answers later(),
  /// within which that has to be said again.
  Step operator_coordination(ProcessCluster& cluster, std::stop_token stop = {});
  Step exclude_processes(ProcessCluster& cluster, std::stop_token stop = {});
  Step change_coordinators(ProcessCluster& cluster, std::stop_token stop = {});
  Step bounce_processes(ProcessCluster& cluster, std::stop_token stop = {});
  Step remove_process_groups(ProcessCluster& cluster, const RemoveGroup& remove, std::stop_token stop = {});
  /// Releases the lock if nothing is left to do, as LeaseLockOptions::release says.
  Step finish(const ProcessCluster& cluster, std::stop_token stop = {});

  const ProcessGroupOptions& options() const noexcept;
  ProcessGroupFigures figures() const;
  /// For which action this instance waits for what, as of the last pass. An action that it does not wait for
  /// is not there.
  std::map<std::string, ActionWait> waits() const;
  /// Gives the figures of its lock to `sink`; those of the rest are with the meter and the store. Unlike all
  /// else, this may be called at any time by any thread.
  void collect(MetricSink& sink) const;
  /// Null in mode local.
  Ledger* ledger() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
