// SPDX-License-Identifier: Apache-2.0
// How often objects that fail whenever they are reconciled come back, by the queue itself in virtual time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/parse.hpp>

namespace evenkeel {
inline namespace v0 {
namespace curve {

struct StormOptions {
  std::uint32_t objects = 1;             ///< That fail at time zero and whenever they run; >= 1.
  std::uint32_t seconds = 30;            ///< To look at; >= 1.
  Duration run_time = Duration::zero();  ///< Of one reconcile; >= 0.
  std::uint32_t workers = 1;  ///< Reconciles at once; >= 1. Without a run time it makes no difference.
  std::optional<Duration> newcomer = {};  ///< When one more object fails, once; not after the last second.
};

struct Storm {
  std::vector<std::uint64_t> requeues = {};     ///< Keys that came back in second s, [s, s + 1).
  std::optional<Duration> newcomer_waits = {};  ///< What the limiter said to the newcomer.
};

/// Lets `options.objects` keys go through a queue with `limiter` from time zero on: all are ready at once,
/// and each reconcile fails when it ends. A key counts when it becomes ready again, not when it runs.
/// Throws std::invalid_argument if an option is out of bounds, std::length_error if keys come back so often
/// that virtual time stands still.
Storm simulate(const LimiterText& limiter, const StormOptions& options);

}  // namespace curve
}  // namespace v0
}  // namespace evenkeel
