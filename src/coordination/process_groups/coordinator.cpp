// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include <evenkeel/coordination/coordination_metrics.hpp>
#include <evenkeel/coordination/process_groups/coordinators.hpp>
#include <evenkeel/coordination/process_groups/exclusion.hpp>
#include <evenkeel/coordination/process_groups/removal.hpp>
#include <evenkeel/coordination/process_groups/safety.hpp>

#include "coordinator_impl.hpp"
#include "processes_by_group.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

constexpr Duration safety_retry = std::chrono::seconds{10};     // after a safety check refused an exclusion
constexpr Duration more_exclusions = std::chrono::minutes{5};   // delay until the rest is excluded
constexpr Duration inclusion_retry = std::chrono::seconds{60};  // delay after a refusal
constexpr Duration more_excluded = std::chrono::seconds{15};    // delay until removal is retried
constexpr Duration degraded_retry = std::chrono::seconds{30};

std::vector<std::string> ids_of(const std::vector<ExclusionEntry>& entries) {
  std::vector<std::string> ids;
  std::ranges::transform(entries, std::back_inserter(ids), &ExclusionEntry::id);
  return ids;
}

/// Returns the texts by which a target is excluded; none if its addresses are needed and unknown.
std::vector<std::string> texts_of(const ProcessCluster& cluster, const Target& target) {
  if (cluster.localities_for_exclusion) return {std::string(locality_exclusion_prefix) + target.ref.unit};
  return target.facts;
}

void note_processes(ProcessGroup& group, const std::vector<const DatabaseProcess*>& processes,
                    const ProcessGroupCoordinator::WantedCommandLine& wanted, WallTime now) {
  if (processes.empty()) {
    group.set(condition::missing_processes, now);
    return;
  }
  group.clear(condition::missing_processes);
  if (!wanted) return;
  const std::string command_line = wanted(group);
  const bool is_wrong = std::ranges::any_of(
      processes, [&](const DatabaseProcess* one) { return one->command_line != command_line; });
  if (is_wrong) {
    group.set(condition::incorrect_command_line, now);
  } else {
    group.clear(condition::incorrect_command_line);
  }
}

}  // namespace

ProcessGroupCoordinator::ProcessGroupCoordinator(AdminClient& database, Store* store,
                                                 ProcessGroupOptions options)
    : impl_(std::make_unique<Impl>(database, store, std::move(options))) {}
ProcessGroupCoordinator::~ProcessGroupCoordinator() = default;

const ProcessGroupOptions& ProcessGroupCoordinator::options() const noexcept {
  return impl_->options_;
}
ProcessGroupFigures ProcessGroupCoordinator::figures() const {
  return impl_->figures_;
}
std::map<std::string, ActionWait> ProcessGroupCoordinator::waits() const {
  return impl_->waits_;
}
void ProcessGroupCoordinator::collect(MetricSink& sink) const {
  std::shared_ptr<const LeaseLock> lock;
  {
    MutexLock guard(impl_->lock_mutex_);
    lock = impl_->lock_;
  }
  if (lock) coordination::collect(lock->figures(), impl_->options_.root, lock->identity().scope, sink);
}
Ledger* ProcessGroupCoordinator::ledger() noexcept {
  return impl_->options_.mode == Mode::local ? nullptr : impl_->ledger_.get();
}
const Migration* ProcessGroupCoordinator::migration() const noexcept {
  return impl_->migration_ ? &*impl_->migration_ : nullptr;
}

void ProcessGroupCoordinator::set_mode(Mode mode) {
  impl_->set_mode(mode);
}
void ProcessGroupCoordinator::set_scope(const std::string& scope) {
  impl_->set_scope(scope);
}

Step ProcessGroupCoordinator::update_status(ProcessCluster& cluster, const WantedCommandLine& wanted,
                                            std::stop_token stop) {
  impl_->status_.reset();
  impl_->no_agreement_.reset();
  impl_->migration_.reset();
  const DatabaseStatus& status = impl_->status(stop);
  const ProcessesByGroup processes(status);
  for (ProcessGroup& group : cluster.process_groups) {
    if (is_test_class(group.process_class)) continue;
    note_processes(group, processes.of(group.id), wanted, impl_->wall_now());
  }
  if (!status.connection_string.empty()) cluster.connection_string = status.connection_string;
  return go_on();
}

