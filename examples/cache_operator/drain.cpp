// SPDX-License-Identifier: Apache-2.0
#include "drain.hpp"

#include <string>

#include <evenkeel/api/kinds/apps.hpp>

namespace cache_operator {
namespace {

bool has_stopped(const ek::StatefulSet& servers) {
  return servers.status.observed_generation.value_or(0) >= servers.metadata.generation &&
         servers.status.replicas.value_or(0) == 0;
}

}  // namespace

ek::Result drain(ek::Context& context, const v1::Memcached& memcached, const Settings& settings) {
  // From the server: the cache may be behind, and show servers of a Memcached that had this name before.
  auto servers = context.client().find<ek::StatefulSet>(ek::key_of(memcached));
  if (!servers || !ek::is_owned_by(servers->metadata, memcached)) return ek::done();
  if (servers->spec.replicas != 0) {
    servers = context.patch(servers, [](ek::StatefulSet& set) { set.spec.replicas = 0; });
    context.event(memcached, ek::EventSeverity::normal, "Draining", "the servers stop before it is deleted",
                  {.action = "Drain", .related = ek::event_subject(*servers)});
  }
  if (has_stopped(*servers)) return ek::done();

  const std::string running = std::to_string(servers->status.replicas.value_or(0)) + " servers run";
  const ek::Duration left =
      memcached.metadata.deletion_timestamp->value() + settings.drain_limit - context.clock().wall_now();
  if (left > ek::Duration::zero())
    return ek::requeue_after(left, running);  // or when the StatefulSet changes
  context.event(memcached, ek::EventSeverity::warning, "DrainTimedOut",
                running + " still; it goes without them", {.action = "Drain"});
  return ek::done();
}

}  // namespace cache_operator
