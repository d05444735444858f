// SPDX-License-Identifier: Apache-2.0
#include "coordinator_impl.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include <evenkeel/coordination/coordination_metrics.hpp>
#include <evenkeel/coordination/process_groups/coordinators.hpp>
#include <evenkeel/coordination/records.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

ActionPolicy named(ActionPolicy policy, std::string action, Partition partition) {
  policy.action = std::move(action);
  policy.partition = partition;
  check(policy);
  return policy;
}

ProcessGroupOptions checked(ProcessGroupOptions options) {
  options.exclusion = named(std::move(options.exclusion), "exclusion", Partition::by_kind);
  options.inclusion = named(std::move(options.inclusion), "inclusion", Partition::by_kind);
  options.restart = named(std::move(options.restart), "restart", Partition::all);
  if (options.retry <= Duration::zero()) {
    throw std::invalid_argument("ProcessGroupOptions: retry must be > 0");
  }
  if (options.least_restart_retry <= Duration::zero()) {
    throw std::invalid_argument("ProcessGroupOptions: least_restart_retry must be > 0");
  }
  if (options.lock.holder_silence > Duration::zero()) options.lock.holder_silence = options.liveness.silence;
  options.transact.clock = options.clock;
  return options;
}

/// Returns the scopes that block an action.
std::vector<std::string> blockers(const Verdict& verdict) {
  std::set<std::string> scopes;
  if (const Blocked* blocked = verdict.blocked()) {
    for (const UnitRef& ref : blocked->who) scopes.insert(ref.scope);
  }
  return {scopes.begin(), scopes.end()};
}

}  // namespace

ProcessGroupCoordinator::Impl::Impl(AdminClient& database, Store* store, ProcessGroupOptions options)
    : database_(database), store_(store), options_(checked(std::move(options))) {
  if (store == nullptr) {
    if (options_.mode == Mode::local) return;
    throw std::invalid_argument("ProcessGroupCoordinator: this mode needs a store");
  }
  const Layout layout(options_.root);
  upgrades_ =
      std::make_unique<UpgradeRegistry>(*store, layout, options_.identity.instance, options_.transact);
  deny_list_ = std::make_unique<DenyList>(*store, layout, options_.identity.instance, options_.transact);
  make_parts();
}

DatabaseStatus& ProcessGroupCoordinator::Impl::status(const std::stop_token& stop) {
  if (!status_) status_ = database_.status(stop);
  return *status_;
}

DatabaseStatus ProcessGroupCoordinator::Impl::status_after(const Claim& claim, const std::stop_token& stop) {
  database_.raise_fence(fence(claim.action, claim.epoch), stop);
  return database_.status(stop);
}

void ProcessGroupCoordinator::Impl::on_disruption() {
  if (status_) status_->since_last_recovery = Duration::zero();
}

std::string ProcessGroupCoordinator::Impl::inclusion_kind(const ProcessCluster& cluster,
                                                          const std::stop_token& stop) const {
  const bool is_needed = std::ranges::any_of(cluster.process_groups, &ProcessGroup::is_marked_for_removal);
  std::uint64_t epoch = 0;
  if (is_needed) {
    const auto entry = store_->snapshot(stop)->get(ledger_->layout().claim("exclusion"));
    if (entry) epoch = decode_claim(*entry).epoch;
  }
  return "excluded-" + std::to_string(epoch);
}

bool ProcessGroupCoordinator::Impl::publish(const ProcessCluster& cluster, PublishNotes notes,
                                            const std::function<void(GroupSets&)>& adjust,
                                            const std::stop_token& stop) {
  if (no_agreement_) return false;
  const DatabaseStatus& database = status(stop);
  may_have_entries_ = true;
  no_agreement_ = failure_of([&] {
    notes.ready_by = options_.ready_by;
    notes.inclusion_kind = inclusion_kind(cluster, stop);
    const Published published = ledger_->publish(
        [&](const OwnState& own) {
          GroupSets next = next_sets(cluster, database, sets_of(own), options_.times, wall_now());
          if (adjust) adjust(next);
          return desired_state(own, next, cluster, notes);
        },
        stop);
    if (!published.done()) throw StoreUnavailable(describe(published.transacted.outcome));
    if (published.changes.empty()) return;
    registry_->set_registered();
    renewed_ = options_.clock->now();
    announced_ = options_.mode;
  });
  return !no_agreement_;
}

