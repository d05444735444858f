// SPDX-License-Identifier: Apache-2.0
// What the steps of a ProcessGroupCoordinator share.
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
#include <evenkeel/coordination/claim.hpp>
#include <evenkeel/coordination/deny_list.hpp>
#include <evenkeel/coordination/ledger.hpp>
#include <evenkeel/coordination/process_groups/coordinator.hpp>
#include <evenkeel/coordination/process_groups/exclusion.hpp>
#include <evenkeel/coordination/process_groups/restart.hpp>
#include <evenkeel/coordination/process_groups/sets.hpp>
#include <evenkeel/coordination/process_groups/upgrades.hpp>

#include "publishing.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// What came of asking for agreement.
struct Agreement {
  std::optional<Claim> acted = {};  ///< It was done, by this instance, to these.
  bool partial = false;
  Step step = {};
};

/// Why a store does not say what is asked of it: it is away, or has what nobody of ours wrote. Nothing if it
/// does; others' errors go on.
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

  Mode mode(const ProcessCluster& cluster) const { return cluster.configured ? options_.mode : Mode::local; }
  WallTime wall_now() const { return options_.clock->wall_now(); }
  DatabaseStatus& status(const std::stop_token& stop);
  /// What the database says once nobody can do anything more for an earlier claim of this one's action.
  DatabaseStatus status_after(const Claim& claim, const std::stop_token& stop);
  /// So that nothing else disturbs the database in this pass.
  void disturbed();

  /// Publishes what follows from the cluster. `adjust` may change what is ready. False: it is not done, and
  /// there is no agreement in this pass.
  bool publish(const ProcessCluster& cluster, PublishNotes notes,
               const std::function<void(GroupSets&)>& adjust, const std::stop_token& stop);
  /// The same, with the groups `ready` for `action`: exactly these of the pending ones, or, with `keep`, also
  /// those that are.
  enum class Ready { exactly, also };
  bool publish_ready(const ProcessCluster& cluster, std::string_view action,
                     const std::vector<std::string>& ready, Ready how, const std::stop_token& stop);
  bool renew_record(const std::stop_token& stop);

  /// Claims and acts if all instances agree; in mode shadow, only tells whether they would.
  Agreement agree(const ActionPolicy& policy, const ActionCallbacks& callbacks, const std::stop_token& stop);
  void tell_shadow(const ActionPolicy& policy, const std::stop_token& stop);
  /// Shows the meter the actions that no step of late had to look at.
  void show_meter(const std::stop_token& stop);
  /// later(), with `why` noted for `action`.
  Step wait(const std::string& action, const std::string& why, Duration delay = {});
  /// Why there is no lock; nothing if there is.
  std::optional<std::string> take_lock(const std::stop_token& stop) const;
  /// All groups that are pending for removal, of all instances. Throws StoreUnavailable if one of them cannot
  /// be read.
  GroupIds doomed(const std::stop_token& stop) const;

  Fence fence(std::string action, std::uint64_t epoch) const {
    return {.caller = options_.identity.scope, .action = std::move(action), .epoch = epoch};
  }
  void exclude(const std::vector<std::string>& targets, const Fence& fence, const std::stop_token& stop);
  /// Makes others coordinators if one of `groups` has one. Why that cannot be; nothing if it is done.
  std::optional<std::string> spare_coordinators(ProcessCluster& cluster, const DatabaseStatus& status,
                                                const GroupIds& groups, GroupIds doomed, const Fence& fence,
                                                const std::stop_token& stop);

  std::optional<std::string> exclude_alone(ProcessCluster& cluster, const ExclusionPlan& plan,
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
  /// Whoever registers late, from a status of before, leaves groups that nobody clears any more.
  void withdraw_from_upgrade(const ProcessCluster& cluster, const std::stop_token& stop);

  AdminClient& database_;
  Store* const store_;
  const ProcessGroupOptions options_;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<ActionClaims> claims_;
  std::unique_ptr<LivenessRegistry> registry_;
  std::unique_ptr<LeaseLock> lock_;
  std::unique_ptr<DenyList> deny_list_;
  std::unique_ptr<UpgradeRegistry> upgrades_;
  ProcessGroupFigures figures_;
  std::map<std::string, ActionWait> waits_;

  // Of this pass.
  std::optional<DatabaseStatus> status_;
  std::optional<std::string> no_agreement_;

 private:
  std::string inclusion_kind(const ProcessCluster& cluster, const std::stop_token& stop) const;
  Step waiting(const StepReport& report);

  std::optional<TimePoint> renewed_;
  /// For an upgrade, by this run or, where the store is asked anyway, by one before.
  bool may_be_registered_ = options_.mode != Mode::local;
};

/// `claim` with none of its targets done.
ActReport nothing_done(const Claim& claim, std::string why);
GroupIds units_of(const Claim& claim);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
