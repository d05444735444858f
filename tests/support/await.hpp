// SPDX-License-Identifier: Apache-2.0
// Waiting for other threads and processes, with a limit.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace evenkeel::tests {

/// Far above the time that a slow machine takes: a cluster of FoundationDB may be unavailable for 30 s after
/// a server stood still.
inline constexpr std::chrono::seconds longest_await{300};

/// Polls until `condition()` is true. Throws std::runtime_error naming `what` when that takes longer than
/// longest_await.
template <class Condition>
void await(const std::string& what, const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + longest_await;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("waited 300 s for " + what);
    std::this_thread::yield();
  }
}

}  // namespace evenkeel::tests
