// SPDX-License-Identifier: Apache-2.0
// A manager that runs on its own thread during a test.
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

/// Runs a manager on a dedicated thread from construction until stop() or destruction, which wait for its
/// end. The destructor swallows exceptions of run(): end a test with stop().
/// Thread safety: one thread at a time.
/// Lifetime: the manager must outlive it.
class EVENKEEL_API RunningManager {
 public:
  explicit RunningManager(Manager& manager);
  ~RunningManager();
  RunningManager(const RunningManager&) = delete;
  RunningManager& operator=(const RunningManager&) = delete;

  /// Blocks until the cache has listed everything that the controllers watch. Throws the exception of run()
  /// if the manager has ended, and WaitTimeout, which contains the missing kinds and the reasons, after
  /// `timeout` of real time.
  void wait_until_synced(Duration timeout = std::chrono::seconds{30});
  /// Requests a stop, and waits like wait().
  void stop();
  void request_stop() noexcept;
  /// Blocks until run() has returned; throws the exception of run(), once.
  void wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
