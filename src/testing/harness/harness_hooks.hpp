// SPDX-License-Identifier: Apache-2.0
// Interventions of explore() in a harness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/http/transport.hpp>
#include <evenkeel/testing/harness.hpp>

#include "cache/read_observer.hpp"
#include "controller/explore_points.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Hooks that a harness calls; see HarnessOptions::hooks.
/// Thread safety: one thread at a time, that of the harness.
class HarnessHooks : public v0::detail::ExplorePoints, public v0::detail::ReadObserver {
 public:
  /// Functions of the harness.
  struct Controls {
    /// Stops and cancels the controllers as a manager does when leadership is lost.
    std::function<void()> cancel = {};
    /// Called in a run: the process stands still there, and the next one begins. Returns once goes_on().
    std::function<void()> stand_still = {};
  };

  /// Called first, with the server and the clock of the harness.
  virtual void begin(std::shared_ptr<apiserver::SharedCore> core,
                     std::shared_ptr<const evenkeel::Clock> clock, Controls controls) = 0;
  /// Return the transports of the controllers and of the test, which pass requests on to `inner`.
  virtual std::shared_ptr<http::Transport> around_controllers(std::shared_ptr<http::Transport> inner) = 0;
  virtual std::shared_ptr<http::Transport> around_test(std::shared_ptr<http::Transport> inner) = 0;
  /// Makes the controllers of the next process.
  virtual std::vector<ControllerSpec> controllers() = 0;

  /// Called at the start of a run, and with each write of the controllers that the server has answered.
  virtual void on_run(const ReconcileRun& run) = 0;
  virtual void on_write(const Write& write) = 0;
  /// Does the work of the transports that is due; returns the number of deliveries.
  virtual std::size_t pump() = 0;
  /// Called when no run is due now; `more`: one is due later. Returns true if that has changed.
  virtual bool on_idle(bool more) = 0;

  /// Returns true while the process is to end: its requests and waits fail.
  virtual bool is_dead() const = 0;
  /// Returns true if the process is to end once the present run has ended.
  virtual bool ends_after_run() const = 0;
  /// Called when the process has ended, or stands still, before the next one begins.
  virtual void on_restart() = 0;
  /// Returns true if controllers learn the leadership term of their process.
  virtual bool has_terms() const = 0;
  /// Returns the term of the present process.
  virtual std::uint64_t term() const = 0;

  /// Returns true if the next run may stand still.
  virtual bool may_stand_still() const = 0;
  /// Returns true once if the process that stands still is to go on.
  virtual bool goes_on() = 0;
  /// Called when its run has ended: it is gone.
  virtual void on_gone() = 0;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
