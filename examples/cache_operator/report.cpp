// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <string_view>

namespace cache_operator {
namespace {

struct Change {
  bool begun = false;
  bool ended = false;
};

Change change_of(std::string_view type, const v1::MemcachedStatus& before, const v1::MemcachedStatus& now) {
  const bool was = ek::is_condition_true(before.conditions, type);
  const bool is = ek::is_condition_true(now.conditions, type);
  return {.begun = is && !was, .ended = was && !is};
}

std::string reason_of(const v1::MemcachedStatus& status, std::string_view type) {
  const ek::Condition* const condition = ek::find_condition(status.conditions, type);
  return condition == nullptr ? "" : condition->reason;
}

void record_changes(ek::Context& context, const v1::Memcached& memcached, const v1::MemcachedStatus& now) {
  using ek::EventSeverity;
  const v1::MemcachedStatus& before = memcached.status;
  const Change rollout = change_of("Progressing", before, now);
  if (rollout.begun)
    context.event(memcached, EventSeverity::normal, "RolloutStarted", "the servers change",
                  {.action = "RollOut"});
  if (rollout.ended)
    context.event(memcached, EventSeverity::normal, "RolloutCompleted", "all servers are up to date",
                  {.action = "RollOut"});
  const std::string reason = reason_of(now, "Degraded");
  const Change trouble = change_of("Degraded", before, now);
  const bool another =
      ek::is_condition_true(now.conditions, "Degraded") && reason != reason_of(before, "Degraded");
  if (trouble.begun || another)
    context.event(memcached, EventSeverity::warning, reason,
                  ek::find_condition(now.conditions, "Degraded")->message);
  if (trouble.ended) context.event(memcached, EventSeverity::normal, "Recovered", "it is as expected again");
}

void count_changes(const v1::Memcached& memcached, const v1::MemcachedStatus& now, const Metrics& metrics) {
  const v1::MemcachedStatus& before = memcached.status;
  metrics.ready.set(now.ready_replicas,
                    {{"namespace", memcached.metadata.namespace_}, {"name", memcached.metadata.name}});
  if (before.rollout && !now.rollout) metrics.rollouts.add(1, {{"result", "completed"}});
  const bool stalled = reason_of(now, "Degraded") == "RolloutStalled";
  if (stalled && reason_of(before, "Degraded") != "RolloutStalled")
    metrics.rollouts.add(1, {{"result", "stalled"}});
}

}  // namespace

std::optional<ek::Duration> report(ek::Context& context, const v1::Memcached& memcached,
                                   const Problem& problem, const Settings& settings, const Metrics& metrics) {
  const ek::WallTime now = context.clock().wall_now();
  const auto servers = context.find<ek::StatefulSet>(ek::key_of(memcached));
  const bool own = servers && ek::is_owned_by(servers->metadata, memcached);
  const auto written = context.patch_status(memcached, [&](v1::MemcachedStatus& status) {
    update_status(status, memcached, own ? servers.get() : nullptr, problem, now, settings.rollout_limit);
  });
  record_changes(context, memcached, written->status);
  count_changes(memcached, written->status, metrics);
  return time_left(written->status, now, settings.rollout_limit);
}

}  // namespace cache_operator
