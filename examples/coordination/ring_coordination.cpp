// SPDX-License-Identifier: Apache-2.0
#include "ring_coordination.hpp"

#include <utility>
#include <vector>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/scope_migrator.hpp>

#include "ring_plan.hpp"
#include "ring_pods.hpp"

namespace {

// Deletes the Pod; the node stops it after a delay.
ec::RemovalState remove_pod(ek::Context& context, const RingCluster& cluster, const ec::ProcessGroup& group) {
  const ek::ObjectKey key{cluster.metadata.namespace_, group.id};
  const ek::Snapshot<ek::Pod> pod = context.find<ek::Pod>(key);
  if (!pod) return ec::RemovalState::gone;
  if (!ek::is_deleting(pod->metadata)) context.remove<ek::Pod>(key);
  return ec::RemovalState::terminating;
}

void write_cluster(ek::Context& context, const RingCluster& cluster, const ec::ProcessCluster& changed) {
  context.patch_status(cluster, [&](RingClusterStatus& status) {
    status.process_groups = changed.process_groups;
    status.connection_string = changed.connection_string;
  });
}

}  // namespace

RingCoordination::RingCoordination(ec::AdminClient& database, ec::MeteredStore& store,
                                   RingCoordinationOptions options)
    : database_(database),
      store_(store),
      options_(std::move(options)),
      meter_(std::make_shared<ec::CoordinationMeter>(options_.root)) {}

ec::ProcessGroupAdapter<RingCluster> RingCoordination::adapter() {
  ec::ProcessGroupAdapter<RingCluster> adapter;
  adapter.coordinator = [this](ek::Context& context, const RingCluster& cluster) {
    return coordinator(context, cluster);
  };
  adapter.read = [this](const RingCluster& cluster) { return process_cluster(cluster, options_.sites); };
  adapter.write = write_cluster;
  adapter.remove = remove_pod;
  adapter.wanted_command_line = [](const RingCluster& cluster, const ec::ProcessGroup& group) {
    return command_line_of(cluster.spec.version, group.process_class, group.id, arguments_of(cluster.spec));
  };
  adapter.deny_list = [](const RingCluster& cluster) {
    std::vector<ec::DenyListEntry> entries;
    for (const RingDenyListEntry& entry : cluster.spec.deny_list)
      entries.push_back({.scope = entry.id, .allow = entry.allow});
    return entries;
  };
  return adapter;
}

std::shared_ptr<ec::ProcessGroupCoordinator> RingCoordination::coordinator(ek::Context& context,
                                                                           const RingCluster& cluster) {
  const std::string& scope = cluster.spec.process_group_id_prefix;
  const ek::ObjectKey key = ek::key_of(cluster);
  {
    ek::MutexLock lock(mutex_);
    const auto known = known_.find(key);
    if (known != known_.end() && known->second->options().identity.scope == scope) return known->second;
  }
  // Does not hold the lock: this calls the store, and each object is reconciled by one thread at a time.
  const ec::ProcessGroupOptions options = options_for(scope);
  if (options_.mode != ec::Mode::local) move_to(options.identity, context);
  auto made = std::make_shared<ec::ProcessGroupCoordinator>(database_, &store_, options);
  ek::MutexLock lock(mutex_);
  // The scope now belongs to an object that was deleted and recreated under another name.
  std::erase_if(known_, [&](const auto& one) { return one.second->options().identity.scope == scope; });
  known_[key] = made;
  return made;
}

void RingCoordination::collect(ek::MetricSink& sink) const {
  ec::collect(meter_->figures(), sink);
  ec::collect(store_.figures(), options_.root, sink);
  ek::MutexLock lock(mutex_);
  for (const auto& [key, coordinator] : known_) coordinator->collect(sink);
}

// The prefix migration of the design: moves all keys of the former scope of this instance, in one
// transaction.
void RingCoordination::move_to(const ec::Identity& identity, ek::Context& context) {
  ec::ScopeMigrator migrator(store_, ec::Layout(options_.root), identity);
  const ec::Migration migration = migrator.migrate_if_renamed(context.stop());
  if (migration.outcome == ec::MigrationOutcome::moved)
    context.log().info("moved to another scope",
                       {{"scope", identity.scope},
                        {"members", static_cast<std::int64_t>(migration.members)},
                        {"transactions", static_cast<std::int64_t>(migration.transactions)}});
  if (migration.outcome == ec::MigrationOutcome::refused ||
      migration.outcome == ec::MigrationOutcome::unavailable)
    throw ec::StoreUnavailable("cannot move to the scope " + identity.scope + ": " + migration.why);
}

ec::ProcessGroupOptions RingCoordination::options_for(const std::string& scope) const {
  const auto scaled = [this](ek::Duration& time) {
    time = std::chrono::duration_cast<ek::Duration>(time / options_.time_scale);
  };
  ec::ProcessGroupOptions options;
  options.identity = {.scope = scope, .instance = options_.instance, .incarnation = options_.incarnation};
  options.mode = options_.mode;
  options.root = options_.root;
  options.ready_by = options_.ready_by;
  options.meter = meter_;
  options.liveness.silence = options_.silence;
  ec::ProcessGroupTimes& times = options.times;
  times.minimum_uptime_for_restart = options_.minimum_uptime;
  times.minimum_recovery_for_inclusion = options_.minimum_uptime;
  for (ek::Duration* time :
       {&times.ignore_missing_for_restart, &times.ignore_missing_for_exclusion, &times.ignore_pending_pods,
        &times.ignore_terminating, &times.minimum_uptime_for_restart, &times.minimum_recovery_for_exclusion,
        &times.minimum_recovery_for_inclusion, &times.minimum_uptime_for_missing_coordinator,
        &times.minimum_uptime_for_undesired_coordinator, &options.liveness.silence, &options.lock.duration,
        &options.lock.margin, &options.lock.yield_after, &options.lock.yield_for, &options.retry,
        &options.least_restart_retry})
    scaled(*time);
  for (ec::ActionPolicy* policy : {&options.exclusion, &options.inclusion, &options.restart}) {
    scaled(policy->quiet_window);
    scaled(policy->straggler_timeout);
    scaled(policy->claim_timeout);
  }
  // Truncated to whole milliseconds.
  options.lock.duration = std::chrono::duration_cast<std::chrono::milliseconds>(options.lock.duration);
  return options;
}
