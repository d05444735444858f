// SPDX-License-Identifier: Apache-2.0
// Waiting for external events, with a deadline and an error that names the event.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace evenkeel::tests {

/// Returns once `condition` is true; throws after `limit`, which is far above what a slow machine takes: a
/// cluster of FoundationDB may be unavailable for 30 s after a server stood still.
template <class Condition>
void eventually(const std::string& what, Condition condition,
                std::chrono::seconds limit = std::chrono::seconds{240}) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline)
      throw std::runtime_error("waited " + std::to_string(limit.count()) + " s for " + what);
    std::this_thread::yield();
  }
}

}  // namespace evenkeel::tests
