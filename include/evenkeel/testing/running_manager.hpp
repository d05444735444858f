// SPDX-License-Identifier: Apache-2.0
// A manager that runs beside a test.
#pragma once

#include <chrono>
#include <exception>
#include <memory>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/manager/manager.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// Runs a manager on a thread of its own from the constructor on, until stop() or destruction, which wait for
/// its end. Destroyed without stop(), it swallows what run() threw: end a test with stop().
/// Thread safety: one thread at a time. Lifetime: the manager outlives it.
class EVENKEEL_API RunningManager {
 public:
  explicit RunningManager(Manager& manager);
  ~RunningManager();
  RunningManager(const RunningManager&) = delete;
  RunningManager& operator=(const RunningManager&) = delete;

  /// Blocks until the cache has read all that the controllers watch. Throws what run() threw if the manager
  /// ended before, and WaitTimeout, which names what is missing and why, after `timeout` of real time.
  void wait_until_synced(Duration timeout = std::chrono::seconds{30});
  /// Asks it to stop, and waits as wait() does.
  void stop();
  void request_stop() noexcept;
  /// Blocks until run() has returned; throws what it threw, once.
  void wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