Step ProcessGroupCoordinator::update_lock_configuration(const std::vector<DenyListEntry>& wanted,
                                                        std::stop_token stop) {
  if (impl_->deny_list_ == nullptr || wanted.empty()) return go_on();
  const auto failure = failure_of([&] {
    impl_->deny_list_->apply(wanted, "requested by the resource of " + impl_->options_.identity.scope, stop);
  });
  if (failure) return impl_->wait("lock", *failure);
  impl_->waits_.erase("lock");
  return go_on();
}

Step ProcessGroupCoordinator::operator_coordination(ProcessCluster& cluster, std::stop_token stop) {
  impl_->waits_.erase("coordination");
  if (!cluster.configured) return go_on();
  if (impl_->options_.mode == Mode::local) {
    return impl_->leave(stop) ? go_on() : impl_->wait("coordination", *impl_->no_agreement_);
  }
  if (!impl_->move_scope(stop) || !impl_->publish(cluster, {}, {}, stop) || !impl_->renew_record(stop)) {
    return impl_->wait("coordination", *impl_->no_agreement_);
  }
  return later(impl_->options_.liveness.silence / 3, "renews its registry record");
}

// --- Exclusion ---

Step ProcessGroupCoordinator::exclude_processes(ProcessCluster& cluster, std::stop_token stop) {
  Impl& impl = *impl_;
  const DatabaseStatus& status = impl.status(stop);
  const ExclusionPlan plan = plan_exclusion(cluster, status, impl.options_.times, impl.wall_now());
  impl.waits_.erase("exclusion");
  if (!plan.needed) return go_on();
  if (const Refusal refusal = refuse_exclusion(status, impl.options_.times)) {
    return impl.wait("exclusion", *refusal, safety_retry);
  }
  const Mode mode = impl.mode(cluster);
  if (mode != Mode::local) {
    impl.publish_ready(cluster, "exclusion", ids_of(plan.ready), Impl::Ready::exactly, stop);
  }
  if (plan.wait) return impl.wait("exclusion", *plan.wait);
  bool is_partial = false;
  if (mode == Mode::global) {
    Agreement agreement = impl.agree(impl.options_.exclusion, impl.exclusion_callbacks(cluster), stop);
    if (!agreement.acted || agreement.step.kind() != Step::Kind::go_on) return agreement.step;
    is_partial = agreement.partial;
  } else if (const auto why = impl.exclude_alone(cluster, stop)) {
    return impl.wait("exclusion", *why);
  }
  if (plan.all && !is_partial) return go_on();
  return later(more_exclusions, "Additional processes must be excluded");
}

std::optional<std::string> ProcessGroupCoordinator::Impl::exclude_alone(ProcessCluster& cluster,
                                                                        const std::stop_token& stop) {
  if (auto why = take_turn(cluster, stop)) return why;
  if (Refusal refusal = refuse_exclusion(status(stop), options_.times)) return refusal;
  const ExclusionPlan plan = plan_exclusion(cluster, status(stop), options_.times, wall_now());
  if (plan.wait || plan.ready.empty()) return plan.wait;
  if (mode(cluster) == Mode::shadow) report_shadow(options_.exclusion, stop);
  const Fence alone = fence("exclusion", 0);
  GroupIds groups;
  std::vector<std::string> targets;
  for (const ExclusionEntry& entry : plan.ready) {
    groups.insert(entry.id);
    targets.insert(targets.end(), entry.targets.begin(), entry.targets.end());
  }
  if (auto why = replace_coordinators(cluster, status(stop), groups, {}, alone, stop)) return why;
  exclude(targets, alone, stop);
  on_disruption();
  return std::nullopt;
}

ActionCallbacks ProcessGroupCoordinator::Impl::exclusion_callbacks(ProcessCluster& cluster) {
  return {.act = [this, &cluster](const Claim& claim,
                                  std::stop_token stop) { return act_exclusion(cluster, claim, stop); },
          .observe =
              [this, &cluster](const Claim& claim, std::stop_token stop) {
                const auto exclusions = status_after(claim, stop).exclusions;
                ActReport report;
                for (const Target& target : claim.targets) {
                  const auto texts = texts_of(cluster, target);
                  const bool is_done =
                      !texts.empty() && only_excluded(texts, exclusions).size() == texts.size();
                  if (!is_done) report.not_done.push_back(target.ref);
                }
                return report;
              }};
}

