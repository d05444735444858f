// SPDX-License-Identifier: Apache-2.0
// Reports of a run, to users and to dashboards: status, Events and metrics.
#pragma once

#include <optional>

#include "memcached_v1.hpp"
#include "metrics.hpp"
#include "rollout.hpp"
#include "settings.hpp"

namespace cache_operator {

/// Writes the status, if it changes, and records what has begun or ended since the last one. Returns the time
/// after which the rollout that goes on counts as stalled, if one does.
std::optional<ek::Duration> report(ek::Context& context, const v1::Memcached& memcached,
                                   const Problem& problem, const Settings& settings, const Metrics& metrics);

}  // namespace cache_operator
