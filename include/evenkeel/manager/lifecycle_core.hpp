// SPDX-License-Identifier: Apache-2.0
// In which order the parts of a manager start and stop, and when patience ends. Pure: what happened and
// the time come in, what to do comes out.
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

/// Parts start stage by stage, in this order.
enum class Stage : std::uint8_t {
  servers,      ///< What others call: they must find it before anything is listed.
  caches,       ///< Informers.
  others,       ///< Tasks of the program's own that every instance runs.
  election,     ///< What waits for leadership; see open().
  controllers,  ///< Reconcilers, and tasks of the leader.
};

struct LifecycleOptions {
  /// How long running work may take to end by itself after a stop; then its stop tokens are triggered.
  /// Negative: forever.
  Duration grace_period = std::chrono::seconds{30};
  /// How long it may take to end after that; then it is reported as stuck.
  Duration cancel_period = std::chrono::seconds{5};
};

/// What the owner of the parts has to do.
struct LifecycleAction {
  enum class Kind : std::uint8_t {
    start,   ///< Then say started() or ended().
    stop,    ///< Take no new work, let running work finish; then say ended().
    cancel,  ///< Trigger the stop tokens of running work.
  };
  Kind kind = Kind::start;
  std::size_t part = 0;
  bool operator==(const LifecycleAction&) const = default;
};

/// Orders the life of a manager's parts.
///
/// A stage starts when every part of the earlier stages said started(), and of the election stage also
/// open(); within a stage parts start together. Stopping goes others, controllers, election, caches, servers,
/// each stage when all parts of the one before have ended: so leadership is given up when nothing works with
/// it any more. A part that ends with an error stops everything; one that ends without is fine. If that part
/// was the election, there is no grace period: somebody else may begin. Thread safety: one thread at a time.
/// Source: controller-runtime runnable groups and engageStopProcedure; unlike them, running work is not
/// cancelled before the grace period is over.
class EVENKEEL_API LifecycleCore {
 public:
  using Actions = std::vector<LifecycleAction>;

  explicit LifecycleCore(LifecycleOptions options = {}) : options_(options) {}

  /// Adds a part and returns its number, counted from 0. After start() it is started as soon as its stage is.
  /// Throws std::invalid_argument once stopping.
  std::size_t add(std::string name, Stage stage, Actions& actions);

  Actions start();
  Actions started(std::size_t part, TimePoint now);
  /// A part of the election stage has become leader: what waits for it may start.
  Actions open(std::size_t part);
  /// `error` empty: it ended by itself or because it was told to.
  Actions ended(std::size_t part, std::string_view error, TimePoint now);
  Actions stop(TimePoint now);
  /// To be called when deadline() has passed; early calls do nothing.
  Actions tick(TimePoint now);

  /// When tick() has something to do.
  std::optional<TimePoint> deadline() const;
  bool stopping() const { return stopping_; }
  /// Everything has ended, or what has not is stuck (see stuck()).
  bool finished() const;
  /// Names of the parts that outlived both periods.
  std::vector<std::string> stuck() const;
  /// Names of the parts that had to be cancelled because the grace period was over.
  const std::vector<std::string>& cancelled() const { return cancelled_; }
  /// The first error that a part ended with, "name: error"; empty if none.
  const std::string& error() const { return error_; }

 private:
  enum class State : std::uint8_t { added, starting, running, stopping, ended };
  struct Part {
    std::string name;
    Stage stage;
    State state;
    bool holds_back;  // what comes after its stage
  };

  void start_stages(Actions& actions);
  void begin_stop(TimePoint now);
  void stop_stages(Actions& actions);
  void cancel(std::size_t part, Actions& actions);
  bool all_ended() const;

  LifecycleOptions options_;
  std::vector<Part> parts_;
  bool started_ = false;
  bool stopping_ = false;
  bool grace_over_ = false;
  bool given_up_ = false;
  std::optional<TimePoint> grace_deadline_;
  std::optional<TimePoint> cancel_deadline_;
  std::vector<std::string> cancelled_;
  std::string error_;
};

}  // namespace v0
}  // namespace evenkeel
