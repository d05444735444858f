// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "confinement.hpp"
#include "hash.hpp"
#include "names.hpp"
#include "objects.hpp"

namespace cache_operator {
namespace {

namespace core = ek::core_v1;

// Besides its items, a server needs memory for connections and its hash table.
core::ResourceRequirements resources_of(const v1::MemcachedSpec& spec) {
  const ek::Quantity memory = spec.memory + ek::Quantity(32 * mebibyte, ek::Quantity::Format::binary);
  return {.limits = {{"memory", memory}}, .requests = {{"cpu", ek::Quantity::milli(50)}, {"memory", memory}}};
}

core::Probe probe() {
  return {.period_seconds = 5, .tcp_socket = core::TCPSocketAction{.port = "memcached"}};
}

core::Container server_of(const v1::Memcached& memcached, const Settings& settings) {
  const v1::MemcachedSpec& spec = memcached.spec;
  core::Container server{.name = "memcached"};
  server.image = spec.image.value_or(settings.image);
  server.args = {"--port=" + std::to_string(spec.port), "--memory-limit=$(MEMORY_MEGABYTES)",
                 "--conn-limit=$(CONNECTIONS)", "--threads=$(THREADS)"};
  server.env_from = {{.config_map_ref = core::ConfigMapEnvSource{.name = config_name(memcached)}}};
  server.ports = {{.name = "memcached", .container_port = spec.port}};
  server.resources = resources_of(spec);
  server.readiness_probe = probe();
  server.liveness_probe = probe();
  server.security_context = confined_container();
  return server;
}

void add_users(core::PodSpec& pod, const v1::Auth& auth) {
  core::Container& server = pod.containers.front();
  server.args.push_back("--auth-file=" + std::string(users_folder) + "/" + std::string(users_key));
  server.volume_mounts = {{.name = "users", .mount_path = std::string(users_folder), .read_only = true}};
  pod.volumes = {{.name = "users", .secret = core::SecretVolumeSource{.secret_name = auth.secret_name}}};
}

core::PodSpec server_pod_of(const v1::Memcached& memcached, const Settings& settings) {
  core::PodSpec pod;
  pod.automount_service_account_token = false;
  pod.containers = {server_of(memcached, settings)};
  pod.security_context = confined_pod(11211);  // the user that the image has
  pod.topology_spread_constraints = {
      {.label_selector = ek::LabelSelector{.match_labels = server_labels(memcached)},
       .max_skew = 1,
       .topology_key = "kubernetes.io/hostname",
       .when_unsatisfiable = "ScheduleAnyway"}};
  if (memcached.spec.auth) add_users(pod, *memcached.spec.auth);
  return pod;
}

}  // namespace

ek::StatefulSet stateful_set_of(const v1::Memcached& memcached, const Users& users,
                                const Settings& settings) {
  ek::StatefulSet set{.metadata = {.name = memcached.metadata.name, .labels = object_labels(memcached)}};
  set.spec.replicas = memcached.spec.replicas;
  set.spec.service_name = memcached.metadata.name;
  set.spec.pod_management_policy = "Parallel";
  set.spec.selector = ek::LabelSelector{.match_labels = server_labels(memcached)};
  ek::ObjectMeta& metadata = set.spec.template_.metadata;
  metadata.labels = server_labels(memcached);
  metadata.annotations["cache.evenkeel.dev/config-hash"] = hash_of(ek::to_json(config_map_of(memcached)));
  if (!users.hash.empty()) metadata.annotations["cache.evenkeel.dev/users-hash"] = users.hash;
  set.spec.template_.spec = server_pod_of(memcached, settings);
  return set;
}

}  // namespace cache_operator
