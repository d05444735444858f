// SPDX-License-Identifier: Apache-2.0
// Runs functions later, on one thread that is started on first use.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <thread>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/mutex.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Runs delayed tasks. Thread safety: all members may be called concurrently. Lifetime: the destructor drops
/// pending tasks by running them with `dropped`; it may run on the delayer's own thread.
class Delayer {
 public:
  enum class Reason : unsigned char { due, dropped };
  using Task = std::function<void(Reason)>;

  explicit Delayer(std::shared_ptr<const Clock> clock);
  ~Delayer();
  Delayer(const Delayer&) = delete;
  Delayer& operator=(const Delayer&) = delete;

  /// Runs `task` at `when`, on the delayer's thread. Returns an id for drop().
  std::uint64_t at(TimePoint when, Task task);
  /// Runs the task now, on the caller's thread, with `dropped`, unless it has run or is running.
  void drop(std::uint64_t number);

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
