// SPDX-License-Identifier: Apache-2.0
// Parts that the tests of the operator share: a Memcached, its Secret, and the part that a cluster plays.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/batch.hpp>
#include <evenkeel/api/kinds/policy.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/run.hpp>

#include "controller.hpp"
#include "memcached_v1.hpp"
#include "webhook.hpp"

namespace cache_operator::tests {

inline const ek::ObjectKey sessions{"default", "sessions"};
inline const ek::ObjectKey sessions_config{"default", "sessions-config"};
inline const ek::ObjectKey sessions_flush{"default", "sessions-flush"};
inline const ek::ObjectKey sessions_users{"default", "sessions-users"};

inline v1::Memcached memcached(v1::MemcachedSpec spec = {}) {
  return {.metadata = {.name = sessions.name, .namespace_ = sessions.namespace_}, .spec = std::move(spec)};
}

inline ek::Secret users(const std::string& lines, const std::string& name = sessions_users.name) {
  return {.metadata = {.name = name, .namespace_ = "default"}, .data = {{"users", lines}}};
}

/// The controller with metrics that nobody serves: they outlive their registry.
inline ek::ControllerSpec controller(const Settings& settings = {}) {
  ek::MetricRegistry registry;
  return memcached_controller(settings, registry);
}

/// Plays the StatefulSet's controller and the kubelet: all servers have the last revision, and `ready` of
/// them are ready, by default all.
inline void play_cluster(ek::testing::Harness& cluster, int not_ready = 0) {
  for (const auto& set : cluster.list<ek::StatefulSet>()) {
    const int wanted = set->spec.replicas.value_or(1);
    cluster.edit_status<ek::StatefulSet>(ek::key_of(*set), [&](ek::apps_v1::StatefulSetStatus& status) {
      status.observed_generation = set->metadata.generation;
      status.replicas = wanted;
      status.updated_replicas = wanted;
      status.ready_replicas = wanted - std::min(not_ready, wanted);
    });
  }
}

/// Lets the operator work, the cluster follow, and the operator see it.
inline void settle(ek::testing::Harness& cluster) {
  cluster.run_for(std::chrono::seconds{1});
  play_cluster(cluster);
  cluster.settle();
}

/// A cluster with the operator and its webhooks, in which these objects have come to rest.
inline ek::testing::Harness settled(const ek::testing::Objects& objects,
                                    ek::testing::HarnessOptions options = {}) {
  options.name = "cache-operator";
  options.webhooks = {memcached_webhook({})};
  ek::testing::Harness cluster(std::move(options));
  cluster.add(controller());
  cluster.create(objects);
  settle(cluster);
  return cluster;
}

inline ek::Condition condition(const ek::testing::Harness& cluster, std::string_view type) {
  const auto found = cluster.get<v1::Memcached>(sessions);
  const ek::Condition* const one = ek::find_condition(found->status.conditions, type);
  return one == nullptr ? ek::Condition{} : *one;
}

inline std::string annotation_of_servers(const ek::testing::Harness& cluster, const std::string& name) {
  const auto set = cluster.get<ek::StatefulSet>(sessions);
  const auto& annotations = set->spec.template_.metadata.annotations;
  const auto found = annotations.find("cache.evenkeel.dev/" + name);
  return found == annotations.end() ? "" : found->second;
}

/// Reasons of the Events, in the order of their names.
inline std::vector<std::string> reasons_of_events(const ek::testing::Harness& cluster) {
  std::vector<std::string> reasons;
  for (const auto& event : cluster.events()) reasons.push_back(event->reason.value_or(""));
  return reasons;
}

}  // namespace cache_operator::tests
