// SPDX-License-Identifier: Apache-2.0
#include "ring_coordination.hpp"

#include <utility>
#include <vector>

#include <evenkeel/api/kinds/pods.hpp>

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
  adapter.coordinator = [this](ek::Context&, const RingCluster& cluster) { return coordinator(cluster); };
  adapter.mode = [](const RingCluster& cluster) {
    return cluster.spec.automation_options.synchronization_mode;
  };
  adapter.scope = [](const RingCluster& cluster) { return cluster.spec.process_group_id_prefix; };
  adapter.read = [this](const RingCluster& cluster) {
    return process_cluster(cluster, options_.sites, options_.coordinators);
  };
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

std::shared_ptr<ec::ProcessGroupCoordinator> RingCoordination::coordinator(const RingCluster& cluster) {
  const std::string& scope = cluster.spec.process_group_id_prefix;
  const ek::ObjectKey key = ek::key_of(cluster);
  ek::MutexLock lock(mutex_);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  auto made = std::make_shared<ec::ProcessGroupCoordinator>(database_, &store_, options_for(cluster));
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

std::function<ek::Json()> RingCoordination::console_section() const {
  const auto silence = std::chrono::duration_cast<ek::Duration>(options_.silence / options_.time_scale);
  return ec::console_section(store_, ec::Layout(options_.root),
                             {.liveness = {.silence = silence}, .clock = options_.clock});
}

ec::ProcessGroupOptions RingCoordination::options_for(const RingCluster& cluster) const {
  const auto scaled = [this](ek::Duration& time) {
    time = std::chrono::duration_cast<ek::Duration>(time / options_.time_scale);
  };
  ec::ProcessGroupOptions options;
  options.identity = {.scope = cluster.spec.process_group_id_prefix,
                      .instance = options_.instance,
                      .incarnation = options_.incarnation};
  options.mode = cluster.spec.automation_options.synchronization_mode;
  options.root = options_.root;
  options.ready_by = options_.ready_by;
  options.meter = meter_;
  options.clock = options_.clock;
  options.liveness.silence = options_.silence;
  options.retry = options_.retry;
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