bool ProcessGroupCoordinator::Impl::publish_ready(const ProcessCluster& cluster, std::string_view action,
                                                  const std::vector<std::string>& ready, Ready how,
                                                  const std::stop_token& stop) {
  if (no_agreement_) return false;
  PublishNotes notes;
  const std::string set = ready_set(action);
  no_agreement_ = failure_of([&] {
    const View own = ledger_->summary(action, options_.identity.scope, stop);
    for (const Member& member : own.consumed) {
      if (member.ref.scope != options_.identity.scope) continue;
      if (std::ranges::find(ready, member.ref.unit) != ready.end()) {
        notes.consumed[{set, member.ref.unit}] = member.since;
      }
    }
  });
  const auto adjust = [&](GroupSets& next) {
    const GroupIds& pending = *next.named(pending_set(action));
    GroupIds& into = *next.named(set);
    if (how == Ready::exactly) into.clear();
    std::ranges::copy_if(ready, std::inserter(into, into.end()),
                         [&](const std::string& id) { return pending.contains(id); });
  };
  return publish(cluster, std::move(notes), adjust, stop);
}

bool ProcessGroupCoordinator::Impl::renew_record(const std::stop_token& stop) {
  const TimePoint now = options_.clock->now();
  if (no_agreement_) return false;
  if (renewed_ && now < deadline_after(*renewed_, options_.liveness.silence / 4)) return true;
  no_agreement_ = failure_of([&] { registry_->renew(options_.mode, stop); });
  if (no_agreement_) return false;
  ledger_->set_registered();
  renewed_ = now;
  announced_ = options_.mode;
  return true;
}

Step ProcessGroupCoordinator::Impl::wait(const std::string& action, const std::string& why, Duration delay) {
  waits_[action] = {.why = why};
  return later(delay > Duration::zero() ? delay : options_.retry, why);
}

std::optional<std::string> ProcessGroupCoordinator::Impl::take_lock(const std::stop_token& stop) const {
  const LockAnswer answer = lock_->take(stop);
  if (answer.is_held()) return std::nullopt;
  return answer.why.empty() ? "the lock is not held" : answer.why;
}

std::optional<std::string> ProcessGroupCoordinator::Impl::take_turn(const ProcessCluster& cluster,
                                                                    const std::stop_token& stop) {
  if (announced_ == Mode::global && options_.mode != Mode::global) {
    return "others may act for " + options_.identity.scope + ": its record still has the mode global";
  }
  if (lock_ && cluster.configured) {
    std::optional<std::string> why;
    const auto failure = failure_of([&] { why = take_lock(stop); });
    if (failure) return failure;
    if (why) return why;
  }
  status_ = database_.status(stop);
  return std::nullopt;
}

/// Returns what a step that did not act waits for, and its retry delay.
Step ProcessGroupCoordinator::Impl::waiting(const StepReport& report) {
  const TimePoint now = options_.clock->now();
  ++figures_.waits;
  if (const WaitUntil* until = report.verdict.wait()) {
    return later(std::max(until->until - now, Duration(1)), until->why);
  }
  if (const Blocked* blocked = report.verdict.blocked()) return later(options_.retry, blocked->why);
  return later(options_.retry, report.why);
}

