// SPDX-License-Identifier: Apache-2.0
// A process of a simulation: an event loop, and fibers for what blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/http/event_loop.hpp>

#include "testing/simulation/schedule.hpp"
#include "testing/simulation/simulated_clock.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Runs what belongs to one process, whenever an event of the simulation concerns it. A step of the
/// simulation takes no time: time passes while all fibers wait. Thread safety: one thread at a time.
/// Lifetime: the schedule outlives it; all fibers must have ended at its destruction.
class SimulatedHost : public std::enable_shared_from_this<SimulatedHost> {
 public:
  SimulatedHost(Schedule& schedule, std::string name, std::shared_ptr<SimulatedClock> clock,
                std::uint64_t seed);
  virtual ~SimulatedHost();
  SimulatedHost(const SimulatedHost&) = delete;
  SimulatedHost& operator=(const SimulatedHost&) = delete;

  const std::string& name() const { return name_; }
  const std::shared_ptr<SimulatedClock>& clock() const { return clock_; }
  const std::shared_ptr<EventLoop>& loop() const { return loop_; }
  Schedule& schedule() const { return schedule_; }

  /// Runs `body` on a fiber; it must not throw.
  void start_fiber(std::function<void()> body);
  /// Called by a body: waits for the next turn.
  void idle();
  /// Called by a body: more may be done in this turn.
  void note_progress() { progress_ = true; }
  /// Runs `event` and what follows from it; later, if the process stands still.
  void enter(std::function<void()> event);
  /// Schedules enter().
  void enter_at(Duration when, std::function<void()> event);
  /// Does the work that is due.
  void turn();
  /// Lets the process stand still.
  void freeze(Duration until);
  bool is_frozen() const { return schedule_.now() < frozen_until_; }
  /// Ends all waits: requests fail, and waits by the clock throw.
  virtual void kill();
  bool is_dead() const { return dead_; }
  /// Returns true if no fiber is in the middle of its body.
  bool has_ended() const { return fibers_.empty(); }

 protected:
  /// Does work that is due besides that of the loop; returns true if there was some.
  virtual bool work() { return false; }
  /// Returns the time of the next work(), by the clock of the process.
  virtual std::optional<TimePoint> next_work() const { return std::nullopt; }
  /// Called after each turn.
  virtual void on_turn() {}

 private:
  class Fiber;
  void run_backlog();
  bool run_fibers();
  void plan_wake();

  Schedule& schedule_;
  const std::string name_;
  const std::shared_ptr<SimulatedClock> clock_;
  const std::shared_ptr<EventLoop> loop_;
  SimulationRandom random_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* running_ = nullptr;
  bool progress_ = false;
  bool in_turn_ = false;
  Duration frozen_until_{};
  std::deque<std::function<void()>> backlog_;
  Duration wake_at_ = Duration::max();
  bool dead_ = false;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
