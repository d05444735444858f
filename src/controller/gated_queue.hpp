// SPDX-License-Identifier: Apache-2.0
// A controller's queue with the gate before it, and the time at which what a run answers began to wait.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/controller/latency.hpp>
#include <evenkeel/controller/observer.hpp>
#include <evenkeel/workqueue/request_queue.hpp>

#include "controller/backoff_core.hpp"
#include "controller/flight_recorder.hpp"
#include "controller/stuck_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Who says that a key may need work.
struct Origin {
  AddedBy by = AddedBy::call;
  EventType type = EventType::added;  ///< Of events.
  std::string_view source = {};       ///< "configmaps (v1)"; of events and sources.
};
/// Of an event of a watch.
Origin origin_of(const ObjectEvent& event, std::string_view source);

/// How a run ended.
struct RunEnd {
  TimePoint at;
  Duration took;
  std::size_t worker;
  std::uint64_t attempt;
  const ReconcileOutcome& outcome;
};

/// It also keeps the flight recorder, because that must not cost a lock of its own: what it records happens
/// under the lock that is taken here anyway.
/// Thread safety: all members may be called concurrently.
class GatedQueue {
 public:
  /// `look_at` is called when runs begin after a time without, with when look_for_stuck() has to be called;
  /// by the worker, under no lock. May be null.
  GatedQueue(const ControllerOptions& options, std::shared_ptr<const Clock> clock,
             std::function<void(TimePoint)> look_at = {});

  RequestQueue& queue() noexcept { return queue_; }
  /// Closes the queue at once: what is queued is dropped, what comes is ignored.
  void stop() noexcept;

  /// The controller begins: events that came before, as while the instance stood by, count as having come
  /// now.
  void begin_running(TimePoint now);
  /// The event that a key is added for came at `arrival`.
  void add(const RequestKey& key, const KeyOptions& options, TimePoint arrival, const Origin& origin);
  /// The same for no event: latency is not measured.
  void add_unasked(const RequestKey& key, const KeyOptions& options, TimePoint now, const Origin& origin);
  /// Whether an event of the reconciled object itself has to be asked about: add_minor() if it is minor.
  bool concerns(const RequestKey& key) const;
  /// The same as add() for an event that is_minor().
  AddVerdict add_minor(const RequestKey& key, const KeyOptions& options, TimePoint arrival,
                       const Origin& origin);
  /// Only takes note, with a key's hash: the event was refused.
  void note(std::uint64_t key, TimePoint at, const Origin& origin, EventFate fate);

  /// A worker takes the key; gives how long the first event waited that the run answers.
  std::optional<Duration> begin(const RequestKey& key, FlightRun run);
  /// The run failed: has the key wait for its retry, and returns how long.
  Duration back_off(const RequestKey& key, Priority priority, const RunEnd& end);
  /// The run ended otherwise, the queue was told so: what the gate held during the run is added.
  /// `next`: when it runs again by itself.
  void end_without_retry(const RequestKey& key, const RunEnd& end, std::optional<Duration> next);
  /// The run ended, and the controller ends with it.
  void end_for_good(const RequestKey& key, const RunEnd& end);

  /// What `question` makes of the recorder; it is called under the lock.
  template <class Question>
  auto ask(const Question& question) const {
    MutexLock lock(mutex_);
    return question(std::as_const(recorder_));
  }
  /// See look_at().
  StuckLook look_for_stuck(TimePoint now);

  LatencyHistogram latency() const;

 private:
  void record(TimePoint at, std::uint64_t key, const Origin& origin, EventFate fate)
      EVENKEEL_REQUIRES(mutex_);
  void record(const RequestKey& key, const RunEnd& end) EVENKEEL_REQUIRES(mutex_);
  AddVerdict add_minor_later(const RequestKey& key, const KeyOptions& options, TimePoint now,
                             const Origin& origin) EVENKEEL_REQUIRES(mutex_);

  const std::shared_ptr<const Clock> clock_;
  const StuckOptions stuck_;
  const std::function<void(TimePoint)> look_at_;
  const bool gated_;
  RequestQueue queue_;
  mutable Mutex mutex_;
  bool stopped_ EVENKEEL_GUARDED_BY(mutex_) = false;
  LatencyHistogram latency_ EVENKEEL_GUARDED_BY(mutex_);
  // When the first event arrived that a key's next run answers.
  std::unordered_map<RequestKey, TimePoint> arrivals_ EVENKEEL_GUARDED_BY(mutex_);
  BackoffCore backoff_ EVENKEEL_GUARDED_BY(mutex_);  // unused without gate
  FlightRecorder recorder_ EVENKEEL_GUARDED_BY(mutex_);
  bool watched_ EVENKEEL_GUARDED_BY(mutex_) = false;  // whether somebody will call look_for_stuck()
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
