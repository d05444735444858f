// SPDX-License-Identifier: Apache-2.0
// Metrics of the operator's own, beside those that every operator has.
#pragma once

#include "memcached_v1.hpp"

namespace cache_operator {

/// Handles that can be copied; they outlive the registry.
struct Metrics {
  explicit Metrics(ek::MetricRegistry& registry)
      : rollouts(registry.counter("cache_operator_rollouts_total",
                                  "Changes of servers that were completed, or stalled.", {"result"})),
        ready(registry.gauge("cache_operator_ready_servers", "Servers that are ready.",
                             {"namespace", "name"})) {}

  ek::Counter rollouts;  // result: "completed" or "stalled"
  ek::Gauge ready;
};

}  // namespace cache_operator
