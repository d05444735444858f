// SPDX-License-Identifier: Apache-2.0
// Simulates the requeues of objects whose reconciles always fail, with the real queue in virtual time.
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
  std::uint32_t objects = 1;             ///< Number of failing objects; all fail at time zero; >= 1.
  std::uint32_t seconds = 30;            ///< Simulated time; >= 1.
  Duration run_time = Duration::zero();  ///< Duration of a reconcile; >= 0.
  std::uint32_t workers = 1;             ///< Concurrent reconciles; >= 1. Irrelevant if run_time is zero.
  std::optional<Duration> newcomer =
      {};  ///< Time at which one more object fails, once; within the simulated time.
};

struct Storm {
  std::vector<std::uint64_t> requeues = {};     ///< Keys that became ready in second s, [s, s + 1).
  std::optional<Duration> newcomer_waits = {};  ///< Delay of the newcomer by the limiter.
};

/// Passes `options.objects` keys through a queue with `limiter` from time zero: all are ready at once, and
/// each reconcile fails when it ends. A requeue is counted when the key becomes ready, not when it runs.
/// Throws std::invalid_argument if an option is out of range, std::length_error if requeues are so frequent
/// that virtual time does not advance.
Storm simulate(const LimiterText& limiter, const StormOptions& options);

}  // namespace curve
}  // namespace v0
}  // namespace evenkeel
