// SPDX-License-Identifier: Apache-2.0
// What happens inside a controller, for those who record, count or explain it.
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

/// Who had a key added.
enum class AddCause : std::uint8_t {
  event,   ///< A watch; see KeyAdded::event.
  source,  ///< A source of the program's own: a channel, a timer.
  call,    ///< Controller::enqueue().
};

/// What became of a key that was added.
enum class AddVerdict : std::uint8_t {
  queued,  ///< It runs as soon as it is its turn and `delay` is over.
  waits,   ///< It is in back-off, which this event does not cut short (see EventGate): its retry answers.
  held,    ///< It runs, and the event is minor: the end of the run decides whether it runs once more.
};

/// Views and pointers in these are valid during the call only.
struct KeyAdded {
  const RequestKey& key;
  AddCause cause = AddCause::event;
  AddVerdict verdict = AddVerdict::queued;
  std::string_view source = {};        ///< "configmaps (v1)", or the name of the source.
  const ObjectEvent* event = nullptr;  ///< Of AddCause::event.
  Priority priority = {};
  Duration delay = {};
  TimePoint at = {};
};

struct RunBegan {
  const RequestKey& key;
  std::string_view reconcile_id = {};
  std::uint64_t attempt = 1;               ///< As Context::attempt().
  std::size_t worker = 0;                  ///< Counted from 0; nobody else in the controller has it now.
  Priority priority = {};                  ///< That the key was handed out with.
  std::optional<Duration> waited = {};     ///< Since the first event that this run answers, if one is known.
  std::optional<TimePoint> deadline = {};  ///< Of the reconcile timeout.
  TimePoint at = {};
};

struct RunEnded {
  const RequestKey& key;
  std::string_view reconcile_id = {};
  std::uint64_t attempt = 1;
  std::size_t worker = 0;
  const ReconcileOutcome& outcome;
  Duration took = {};
  std::optional<Duration> next_try_in = {};  ///< Of what is tried again by itself.
  TimePoint at = {};
};

/// Told of what happens in one controller; ControllerEnvironment::observers has them.
/// Members are called on the cache's threads, those of sources and workers, under no lock, several at once;
/// they must neither block nor throw. Of one key, began() and ended() alternate.
/// Lifetime: the controller shares in it.
class EVENKEEL_API ControllerObserver {
 public:
  virtual ~ControllerObserver() = default;
  /// A key was added. This is called after the queue was told: the run may have begun.
  virtual void key_added(const KeyAdded&) noexcept {}
  virtual void run_began(const RunBegan&) noexcept {}
  /// The run ended and its settlement is done, but the key is still held.
  virtual void run_ended(const RunEnded&) noexcept {}
  /// An event was refused by the watch's predicate.
  virtual void event_refused(std::string_view source, const ObjectEvent& event) noexcept {
    static_cast<void>(source), static_cast<void>(event);
  }
};

}  // namespace v0
}  // namespace evenkeel
