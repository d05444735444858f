// SPDX-License-Identifier: Apache-2.0
// The steps that restart processes: for new command lines, and for versions that cannot communicate with each
// other.
#include <algorithm>
#include <utility>

#include <evenkeel/coordination/process_groups/restart.hpp>
#include <evenkeel/coordination/process_groups/safety.hpp>

#include "bracketed.hpp"
#include "coordinator_impl.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {
Step ProcessGroupCoordinator::bounce_processes(ProcessCluster& cluster, std::stop_token stop) {
  Impl& impl = *impl_;
  const DatabaseStatus& status = impl.status(stop);
  const RestartPlan plan = plan_restart(cluster, status, impl.options_.times, impl.wall_now());
  const Mode mode = impl.mode(cluster);
  impl.waits_.erase("restart");
  impl.withdraw_from_upgrade(cluster, stop);
  if (plan.pending.empty()) return go_on();
  const Refusal refusal = refuse_restart(status, impl.options_.times);
  if (mode != Mode::local && (plan.wait || refusal)) {
    // A group that is no longer prepared is not ready; one that only waits for the database stays ready.
    const auto adjust = [&](GroupSets& next) {
      if (plan.wait) next.ready_for_restart.clear();
    };
    impl.publish(cluster, {}, adjust, stop);
  }
  if (plan.wait) return impl.wait("restart", *plan.wait);
  if (refusal) {
    const Duration left = impl.options_.times.minimum_uptime_for_restart - minimum_uptime(status);
    return impl.wait("restart", *refusal, std::max(left, impl.options_.least_restart_retry));
  }
  if (cluster.has_incompatible_upgrade()) return impl.restart_for_upgrade(cluster, plan, stop);
  if (mode == Mode::global) {
    impl.publish_ready(cluster, "restart", plan.ready, Impl::Ready::exactly, stop);
    return impl.agree(impl.options_.restart, impl.restart_callbacks(), stop).step;
  }
  if (mode == Mode::shadow) {
    impl.publish_ready(cluster, "restart", plan.ready, Impl::Ready::exactly, stop);
  }
  if (const auto why = impl.restart_alone(cluster, stop)) return impl.wait("restart", *why);
  return go_on();
}

std::optional<std::string> ProcessGroupCoordinator::Impl::restart_alone(const ProcessCluster& cluster,
                                                                        const std::stop_token& stop) {
  if (auto why = take_turn(cluster, stop)) return why;
  if (Refusal refusal = refuse_restart(status(stop), options_.times)) return refusal;
  const RestartPlan plan = plan_restart(cluster, status(stop), options_.times, wall_now());
  if (plan.wait || plan.addresses.empty()) return plan.wait;
  if (mode(cluster) == Mode::shadow) report_shadow(options_.restart, stop);
  kill(plan.addresses, fence("restart", 0), stop);
  on_disruption();
  return std::nullopt;
}

void ProcessGroupCoordinator::Impl::kill(const std::vector<std::string>& addresses, const Fence& fence,
                                         const std::stop_token& stop) {
  ++figures_.restarts;
  database_.kill(addresses, fence, stop);
}

ActionCallbacks ProcessGroupCoordinator::Impl::restart_callbacks() {
  return {.act =
              [this](const Claim& claim, std::stop_token stop) {
                const DatabaseStatus fresh = database_.status(stop);
                if (const Refusal no = refuse_restart(fresh, options_.times)) return nothing_done(claim, *no);
                ActReport report;
                for (const Target& target : claim.targets) {
                  if (fresh.of_group(target.ref.unit).empty()) report.not_done.push_back(target.ref);
                }
                const auto addresses = addresses_of(fresh, units_of(claim));
                if (addresses.empty()) return nothing_done(claim, "none of the processes is reported");
                kill(addresses, fence("restart", claim.epoch), stop);
                return report;
              },
          // All of them had run for the minimum uptime when the claim was made.
          .observe =
              [this](const Claim& claim, std::stop_token stop) {
                const DatabaseStatus fresh = status_after(claim, stop);
                const auto is_old = [&](const DatabaseProcess* one) {
                  return one->uptime >= options_.times.minimum_uptime_for_restart;
                };
                ActReport report;
                for (const Target& target : claim.targets) {
                  if (std::ranges::any_of(fresh.of_group(target.ref.unit), is_old)) {
                    report.not_done.push_back(target.ref);
                  }
                }
                return report;
              }};
}

void ProcessGroupCoordinator::Impl::withdraw_from_upgrade(const ProcessCluster& cluster,
                                                          const std::stop_token& stop) {
  if (cluster.has_incompatible_upgrade()) {
    may_be_registered_ = true;
    return;
  }
  if (upgrades_ == nullptr || !may_be_registered_ || no_agreement_) return;
  GroupIds mine;
  for (const ProcessGroup& group : cluster.process_groups) mine.insert(group.id);
  try {
    upgrades_->withdraw(mine, stop);
    may_be_registered_ = false;
  } catch (const StoreUnavailable&) {  // the next pass retries
  }
}

/// Restarts all processes of the database at once, when all instances have registered theirs. Runs in every
/// mode.
Step ProcessGroupCoordinator::Impl::restart_for_upgrade(const ProcessCluster& cluster,
                                                        const RestartPlan& plan,
                                                        const std::stop_token& stop) {
  std::vector<std::string> addresses = plan.addresses;
  std::uint64_t epoch = 0;
  std::optional<std::string> why;
  if (upgrades_ != nullptr) {
    const auto failure = failure_of([&] {
      std::vector<std::string> ids;
      std::ranges::transform(cluster.process_groups, std::back_inserter(ids), &ProcessGroup::id);
      upgrades_->add(cluster.version, ids, stop);
      if ((why = take_lock(stop))) return;
      if (!status(stop).available) {
        why = "Deferring upgrade until database is available";
        return;
      }
      const UpgradeNeed need =
          upgrade_need(status(stop), upgrades_->registered(cluster.version, stop), cluster.version);
      if (!need.not_ready.empty()) {
        why = "Waiting for processes to be updated: " + bracketed(need.not_ready);
        return;
      }
      const auto held = lock_->held();
      if (!held) {
        why = std::string(lock_expired);
        return;
      }
      epoch = *held;
      addresses = need.addresses;
      upgrades_->clear(stop);
    });
    if (failure) why = failure;
  }
  if (why) return wait("restart", *why);
  const Fence agreed = fence("upgrade", epoch);
  kill(addresses, agreed, stop);
  // The first command may not reach every process, and a process that missed it would be alone with the old
  // version.
  kill(addresses, agreed, stop);
  on_disruption();
  return stop_here(requeue_after(options_.retry, "fetch latest status after upgrade"));
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
