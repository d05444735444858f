// SPDX-License-Identifier: Apache-2.0
// Retry loop for conflicts.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/options.hpp>

namespace evenkeel {
inline namespace v0 {

struct ConflictOptions {
  int max_attempts = 5;
  Duration delay = std::chrono::milliseconds{10};  ///< Delay between attempts, +-10 %.
};

/// Calls `attempt` until it succeeds or fails with an error other than a conflict; the last conflict is
/// rethrown. Each attempt must read the object again. Waits end with the client's stop token and deadline.
template <class Attempt>
auto retry_on_conflict(const Client& client, Attempt attempt, ConflictOptions options = {})
    -> decltype(attempt()) {
  for (int tried = 1;; ++tried) {
    try {
      return attempt();
    } catch (const ApiError& error) {
      if (!error.is_conflict() || tried >= options.max_attempts) throw;
    }
    client.pause(options.delay, 0.1);
  }
}

}  // namespace v0
}  // namespace evenkeel
