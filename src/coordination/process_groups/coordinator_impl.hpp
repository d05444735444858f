// SPDX-License-Identifier: Apache-2.0
// The state and helpers that the steps of a ProcessGroupCoordinator share.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/coordination/claim.hpp>
#include <evenkeel/coordination/deny_list.hpp>
#include <evenkeel/coordination/ledger.hpp>
#include <evenkeel/coordination/process_groups/coordinator.hpp>
#include <evenkeel/coordination/process_groups/exclusion.hpp>
#include <evenkeel/coordination/process_groups/restart.hpp>
#include <evenkeel/coordination/process_groups/sets.hpp>
#include <evenkeel/coordination/process_groups/upgrades.hpp>
#include <evenkeel/coordination/scope_migrator.hpp>

#include "publishing.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// Why a command waits if this process was paused for longer than the lock lasts. Its fence would have the
/// epoch 0, which no database refuses.
inline constexpr std::string_view lock_expired = "the lock has expired";

/// The result of asking for agreement.
struct Agreement {
  std::optional<Claim> acted = {};  ///< The claim for which this instance has acted.
  bool partial = false;
  Step step = {};
};

/// Returns why `call` failed because of the store: it is unavailable, or has values that cannot be decoded.
/// Returns nullopt on success; other exceptions propagate.
template <class F>
std::optional<std::string> failure_of(const F& call) {
  try {
    call();
    return std::nullopt;
  } catch (const StoreUnavailable& error) {
    return error.what();
  } catch (const SnapshotExpired& error) {
    return error.what();
  } catch (const ScopeTaken& error) {
    return error.what();
  } catch (const DecodeError& error) {
    return error.what();
  }
}

class ProcessGroupCoordinator::Impl {
 public:
  Impl(AdminClient& database, Store* store, ProcessGroupOptions options);

  void set_mode(Mode mode);
  void set_scope(const std::string& scope);
  /// In mode local: removes what this run has published, and the registry record of this instance. Returns
  /// false on failure.
  bool leave(const std::stop_token& stop);
  /// Moves the entries of a former scope to the present one. Returns false on failure.
  bool move_scope(const std::stop_token& stop);

  Mode mode(const ProcessCluster& cluster) const { return cluster.configured ? options_.mode : Mode::local; }
  WallTime wall_now() const { return options_.clock->wall_now(); }
  DatabaseStatus& status(const std::stop_token& stop);
  /// Raises the fence of the claim's action, so that no earlier claim can act any more, and returns a new
  /// status.
  DatabaseStatus status_after(const Claim& claim, const std::stop_token& stop);
  /// Prevents further disruptions of the database in this pass.
  void on_disruption();
  /// Releases the lock if nothing is left to do.
  void end_pass(bool is_done, const std::stop_token& stop);

  /// Publishes the state that follows from the cluster. `adjust` may change the ready sets. Returns false on
  /// failure; there is no agreement in this pass then.
  bool publish(const ProcessCluster& cluster, PublishNotes notes,
               const std::function<void(GroupSets&)>& adjust, const std::stop_token& stop);
  /// Like publish(), with the groups `ready` for `action`: exactly these of the pending ones, or, with
  /// Ready::also, these in addition to those that are ready.
  enum class Ready { exactly, also };
  bool publish_ready(const ProcessCluster& cluster, std::string_view action,
                     const std::vector<std::string>& ready, Ready how, const std::stop_token& stop);
  bool renew_record(const std::stop_token& stop);

  /// Claims and acts if all instances agree; in mode shadow, only reports whether they would.
  Agreement agree(const ActionPolicy& policy, const ActionCallbacks& callbacks, const std::stop_token& stop);
  void report_shadow(const ActionPolicy& policy, const std::stop_token& stop);
  /// Passes the meter the views of actions that no step has evaluated recently.
  void update_meter(const std::stop_token& stop);
  /// Returns later(), and records `why` for `action`.
  Step wait(const std::string& action, const std::string& why, Duration delay = {});
  /// Takes the lock. Returns why that failed; nullopt if the lock is held.
  std::optional<std::string> take_lock(const std::stop_token& stop) const;
  /// Prepares a command that is not sent for a claim: takes the lock, if there is a store, and queries the
  /// status again, since it may be out of date. Returns why the command has to wait.
  std::optional<std::string> take_turn(const ProcessCluster& cluster, const std::stop_token& stop);
  /// Returns the groups of all instances that are pending for removal. Throws StoreUnavailable if one of them
  /// cannot be decoded.
  GroupIds pending_removal(const std::stop_token& stop) const;

