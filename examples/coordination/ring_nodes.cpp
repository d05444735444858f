// SPDX-License-Identifier: Apache-2.0
#include "ring_nodes.hpp"

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

#include "ring_pods.hpp"

namespace {

std::string label_of(const ek::ObjectMeta& metadata, std::string_view name) {
  const auto found = metadata.labels.find(std::string(name));
  return found == metadata.labels.end() ? std::string() : found->second;
}

std::string datum(const ek::ConfigMap& config, const std::string& name) {
  const auto found = config.data.find(name);
  return found == config.data.end() ? std::string() : found->second;
}

std::string wanted_text(const ek::ConfigMap& config) {
  return configuration_text(datum(config, "version"), datum(config, "arguments"));
}

std::string command_line(const ek::Pod& pod, const ek::ConfigMap& config) {
  return command_line_of(datum(config, "version"), label_of(pod.metadata, class_label),
                         label_of(pod.metadata, group_label), datum(config, "arguments"));
}

}  // namespace

ek::ControllerSpec RingNodes::controller() {
  const auto run = [this](ek::Context& context, const ek::Request&) { return reconcile(context); };
  return ek::controller_for<ek::Pod>(run)
      .watches<ek::ConfigMap>([this](const ek::ConfigMap& config) { return pods_of(config); })
      .named("nodes");
}

ek::Result RingNodes::reconcile(ek::Context& context) {
  const ek::ObjectKey& key = context.key();
  const ek::Snapshot<ek::Pod> pod = context.find<ek::Pod>(key);
  if (!pod || ek::is_deleting(pod->metadata)) {
    stop(context, pod);
    return ek::done();
  }
  const std::string cluster = label_of(pod->metadata, cluster_label);
  if (cluster.empty()) return ek::done();
  {
    ek::MutexLock lock(mutex_);
    Known& known = pods_[key];
    known.group = label_of(pod->metadata, group_label);
    known.cluster = cluster;
  }
  const ek::Snapshot<ek::ConfigMap> config = context.find<ek::ConfigMap>({key.namespace_, cluster});
  if (!config) return ek::done();  // the creation of the ConfigMap is an event
  const bool runs = pod->status.pod_ip.has_value();
  return runs ? sync(context, pod, *config) : start(context, pod, *config);
}

ek::Result RingNodes::start(ek::Context& context, const ek::Snapshot<ek::Pod>& pod,
                            const ek::ConfigMap& config) {
  const ek::TimePoint now = context.clock().now();
  const ek::Duration wait = left(*pod, "start", options_.start_min, options_.start_max, now);
  if (wait > ek::Duration::zero()) return ek::requeue_after(wait, "starting");
  const std::string text = wanted_text(config);
  const ek::Snapshot<ek::Pod> synced = context.patch(
      pod, [&](ek::Pod& edited) { edited.metadata.annotations[std::string(synced_annotation)] = text; });
  const std::string address = next_address();
  context.patch_status(synced, [&](ek::core_v1::PodStatus& status) {
    status.phase = "Running";
    status.pod_ip = address;
  });
  ek::MutexLock lock(ring_.mutex);
  ring_.database.start({.id = label_of(pod->metadata, group_label),
                        .address = address + ":4501",
                        .process_class = label_of(pod->metadata, class_label),
                        .dc = pod->metadata.namespace_,
                        .version = datum(config, "version"),
                        .command_line = command_line(*pod, config)},
                       now);
  return ek::done();
}

ek::Result RingNodes::sync(ek::Context& context, const ek::Snapshot<ek::Pod>& pod,
                           const ek::ConfigMap& config) {
  const std::string text = wanted_text(config);
  const auto found = pod->metadata.annotations.find(std::string(synced_annotation));
  if (found != pod->metadata.annotations.end() && found->second == text) return ek::done();
  const ek::TimePoint now = context.clock().now();
  const ek::Duration wait = left(*pod, text, options_.sync_min, options_.sync_max, now);
  if (wait > ek::Duration::zero()) return ek::requeue_after(wait, "copying the configuration");
  {
    ek::MutexLock lock(ring_.mutex);
    ring_.database.stage(label_of(pod->metadata, group_label), command_line(*pod, config),
                         datum(config, "version"));
  }
  context.patch(pod,
                [&](ek::Pod& edited) { edited.metadata.annotations[std::string(synced_annotation)] = text; });
  return ek::done();
}

void RingNodes::stop(ek::Context& context, const ek::Snapshot<ek::Pod>& pod) {
  std::string group;
  {
    ek::MutexLock lock(mutex_);
    const auto found = pods_.find(context.key());
    if (found != pods_.end()) {
      group = found->second.group;
      pods_.erase(found);
    }
  }
  if (!group.empty()) {
    ek::MutexLock lock(ring_.mutex);
    ring_.database.stop(group, context.clock().now());
  }
  // A node does the same when the processes of a Pod have ended.
  if (pod) context.remove<ek::Pod>(ek::key_of(*pod), {.grace_period_seconds = 0});
}

// Returns the rest of the delay of `what` for this Pod: a random time between the two bounds, counted from
// the first request.
ek::Duration RingNodes::left(const ek::Pod& pod, const std::string& what, ek::Duration min, ek::Duration max,
                             ek::TimePoint now) {
  std::mt19937_64 chance(options_.seed ^ std::hash<std::string>()(pod.metadata.name + "/" + what));
  std::uniform_int_distribution<std::int64_t> between(min.count(), std::max(min, max).count());
  ek::MutexLock lock(mutex_);
  const ek::TimePoint seen = pods_[ek::key_of(pod)].seen.emplace(what, now).first->second;
  return seen + ek::Duration(between(chance)) - now;
}

std::vector<ek::ObjectKey> RingNodes::pods_of(const ek::ConfigMap& config) {
  std::vector<ek::ObjectKey> keys;
  ek::MutexLock lock(mutex_);
  for (const auto& [key, known] : pods_) {
    if (key.namespace_ == config.metadata.namespace_ && known.cluster == config.metadata.name)
      keys.push_back(key);
  }
  return keys;
}

std::string RingNodes::next_address() {
  ek::MutexLock lock(mutex_);
  const int number = addresses_++;
  return "10.0." + std::to_string(number / 250) + "." + std::to_string(number % 250 + 1);
}
