// SPDX-License-Identifier: Apache-2.0
// The order in which the parts of a manager start and stop, and the time limits of stopping. Pure: input by
// calls, time as an argument, actions as results.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

/// Stages of starting; parts start stage by stage, in this order.
enum class Stage : std::uint8_t {
  servers,      ///< Endpoints for other programs, which must be reachable before anything is listed.
  caches,       ///< Informers.
  others,       ///< Tasks of the program that run on every instance.
  election,     ///< Leader election; later stages wait for leadership, see on_leadership_acquired().
  controllers,  ///< Reconcilers, and tasks that run on the leader.
};

struct LifecycleOptions {
  /// Time for running work to end after a stop, before its stop tokens are triggered. Negative: unlimited.
  Duration grace_period = std::chrono::seconds{30};
  /// Time for running work to end after that, before it is reported as stuck.
  Duration cancel_period = std::chrono::seconds{5};
  /// Time after a requested stop for which caches and servers continue, because requests arrive until every
  /// machine of the cluster knows that this instance is not ready. Controllers and tasks stop at once, within
  /// the grace period as ever. Default: 10 s if webhooks are served, otherwise none.
  std::optional<Duration> shutdown_delay = {};
};

/// A command for the owner of the parts.
struct LifecycleAction {
  enum class Kind : std::uint8_t {
    start,   ///< Start the part, then call on_started() or on_ended().
    stop,    ///< Stop accepting work, let running work finish, then call on_ended(). May come before
             ///< on_started(), which is optional then: a start that waits for something ends.
    cancel,  ///< Trigger the stop tokens of running work.
  };
  Kind kind = Kind::start;
  std::size_t part = 0;
  bool operator==(const LifecycleAction&) const = default;
};

/// Decides when each part of a manager starts and stops.
///
/// A stage starts when all parts of the earlier stages have started, and the election stage has also been
/// opened; the parts of a stage start together. Stages stop in the order others, controllers, election,
/// caches, servers, each when all parts of the previous one have ended: leadership is released when no work
/// that depends on it is left. The last two also wait for the end of a shutdown delay. A part that ends with
/// an error stops all others; one that ends without an error does not. If the election part ends, there is no
/// grace period, as another instance may become leader.
///
/// Driver:
///  1. calls add() for each part and start() once, and carries out the actions of every result, in order;
///  2. calls on_started() or on_ended() for each part that started or ended, on_leadership_acquired() when an
///     election part did so, and stop() when it is asked to stop;
///  3. calls on_timeout() at next_due(), which each call may change;
///  4. ends when finished() returns true.
/// Thread safety: one thread at a time.
/// Source: controller-runtime runnable groups and engageStopProcedure; unlike them, running work is not
/// cancelled before the grace period is over.
class EVENKEEL_API LifecycleCore {
 public:
  using Actions = std::vector<LifecycleAction>;

  explicit LifecycleCore(LifecycleOptions options = {}) : options_(options) {}

  /// Adds a part and returns its number, counted from 0. After start() it starts as soon as its stage does.
  /// Throws std::invalid_argument once stopping.
  std::size_t add(std::string name, Stage stage, Actions& actions);

  Actions start();
  Actions on_started(std::size_t part, TimePoint now);
  /// Records that a part of the election stage acquired leadership: the later stages may start.
  Actions on_leadership_acquired(std::size_t part);
  /// Records the end of a part. Empty `error`: it ended by itself or on request.
  Actions on_ended(std::size_t part, std::string_view error, TimePoint now);
  /// `delay`: see LifecycleOptions::shutdown_delay; there is none while a server is starting.
  Actions stop(TimePoint now, Duration delay = {});
  /// Handles timeouts; call it when next_due() has passed. Early calls do nothing.
  Actions on_timeout(TimePoint now);

  /// Returns the time of the next on_timeout().
  std::optional<TimePoint> next_due() const;
  bool stopping() const { return stopping_; }
  /// Returns true if all parts have ended or are stuck (see stuck()).
  bool finished() const;
  /// Returns the names of the parts that did not end within both periods.
  std::vector<std::string> stuck() const;
  /// Returns the names of the parts that were cancelled because the grace period was over.
  const std::vector<std::string>& cancelled() const { return cancelled_; }
  /// Returns the first error that a part ended with, "name: error"; empty if none.
  const std::string& error() const { return error_; }

 private:
  enum class State : std::uint8_t { added, starting, running, stopping, ended };
  struct Part {
    std::string name;
    Stage stage;
    State state;
    bool holds_back;  // later stages wait for it
  };

  void start_stages(Actions& actions);
  void begin_stop(TimePoint now);
  void begin_grace(TimePoint now);
  void end_delay(TimePoint now, Actions& actions);
  void stop_stages(Actions& actions);
  bool only_waits() const;
  void cancel(std::size_t part, Actions& actions);
  bool all_ended() const;

  LifecycleOptions options_;
  std::vector<Part> parts_;
  bool started_ = false;
  bool stopping_ = false;
  bool grace_over_ = false;
  bool given_up_ = false;
  std::optional<TimePoint> delayed_until_;  // before it, caches and servers are not stopped
  std::optional<TimePoint> grace_deadline_;
  std::optional<TimePoint> cancel_deadline_;
  std::vector<std::string> cancelled_;
  std::string error_;
};

}  // namespace v0
}  // namespace evenkeel
