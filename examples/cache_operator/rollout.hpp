// SPDX-License-Identifier: Apache-2.0
// Progress of the servers, and the conditions that follow from it. Pure: tests call it with any state and
// time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/kinds/apps.hpp>

#include "memcached_v1.hpp"

namespace cache_operator {

/// A reason not to go on: a word for programs and a sentence for people. Empty: there is none.
struct Problem {
  std::string reason = {};
  std::string message = {};
};

/// Completes the status from the StatefulSet; null if there is none. `now` becomes the begin of a rollout
/// that was not there before, and the transition time of conditions that change.
void update_status(v1::MemcachedStatus& status, const v1::Memcached& memcached,
                   const ek::StatefulSet* servers, const Problem& problem, ek::WallTime now,
                   ek::Duration rollout_limit);

/// Returns the time after which the rollout counts as stalled; std::nullopt if none goes on, or one has
/// stalled.
std::optional<ek::Duration> time_left(const v1::MemcachedStatus& status, ek::WallTime now,
                                      ek::Duration rollout_limit);

}  // namespace cache_operator
