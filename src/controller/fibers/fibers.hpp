// SPDX-License-Identifier: Apache-2.0
// The fibers of one thread: each does one piece of work after another has taken its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>

#include "controller/fibers/fiber_core.hpp"
#include "controller/fibers/fiber_stacks.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

struct FibersOptions {
  std::size_t limit = 1;                             ///< Most pieces of work in progress.
  std::size_t stack_bytes = std::size_t{256} << 10;  ///< Size of a fiber's stack; committed when used.
  /// Called, on the thread, when there is no memory for as many fibers; with the limit from then on.
  std::function<void(std::size_t limit)> on_no_room = {};
};

/// Thread safety: run() owns its thread; stacks() may be called by any.
class Fibers {
 public:
  /// `task` waits for a piece of work, calls taken() and does it; or returns without taken() if there will be
  /// none. It is called on fibers, and must not throw.
  Fibers(FibersOptions options, std::function<void(Fibers&)> task);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// Runs the fibers on the calling thread until there is no more work and all of them have ended. Throws
  /// std::bad_alloc if there is no memory for the first one.
  void run();
  /// See the constructor.
  void taken() noexcept;
  /// Returns the number of stacks, in use or kept for reuse.
  std::size_t stacks() const noexcept { return stacks_.load(std::memory_order_relaxed); }

 private:
  class Fiber;

  void take_wakes() EVENKEEL_EXCLUDES(mutex_);
  void reserve();
  void start();
  void resume(Fiber& fiber) noexcept;
  void sleep() EVENKEEL_EXCLUDES(mutex_);
  void wake(Fiber& fiber) noexcept EVENKEEL_EXCLUDES(mutex_);
  std::unique_ptr<Fiber> unused_fiber();
  void drop_spare() noexcept;

  const FibersOptions options_;
  const std::function<void(Fibers&)> task_;
  std::thread::id thread_;  // set before the first fiber starts
  FiberCore core_;
  FiberStacks memory_;
  std::vector<std::unique_ptr<Fiber>> unused_;  // their task has returned; the others own themselves
  std::vector<Fiber*> taken_;                   // by take_wakes(); kept for its memory
  std::atomic<std::size_t> stacks_ = 0;
  std::atomic<bool> is_idle_ = false;
  std::atomic<bool> has_wakes_ = false;  // of woken_
  Mutex mutex_;
  CondVar changed_;
  std::vector<Fiber*> woken_ EVENKEEL_GUARDED_BY(mutex_);  // by other threads
  bool is_asleep_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