ActReport ProcessGroupCoordinator::Impl::act_exclusion(ProcessCluster& cluster, const Claim& claim,
                                                       const std::stop_token& stop) {
  // The status from the start of this pass may be out of date by now.
  const DatabaseStatus fresh = database_.status(stop);
  if (const Refusal refusal = refuse_exclusion(fresh, options_.times)) return nothing_done(claim, *refusal);
  const Fence agreed = fence("exclusion", claim.epoch);
  ActReport report;
  std::vector<std::string> targets;
  for (const Target& target : claim.targets) {
    const auto texts = texts_of(cluster, target);
    if (texts.empty()) report.not_done.push_back(target.ref);
    targets.insert(targets.end(), texts.begin(), texts.end());
  }
  if (targets.empty()) return nothing_done(claim, "no address is known");
  if (const auto why =
          replace_coordinators(cluster, fresh, units_of(claim), pending_removal(stop), agreed, stop)) {
    return nothing_done(claim, *why);
  }
  exclude(targets, agreed, stop);
  return report;
}

// --- Coordinators ---

Step ProcessGroupCoordinator::change_coordinators(ProcessCluster& cluster, std::stop_token stop) {
  Impl& impl = *impl_;
  const std::string action = "coordinators";
  impl.waits_.erase(action);
  if (!cluster.configured) return go_on();
  const DatabaseStatus& status = impl.status(stop);
  if (!undesired_coordinators(cluster, status)) return go_on();
  if (const Refusal refusal = refuse_coordinator_change(status, impl.options_.times)) {
    return impl.wait(action, *refusal);
  }
  const bool in_agreement = impl.mode(cluster) == Mode::global;
  if (in_agreement && impl.no_agreement_) return impl.wait(action, *impl.no_agreement_);
  if (const auto why = impl.take_turn(cluster, stop)) return impl.wait(action, *why);
  if (!undesired_coordinators(cluster, status)) return go_on();
  if (const Refusal refusal = refuse_coordinator_change(status, impl.options_.times)) {
    return impl.wait(action, *refusal);
  }
  GroupIds pending_removal;
  std::uint64_t epoch = 0;
  if (in_agreement) {
    const auto failure = failure_of([&] { pending_removal = impl.pending_removal(stop); });
    if (failure) return impl.wait(action, *failure);
    const auto held = impl.lock_->held();
    if (!held) return impl.wait(action, std::string(lock_expired));
    epoch = *held;
  }
  const CoordinatorChoice choice = choose_coordinators(cluster, status, pending_removal);
  if (choice.failure) return impl.wait(action, *choice.failure);
  ++impl.figures_.coordinator_changes;
  cluster.connection_string =
      impl.database_.change_coordinators(choice.coordinators, impl.fence(action, epoch), stop);
  impl.on_disruption();
  return go_on();
}

// --- Removal and inclusion ---

Step ProcessGroupCoordinator::remove_process_groups(ProcessCluster& cluster, const RemoveGroup& remove,
                                                    std::stop_token stop) {
  Impl& impl = *impl_;
  const DatabaseStatus& status = impl.status(stop);
  const RemovalPlan plan = plan_removal(cluster, status);
  impl.waits_.erase("inclusion");
  for (const std::string& id : plan.newly_done) cluster.find(id)->exclusion_timestamp = impl.wall_now();
  if (plan.removable.empty()) {
    if (plan.all_excluded) return go_on();
    return later(more_excluded, "Reconciliation needs to exclude more processes");
  }
  if (!status.available || status.degraded) {
    return later(degraded_retry, "Removals cannot proceed because cluster has degraded fault tolerance");
  }
  RemovalBatch batch = next_removals(cluster, status, plan.removable, impl.options_.times, impl.wall_now());
  std::ranges::copy(batch.begin, std::back_inserter(batch.under_way));
  GroupIds gone;
  for (const std::string& id : batch.under_way) {
    ProcessGroup& group = *cluster.find(id);
    const RemovalState state = remove(group);
    if (state == RemovalState::gone) gone.insert(id);
    if (state != RemovalState::present) group.set(condition::resources_terminating, impl.wall_now());
  }
  Step step = impl.include(cluster, gone, stop);
  if (step.kind() != Step::Kind::go_on || gone.size() == plan.removable.size()) return step;
  if (gone.size() < batch.under_way.size()) {
    return later(impl.options_.retry, "Waiting for process groups to get torn down");
  }
  if (cluster.removal_mode == RemovalMode::none) {
    return later(more_excluded, "process groups are not removed in the removal mode none");
  }
  if (batch.wait == Duration::zero()) batch.wait = impl.options_.times.wait_between_removals;
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(batch.wait).count();
  return later(std::max(batch.wait, impl.options_.retry),
               "not allowed to remove process groups, waiting: " + std::to_string(seconds) + "s");
}

