// SPDX-License-Identifier: Apache-2.0
// Runs functions later: on one thread that is started on first use, or on an event loop of the program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/http/event_loop.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Runs delayed tasks. Thread safety: all members may be called concurrently. Lifetime: the destructor drops
/// pending tasks by running them with `dropped`; it may run on the delayer's own thread.
class Delayer {
 public:
  enum class Reason : unsigned char { due, dropped };
  using Task = std::function<void(Reason)>;

  /// `loop`: null for a thread.
  explicit Delayer(std::shared_ptr<const Clock> clock, const std::shared_ptr<EventLoop>& loop = {});
  ~Delayer();
  Delayer(const Delayer&) = delete;
  Delayer& operator=(const Delayer&) = delete;

  /// Runs `task` at `when`, on the delayer's thread or loop. Returns an id for drop().
  std::uint64_t at(TimePoint when, Task task);
  /// Runs `work`, which may block, and then `next`: both on the delayer's thread; with a loop, `work` where
  /// it may block, and `next` on the loop. Returns an id for drop(), which comes too late once `work` runs; a
  /// dropped `next` runs without `work`.
  std::uint64_t block(std::function<void()> work, Task next);
  /// Runs the task now, on the caller's thread, with `dropped`, unless it has run or is running.
  void drop(std::uint64_t number);

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
