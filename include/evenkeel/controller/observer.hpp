// SPDX-License-Identifier: Apache-2.0
// Notifications of what happens inside a controller, for recorders, metrics and explanations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/object_event.hpp>
#include <evenkeel/controller/result_core.hpp>
#include <evenkeel/workqueue/queue_item.hpp>
#include <evenkeel/workqueue/request_key.hpp>

namespace evenkeel {
inline namespace v0 {

/// Origin of an added key.
enum class AddCause : std::uint8_t {
  event,   ///< A watch; see KeyAdded::event.
  source,  ///< A source of the program: a channel, a timer.
  call,    ///< Controller::enqueue().
};

/// Effect of an added key.
enum class AddVerdict : std::uint8_t {
  queued,  ///< Runs in its turn once `delay` is over.
  waits,   ///< In back-off, which an own write does not shorten (see EventGate); the retry covers the event.
  held,    ///< Running, and the update may be an own write: whether it runs again is decided at its end.
};

/// The key that was added. Views and pointers are valid during the call only.
struct KeyAdded {
  const RequestKey& key;
  AddCause cause = AddCause::event;
  AddVerdict verdict = AddVerdict::queued;
  std::string_view source = {};        ///< "configmaps (v1)", or the name of the source.
  const ObjectEvent* event = nullptr;  ///< For AddCause::event.
  Priority priority = {};
  Duration delay = {};
  TimePoint at = {};
};

struct RunBegan {
  const RequestKey& key;
  std::string_view reconcile_id = {};
  std::uint64_t attempt = 1;            ///< Number of the attempt, like Context::attempt().
  std::size_t worker = 0;               ///< Index from 0; unique among the controller's running reconciles.
  Priority priority = {};               ///< Priority with which the key was handed out.
  std::optional<Duration> waited = {};  ///< Time since the first event that this run handles, if known.
  std::optional<TimePoint> deadline = {};  ///< End of the reconcile timeout.
  TimePoint at = {};
};

struct RunEnded {
  const RequestKey& key;
  std::string_view reconcile_id = {};
  std::uint64_t attempt = 1;
  std::size_t worker = 0;
  const ReconcileOutcome& outcome;
  Duration took = {};
  std::optional<Duration> next_try_in = {};  ///< For runs that are retried without an event.
  TimePoint at = {};
};

/// Interface for observers of one controller; see ControllerEnvironment::observers.
/// Members are called on the threads of the cache, sources and workers, under no lock and concurrently; they
/// must neither block nor throw. For one key, run_began() and run_ended() alternate.
/// Lifetime: shared with the controller.
class EVENKEEL_API ControllerObserver {
 public:
  virtual ~ControllerObserver() = default;
  /// Called when a key was added. The queue already has it: the run may have begun.
  virtual void key_added(const KeyAdded&) noexcept {}
  virtual void run_began(const RunBegan&) noexcept {}
  /// Called when the run has ended and its result was applied, while the key is still held.
  virtual void run_ended(const RunEnded&) noexcept {}
  /// Called when a watch's predicate rejected an event.
  virtual void event_refused(std::string_view source, const ObjectEvent& event) noexcept {
    static_cast<void>(source), static_cast<void>(event);
  }
};

}  // namespace v0
}  // namespace evenkeel
