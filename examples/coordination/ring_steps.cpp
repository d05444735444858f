// SPDX-License-Identifier: Apache-2.0
#include "ring_steps.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ring_pods.hpp"

namespace {

std::string text_of(const std::map<std::string, std::string>& texts, std::string_view name) {
  const auto found = texts.find(std::string(name));
  return found == texts.end() ? std::string() : found->second;
}

ek::Pod pod_for(const RingCluster& cluster, const ec::ProcessGroup& group) {
  ek::Pod pod;
  pod.metadata.name = group.id;
  pod.metadata.namespace_ = cluster.metadata.namespace_;
  pod.metadata.labels = {{std::string(cluster_label), cluster.metadata.name},
                         {std::string(class_label), group.process_class},
                         {std::string(group_label), group.id}};
  ek::core_v1::Container container;
  container.name = "ringdb";
  container.image = "ringdb:" + cluster.spec.version;
  pod.spec.containers.push_back(std::move(container));
  return pod;
}

const ec::ProcessGroup& find(const RingCluster& cluster, const std::string& id) {
  const auto& groups = cluster.status.process_groups;
  return *std::find_if(groups.begin(), groups.end(),
                       [&](const ec::ProcessGroup& group) { return group.id == id; });
}

using Waits = std::map<std::string, ec::ActionWait>;

RingShadow shadow_of(const ec::ProcessGroupFigures& figures) {
  return {.goes = static_cast<std::int64_t>(figures.shadow_goes),
          .waits = static_cast<std::int64_t>(figures.shadow_waits)};
}

// The verdicts of mode global for actions that this instance did alone.
void log_shadow(ek::Context& context, const RingShadow& before, const RingShadow& now, const Waits& waits) {
  if (now.goes > before.goes)
    context.log().info("acted alone", {{"why", "global mode would have acted now"}});
  if (now.waits <= before.waits) return;
  for (const auto& [action, wait] : waits)
    context.log().info("acted alone", {{"action", action}, {"why", wait.why}});
}

// Returns the version of the processes that do not have the desired one yet, if there are any.
std::string running_version(const ec::DatabaseStatus& database, const std::string& wanted) {
  for (const ec::DatabaseProcess& process : database.processes) {
    if (process.version != wanted) return process.version;
  }
  return wanted;
}

std::string phase_of(const RingCluster& cluster, bool complete) {
  if (!cluster.status.configured) return "Starting";
  return complete ? "Ready" : "Changing";
}

}  // namespace

PodsByGroup pods_of(ek::Context& context, const RingCluster& cluster) {
  PodsByGroup pods;
  const std::string mine = std::string(cluster_label) + "=" + cluster.metadata.name;
  for (const ek::Snapshot<ek::Pod>& pod :
       context.list<ek::Pod>({.namespace_ = cluster.metadata.namespace_, .label_selector = mine})) {
    pods[text_of(pod->metadata.labels, group_label)] = {
        .terminating = ek::is_deleting(pod->metadata),
        .address = pod->status.pod_ip,
        .synced = text_of(pod->metadata.annotations, synced_annotation)};
  }
  return pods;
}

void RingSteps::plan(ek::Context& context, const RingCluster& cluster) const {
  context.patch_status(cluster, [&](RingClusterStatus& status) {
    plan_groups(cluster.spec, status.process_groups, context.clock().wall_now());
    status.wanted =
        cluster.spec.processes.storage + cluster.spec.processes.log + cluster.spec.processes.stateless;
  });
}

void RingSteps::provide(ek::Context& context, const RingCluster& cluster) const {
  ek::ConfigMap config;
  config.metadata.name = cluster.metadata.name;
  config.metadata.namespace_ = cluster.metadata.namespace_;
  config.data = {{"version", cluster.spec.version}, {"arguments", arguments_of(cluster.spec)}};
  const ek::Snapshot<ek::ConfigMap> found = context.find<ek::ConfigMap>(ek::key_of(cluster));
  if (!found || found->data != config.data) context.apply(config);
  for (const std::string& id : missing_pods(cluster.status.process_groups, pods_of(context, cluster)))
    context.apply(pod_for(cluster, find(cluster, id)));
}

void RingSteps::observe(ek::Context& context, const RingCluster& cluster) const {
  const ec::DatabaseStatus database = database_.status(context.stop());
  const PodsByGroup pods = pods_of(context, cluster);
  context.patch_status(cluster, [&](RingClusterStatus& status) {
    status.configured = !database.coordinators.empty();
    if (status.configured) status.connection_string = database.connection_string;
    status.running_version = running_version(database, cluster.spec.version);
    observe_pods(cluster.spec, pods, status.process_groups, context.clock().wall_now());
  });
}

ek::Step RingSteps::report(ek::Context& context, const RingCluster& cluster,
                           const ec::ProcessGroupCoordinator& coordinator) const {
  const Waits waits = coordinator.waits();
  const RingShadow shadow = shadow_of(coordinator.figures());
  log_shadow(context, cluster.status.shadow, shadow, waits);
  const bool complete = cluster.status.configured && is_complete(cluster.spec, cluster.status.process_groups);
  context.patch_status(cluster, [&](RingClusterStatus& status) {
    status.ready = count_ready(status.process_groups);
    status.phase = phase_of(cluster, complete);
    if (complete) status.generation = cluster.metadata.generation;
    status.shadow = shadow;
    ec::set_wait_conditions(status.conditions, waits, context.clock().wall_now());
  });
  return complete ? ek::later(options_.rest, "watching") : ek::later(options_.poll, "not up to date");
}