Agreement ProcessGroupCoordinator::Impl::agree(const ActionPolicy& policy, const ActionCallbacks& callbacks,
                                               const std::stop_token& stop) {
  Agreement agreement;
  waits_.erase(policy.action);
  std::string no_lock;
  StepReport report;
  if (!no_agreement_) {
    no_agreement_ = failure_of([&] {
      const Situation situation{.scope = options_.identity.scope, .mode = options_.mode};
      const auto lock = [&](const std::stop_token& until) {
        no_lock = take_lock(until).value_or("");
        return no_lock.empty();
      };
      report = claims_->step(policy, situation, callbacks, lock, stop);
    });
  }
  if (no_agreement_) {
    ++figures_.waits;
    agreement.step = wait(policy.action, *no_agreement_);
    return agreement;
  }
  if (report.kind == StepReport::Kind::nothing) return agreement;
  if (report.kind == StepReport::Kind::acted) {
    on_disruption();
    agreement.partial = report.claim->partial;
    agreement.acted = std::move(report.claim);
    if (!report.why.empty()) agreement.step = later(options_.retry, report.why);
    return agreement;
  }
  if (!no_lock.empty()) report.why = no_lock;
  agreement.step = waiting(report);
  waits_[policy.action] = {.why = report.why, .blocked_by = blockers(report.verdict)};
  return agreement;
}

void ProcessGroupCoordinator::Impl::report_shadow(const ActionPolicy& policy, const std::stop_token& stop) {
  waits_.erase(policy.action);
  std::string why;
  if (!no_agreement_) {
    no_agreement_ = failure_of([&] {
      const Situation situation{.scope = options_.identity.scope, .mode = options_.mode};
      const View view = ledger_->summary(policy.action, {}, stop);
      const TimePoint now = options_.clock->now();
      const Verdict verdict = evaluate(view, policy, situation, now);
      if (options_.meter) options_.meter->on_verdict(policy.action, verdict);
      if (verdict.proceed() == nullptr) why = describe(verdict, view, now);
    });
  }
  if (no_agreement_) why = *no_agreement_;
  ++(why.empty() ? figures_.shadow_goes : figures_.shadow_waits);
  if (!why.empty()) waits_[policy.action] = {.why = "in global mode: " + why};
}

void ProcessGroupCoordinator::Impl::update_meter(const std::stop_token& stop) {
  if (!options_.meter || options_.mode == Mode::local) return;
  const TimePoint now = options_.clock->now();
  for (const char* action : {"removal", "exclusion", "inclusion", "restart"}) {
    const TimePoint seen = options_.meter->last_seen(action);
    if (no_agreement_ || now < deadline_after(seen, options_.liveness.silence / 6)) continue;
    no_agreement_ = failure_of([&] { static_cast<void>(ledger_->summary(action, {}, stop)); });
  }
}

GroupIds ProcessGroupCoordinator::Impl::pending_removal(const std::stop_token& stop) const {
  GroupIds groups;
  const View view = ledger_->view("removal", stop);
  if (!view.unreadable.empty()) throw StoreUnavailable("cannot be read: " + view.unreadable.front());
  for (const Member& member : view.pending) groups.insert(member.ref.unit);
  return groups;
}

void ProcessGroupCoordinator::Impl::exclude(const std::vector<std::string>& targets, const Fence& fence,
                                            const std::stop_token& stop) {
  ++figures_.exclusions;
  database_.exclude(targets, fence, stop);
}

std::optional<std::string> ProcessGroupCoordinator::Impl::replace_coordinators(
    ProcessCluster& cluster, const DatabaseStatus& status, const GroupIds& groups, GroupIds pending_removal,
    const Fence& fence, const std::stop_token& stop) {
  const bool is_hit = std::ranges::any_of(groups, [&](const std::string& id) {
    return std::ranges::any_of(status.of_group(id),
                               [&](const DatabaseProcess* one) { return status.is_coordinator(*one); });
  });
  if (!is_hit) return std::nullopt;
  pending_removal.insert(groups.begin(), groups.end());
  const CoordinatorChoice choice = choose_coordinators(cluster, status, pending_removal);
  if (choice.failure) return choice.failure;
  ++figures_.coordinator_changes;
  cluster.connection_string = database_.change_coordinators(choice.coordinators, fence, stop);
  return std::nullopt;
}

ActReport nothing_done(const Claim& claim, std::string why) {
  ActReport report{.note = std::move(why)};
  for (const Target& target : claim.targets) report.not_done.push_back(target.ref);
  return report;
}

GroupIds units_of(const Claim& claim) {
  GroupIds units;
  for (const Target& target : claim.targets) units.insert(target.ref.unit);
  return units;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
