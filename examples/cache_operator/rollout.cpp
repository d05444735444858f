// SPDX-License-Identifier: Apache-2.0
#include "rollout.hpp"

#include <algorithm>
#include <utility>

#include "names.hpp"

namespace cache_operator {
namespace {

std::string part_of(int part, int whole) {
  return std::to_string(part) + " of " + std::to_string(whole);
}

// The StatefulSet's controller has seen the last change, and every server has it and is ready.
bool is_complete(const ek::StatefulSet& servers) {
  const ek::apps_v1::StatefulSetStatus& status = servers.status;
  const int wanted = servers.spec.replicas.value_or(1);
  return status.observed_generation.value_or(0) >= servers.metadata.generation &&
         status.replicas.value_or(0) == wanted && status.updated_replicas.value_or(0) == wanted &&
         status.ready_replicas.value_or(0) == wanted;
}

void follow(v1::MemcachedStatus& status, const ek::StatefulSet* servers, ek::WallTime now) {
  if (servers == nullptr || is_complete(*servers)) {
    status.rollout.reset();
  } else if (!status.rollout || status.rollout->generation != servers->metadata.generation) {
    status.rollout = v1::Rollout{.generation = servers->metadata.generation, .started = now};
  }
}

ek::Condition available(const v1::MemcachedStatus& status, const v1::MemcachedSpec& spec) {
  const int least = spec.replicas == 0 ? 0 : std::max(1, spec.replicas - spec.max_unavailable);
  const bool enough = status.ready_replicas >= least;
  return {.type = "Available",
          .status = enough ? "True" : "False",
          .reason = enough ? "EnoughServers" : "TooFewServers",
          .message = part_of(status.ready_replicas, spec.replicas) + " servers are ready"};
}

ek::Condition progressing(const v1::MemcachedStatus& status, const v1::MemcachedSpec& spec,
                          const ek::StatefulSet* servers) {
  if (status.rollout)
    return {.type = "Progressing",
            .status = "True",
            .reason = "RollingOut",
            .message = part_of(status.updated_replicas, spec.replicas) + " servers are up to date"};
  if (servers == nullptr)
    return {
        .type = "Progressing", .status = "False", .reason = "NotBegun", .message = "there are no servers"};
  return {.type = "Progressing",
          .status = "False",
          .reason = "Complete",
          .message = "all servers are up to date"};
}

ek::Condition degraded(const v1::MemcachedStatus& status, const Problem& problem, bool stalled) {
  if (!problem.reason.empty())
    return {.type = "Degraded", .status = "True", .reason = problem.reason, .message = problem.message};
  if (stalled)
    return {.type = "Degraded",
            .status = "True",
            .reason = "RolloutStalled",
            .message = "the change of the servers that began at " + status.rollout->started.str() +
                       " does not come to its end"};
  return {.type = "Degraded", .status = "False", .reason = "AsExpected"};
}

}  // namespace

void update_status(v1::MemcachedStatus& status, const v1::Memcached& memcached,
                   const ek::StatefulSet* servers, const Problem& problem, ek::WallTime now,
                   ek::Duration rollout_limit) {
  const v1::MemcachedSpec& spec = memcached.spec;
  const ek::apps_v1::StatefulSetStatus found = servers ? servers->status : ek::apps_v1::StatefulSetStatus{};
  status.observed_generation = memcached.metadata.generation;
  status.replicas = found.replicas.value_or(0);
  status.updated_replicas = found.updated_replicas.value_or(0);
  status.ready_replicas = found.ready_replicas.value_or(0);
  status.selector = ek::LabelSelector{.match_labels = server_labels(memcached)}.str();
  status.address =
      memcached.metadata.name + "." + memcached.metadata.namespace_ + ".svc:" + std::to_string(spec.port);
  follow(status, servers, now);
  const bool stalled = status.rollout && !time_left(status, now, rollout_limit);
  for (ek::Condition condition :
       {available(status, spec), progressing(status, spec, servers), degraded(status, problem, stalled)}) {
    condition.observed_generation = memcached.metadata.generation;
    ek::set_condition(status.conditions, std::move(condition), now);
  }
}

std::optional<ek::Duration> time_left(const v1::MemcachedStatus& status, ek::WallTime now,
                                      ek::Duration rollout_limit) {
  if (!status.rollout) return std::nullopt;
  const ek::Duration left = status.rollout->started.value() + rollout_limit - now;
  return left > ek::Duration::zero() ? std::optional(left) : std::nullopt;
}

}  // namespace cache_operator
