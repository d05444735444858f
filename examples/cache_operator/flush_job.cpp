// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "confinement.hpp"
#include "names.hpp"
#include "objects.hpp"

namespace cache_operator {
namespace {

namespace core = ek::core_v1;

// Tells each server to drop what it holds. With users, a connection begins with a name and its password; grep
// fails, and with it the job, if a server does not answer OK to the last command.
constexpr std::string_view flush_script = R"(set -eu
if [ -r "$USERS" ]; then
  line=$(head -n 1 "$USERS")
  login="${line%%:*} ${line#*:}"
fi
at=0
while [ "$at" -lt "$SERVERS" ]; do
  {
    if [ -n "${login-}" ]; then printf 'set auth 0 0 %d\r\n%s\r\n' "${#login}" "$login"; fi
    printf 'flush_all\r\nquit\r\n'
  } | nc -w 10 "$NAME-$at.$NAME" "$PORT" | grep -q '^OK'
  at=$((at + 1))
done
)";

core::Container flusher_of(const v1::Memcached& memcached, const Settings& settings) {
  core::Container flusher{.name = "flush"};
  flusher.image = settings.flush_image;
  flusher.command = {"/bin/sh", "-c", std::string(flush_script)};
  flusher.env = {{.name = "NAME", .value = memcached.metadata.name},
                 {.name = "PORT", .value = std::to_string(memcached.spec.port)},
                 {.name = "SERVERS", .value = std::to_string(memcached.spec.replicas)},
                 {.name = "USERS", .value = std::string(users_folder) + "/" + std::string(users_key)}};
  flusher.security_context = confined_container();
  return flusher;
}

core::PodSpec flush_pod_of(const v1::Memcached& memcached, const Settings& settings) {
  core::PodSpec pod;
  pod.automount_service_account_token = false;
  pod.restart_policy = "OnFailure";
  pod.containers = {flusher_of(memcached, settings)};
  pod.security_context = confined_pod(65534);
  if (!memcached.spec.auth) return pod;
  pod.containers.front().volume_mounts = {
      {.name = "users", .mount_path = std::string(users_folder), .read_only = true}};
  pod.volumes = {
      {.name = "users", .secret = core::SecretVolumeSource{.secret_name = memcached.spec.auth->secret_name}}};
  return pod;
}

}  // namespace

ek::CronJob flush_job_of(const v1::Memcached& memcached, const Settings& settings) {
  const v1::Flush& flush = memcached.spec.flush.value();
  ek::CronJob job{.metadata = {.name = flush_name(memcached), .labels = object_labels(memcached)}};
  job.spec.schedule = flush.schedule;
  job.spec.time_zone = flush.time_zone;
  job.spec.concurrency_policy = "Forbid";
  job.spec.successful_jobs_history_limit = 1;
  job.spec.failed_jobs_history_limit = 1;
  job.spec.job_template.spec.backoff_limit = 2;
  job.spec.job_template.spec.active_deadline_seconds = 300;
  job.spec.job_template.spec.template_.metadata.labels = object_labels(memcached);
  job.spec.job_template.spec.template_.spec = flush_pod_of(memcached, settings);
  return job;
}

}  // namespace cache_operator
