// SPDX-License-Identifier: Apache-2.0
// Runs functions later, on one thread that exists only once something was delayed.
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

/// Thread safety: all members may be called concurrently. Lifetime: destruction drops what is still delayed,
/// by running it with `dropped`; it may happen on the delayer's own thread.
class Delayer {
 public:
  enum class Reason : unsigned char { due, dropped };
  using Task = std::function<void(Reason)>;

  explicit Delayer(std::shared_ptr<const Clock> clock);
  ~Delayer();
  Delayer(const Delayer&) = delete;
  Delayer& operator=(const Delayer&) = delete;

  /// Runs `task` at `when`, on the delayer's thread. Returns a number for drop().
  std::uint64_t at(TimePoint when, Task task);
  /// Runs the task now, on the caller's thread, with `dropped`, unless it ran or is running.
  void drop(std::uint64_t number);

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