/// Drops the groups `gone`, after the database has ended their exclusion.
Step ProcessGroupCoordinator::Impl::include(ProcessCluster& cluster, const GroupIds& gone,
                                            const std::stop_token& stop) {
  const InclusionNeed need = inclusion_need(cluster, gone, status(stop).exclusions);
  drop(cluster, need.to_drop);
  if (need.ready.empty()) return go_on();
  const Mode how = mode(cluster);
  if (how != Mode::local) publish_ready(cluster, "inclusion", need.ready, Ready::also, stop);
  if (const Refusal refusal = refuse_inclusion(status(stop), options_.times)) {
    return wait("inclusion", *refusal, inclusion_retry);
  }
  if (how == Mode::global) {
    Agreement agreement = agree(options_.inclusion, inclusion_callbacks(), stop);
    if (!agreement.acted || agreement.step.kind() != Step::Kind::go_on) return agreement.step;
    drop(cluster, inclusion_need(cluster, gone, database_.status(stop).exclusions).to_drop);
    return go_on();
  }
  if (const auto why = include_alone(cluster, gone, stop)) return wait("inclusion", *why);
  return go_on();
}

std::optional<std::string> ProcessGroupCoordinator::Impl::include_alone(ProcessCluster& cluster,
                                                                        const GroupIds& gone,
                                                                        const std::stop_token& stop) {
  if (auto why = take_turn(cluster, stop)) return why;
  if (Refusal refusal = refuse_inclusion(status(stop), options_.times)) return refusal;
  const InclusionNeed need = inclusion_need(cluster, gone, status(stop).exclusions);
  drop(cluster, need.to_drop);
  if (need.ready.empty()) return std::nullopt;
  if (mode(cluster) == Mode::shadow) report_shadow(options_.inclusion, stop);
  ++figures_.inclusions;
  database_.include(need.targets, fence("inclusion", 0), stop);
  on_disruption();
  drop(cluster, need.ready);
  return std::nullopt;
}

void ProcessGroupCoordinator::Impl::drop(ProcessCluster& cluster, const std::vector<std::string>& ids) {
  std::erase_if(cluster.process_groups,
                [&](const ProcessGroup& group) { return std::ranges::find(ids, group.id) != ids.end(); });
}

ActionCallbacks ProcessGroupCoordinator::Impl::inclusion_callbacks() {
  const auto excluded_texts = [](const Target& target, const DatabaseStatus& status) {
    return only_excluded(exclusion_texts(target.ref.unit, target.facts), status.exclusions);
  };
  return {.act =
              [this, excluded_texts](const Claim& claim, std::stop_token stop) {
                const DatabaseStatus fresh = database_.status(stop);
                if (const Refusal no = refuse_inclusion(fresh, options_.times))
                  return nothing_done(claim, *no);
                ActReport report;
                std::vector<std::string> texts;
                for (const Target& target : claim.targets) {
                  // An inclusion while the process runs would give it data again.
                  const bool runs = !fresh.of_group(target.ref.unit).empty();
                  if (runs) report.not_done.push_back(target.ref);
                  const auto more = runs ? std::vector<std::string>() : excluded_texts(target, fresh);
                  texts.insert(texts.end(), more.begin(), more.end());
                }
                if (texts.empty()) return report;
                ++figures_.inclusions;
                database_.include(texts, fence("inclusion", claim.epoch), stop);
                return report;
              },
          .observe =
              [this, excluded_texts](const Claim& claim, std::stop_token stop) {
                const DatabaseStatus fresh = status_after(claim, stop);
                ActReport report;
                for (const Target& target : claim.targets) {
                  if (!excluded_texts(target, fresh).empty()) report.not_done.push_back(target.ref);
                }
                return report;
              }};
}

Step ProcessGroupCoordinator::finish(const ProcessCluster& cluster, std::stop_token stop) {
  impl_->update_meter(stop);
  if (impl_->lock_ == nullptr || !cluster.configured) return go_on();
  const bool is_done =
      cluster.reconciled && std::ranges::none_of(cluster.process_groups, [](const ProcessGroup& group) {
        return group.is_marked_for_removal() || group.has(condition::incorrect_command_line);
      });
  const auto failure = failure_of([&] { impl_->end_pass(is_done, stop); });
  return failure ? impl_->wait("lock", *failure) : go_on();
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