  Fence fence(std::string action, std::uint64_t epoch) const {
    return {.caller = options_.identity.scope, .action = std::move(action), .epoch = epoch};
  }
  void exclude(const std::vector<std::string>& targets, const Fence& fence, const std::stop_token& stop);
  /// Changes the coordinators if one of `groups` has one. Returns why that failed; nullopt if none of them
  /// has one now.
  std::optional<std::string> replace_coordinators(ProcessCluster& cluster, const DatabaseStatus& status,
                                                  const GroupIds& groups, GroupIds pending_removal,
                                                  const Fence& fence, const std::stop_token& stop);

  /// The actions of modes local and shadow. Return why they have to wait.
  std::optional<std::string> exclude_alone(ProcessCluster& cluster, const std::stop_token& stop);
  std::optional<std::string> restart_alone(const ProcessCluster& cluster, const std::stop_token& stop);
  std::optional<std::string> include_alone(ProcessCluster& cluster, const GroupIds& gone,
                                           const std::stop_token& stop);
  ActionCallbacks exclusion_callbacks(ProcessCluster& cluster);
  ActReport act_exclusion(ProcessCluster& cluster, const Claim& claim, const std::stop_token& stop);
  Step include(ProcessCluster& cluster, const GroupIds& gone, const std::stop_token& stop);
  static void drop(ProcessCluster& cluster, const std::vector<std::string>& ids);
  ActionCallbacks inclusion_callbacks();
  void kill(const std::vector<std::string>& addresses, const Fence& fence, const std::stop_token& stop);
  ActionCallbacks restart_callbacks();
  Step restart_for_upgrade(const ProcessCluster& cluster, const RestartPlan& plan,
                           const std::stop_token& stop);
  /// Removes this instance's groups from the registry of upgrades: a registration from an outdated status
  /// would otherwise stay without end.
  void withdraw_from_upgrade(const ProcessCluster& cluster, const std::stop_token& stop);

  AdminClient& database_;
  Store* const store_;
  ProcessGroupOptions options_;
  // Null until the mode is not local; they stay when it is local again, since they know what this run did.
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<ActionClaims> claims_;
  std::unique_ptr<LivenessRegistry> registry_;
  mutable Mutex lock_mutex_;         // for collect(); only the thread of the steps replaces lock_
  std::shared_ptr<LeaseLock> lock_;  // of the present scope
  std::unique_ptr<DenyList> deny_list_;
  std::unique_ptr<UpgradeRegistry> upgrades_;
  ProcessGroupFigures figures_;
  std::map<std::string, ActionWait> waits_;

  // State of the present pass.
  std::optional<DatabaseStatus> status_;
  std::optional<std::string> no_agreement_;
  std::optional<Migration> migration_;

 private:
  void make_parts();
  void make_ledger();
  void check_former_scope(const std::stop_token& stop);
  std::string inclusion_kind(const ProcessCluster& cluster, const std::stop_token& stop) const;
  Step waiting(const StepReport& report);

  std::optional<TimePoint> renewed_;
  /// The mode of this run according to its registry record; unset if this run has none.
  std::optional<Mode> announced_;
  bool may_have_entries_ = false;            ///< This run has tried to publish.
  bool has_left_ = false;                    ///< leave() succeeded since the mode is local.
  bool is_moved_ = false;                    ///< move_scope() succeeded since the scope is the present one.
  std::optional<std::string> former_scope_;  ///< Until the move from there has begun.
  bool former_lock_ = false;                 ///< The lock may be held by this run under a former scope.
  /// Groups may be registered for an upgrade, by this run or, where the store is used anyway, by an earlier
  /// one.
  bool may_be_registered_ = options_.mode != Mode::local;
};

/// Returns a report that no target of `claim` was acted upon.
ActReport nothing_done(const Claim& claim, std::string why);
GroupIds units_of(const Claim& claim);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
