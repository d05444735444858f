// SPDX-License-Identifier: Apache-2.0
// Queue of a controller with the back-off gate before it, and the journal of both.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/controller/latency.hpp>
#include <evenkeel/controller/observer.hpp>
#include <evenkeel/workqueue/request_queue.hpp>

#include "controller/backoff_core.hpp"
#include "controller/explain/flight_recorder.hpp"
#include "controller/explain/journal.hpp"
#include "controller/explain/stuck_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

class WriteLog;

/// The writes by which a controller recognizes the events of its own writes.
struct ControllerWrites {
  std::shared_ptr<WriteLog> log = {};  ///< Null: no event is one.
  std::uint64_t writer = 0;            ///< The controller's identity, see WriteLog::new_writer().
};

/// Shell of the gate and the journal: one lock guards both, because what the journal records happens where
/// the gate decides, and a second lock would cost as much as the record. Thread safety: all members may be
/// called concurrently.
class GatedQueue {
 public:
  /// Enables the log of writes, unless the gate is off.
  /// `schedule_stuck_check` is called when runs begin after a time without, with when to call
  /// look_for_stuck(); by the worker, under no lock. May be null.
  GatedQueue(const ControllerOptions& options, std::shared_ptr<const Clock> clock,
             std::function<void(TimePoint)> schedule_stuck_check = {}, ControllerWrites own = {});

  RequestQueue& queue() noexcept { return queue_; }
  /// Begins to take keys of an engaged cluster. Events of `own` writes are recognized there.
  void enter(const std::string& cluster, ControllerWrites own) EVENKEEL_EXCLUDES(clusters_mutex_);
  /// Makes the waiting keys of a cluster ready, so that workers take and drop them. From now on none of its
  /// keys waits. Complexity: that of its keys.
  void leave(std::string_view cluster) EVENKEEL_EXCLUDES(clusters_mutex_);
  /// Closes the queue at once: queued keys are dropped, later ones are ignored.
  void stop() noexcept;

  /// Records the start of the controller, see Journal::on_start().
  void begin_running(TimePoint now);
  /// Adds a key because of an event that came at `arrival`.
  void add(const RequestKey& key, const KeyOptions& options, TimePoint arrival, const Origin& origin);
  /// Adds a key because of an event of the reconciled object itself, unless the gate holds the event until
  /// the end of a run, or leaves it to a retry because it is an own write.
  AddVerdict add_primary(const RequestKey& key, const KeyOptions& options, TimePoint arrival,
                         const Origin& origin, const ObjectEvent& event);
  /// Forgets what is remembered of a key: an event shows that it is that of another object from now on. A run
  /// of the former object that is in progress has no consequences.
  void renew(const RequestKey& key);
  /// Adds a key because of the deletion of an object that it owns. Doubts its owner if this controller wrote
  /// the object and somebody else deleted it: that may have been the garbage collector.
  void add_owner(const RequestKey& key, const KeyOptions& options, TimePoint arrival, const Origin& origin,
                 const ObjectEvent& event);
  /// Lets the next run of the key confirm that its object exists.
  void doubt(const RequestKey& key) EVENKEEL_EXCLUDES(doubts_mutex_);
  /// Returns true, once, if the key is doubted.
  bool take_doubt(const RequestKey& key) noexcept EVENKEEL_EXCLUDES(doubts_mutex_);
  /// Adds a key without an event: latency is not measured.
  void add_unasked(const RequestKey& key, const KeyOptions& options, TimePoint now, const Origin& origin);
  /// Records only, with the hash of a key, that a predicate refused the event.
  void note_refused(std::uint64_t key, TimePoint at, const Origin& origin);

  /// Forgets a key that a worker has taken and does not run: another replica does.
  void drop(const RequestKey& key);
  /// Adds a key after `delay` as its run asks for.
  void requeue(const RequestKey& key, Duration delay, Priority priority);
  /// Adds a key after `delay` that a worker has taken and cannot run now. Its failures remain counted.
  void defer(const RequestKey& key, Duration delay, Priority priority);
  /// Records that a worker takes the key; returns the time since the first event that the run handles.
  std::optional<Duration> begin(const RequestKey& key, const FlightRun& run);
  /// Records that the run failed: the key waits for its retry, and is added if the gate held an event during
  /// the run that is no own write. Returns the delay of the retry.
  Duration back_off(const RequestKey& key, Priority priority, const RunEnd& end);
  /// Records that the run ended without a failure, after the calls on the queue; adds the key if the gate
  /// held an event during the run. `next`: delay until it runs again without an event.
  void end_without_retry(const RequestKey& key, const RunEnd& end, std::optional<Duration> next);
  /// Records that the run ended, and the controller with it.
  void end_for_good(const RequestKey& key, const RunEnd& end);

  /// Returns the result of `read`, which is called with the flight recorder under the lock.
  template <class Read>
  auto read_recorder(const Read& read) const {
    MutexLock lock(mutex_);
    return read(journal_.recorder());
  }
  /// See Journal::on_timeout().
  StuckCheck look_for_stuck(TimePoint now);
  LatencyHistogram latency() const;

 private:
  /// State of an engaged cluster.
  struct ClusterKeys {
    ControllerWrites own = {};
    std::unordered_set<RequestKey> waiting = {};  // those that may wait; others are not in it
  };

  ControllerWrites writes_in(const RequestKey& key) const EVENKEEL_EXCLUDES(clusters_mutex_);
  void wait_for(const RequestKey& key, Duration delay, Priority priority);
  void note_waiting(const RequestKey& key) EVENKEEL_EXCLUDES(clusters_mutex_);
  void note_taken(const RequestKey& key) EVENKEEL_EXCLUDES(clusters_mutex_);
  bool is_own(const RequestKey& key, const Change& change) const;
  bool are_own(const RequestKey& key, const BackoffCore::Held& held) const;
  bool may_be_own(const RequestKey& key, const ObjectEvent& event) const;
  bool is_tracked(const RequestKey& key) const EVENKEEL_EXCLUDES(mutex_);
  BackoffCore::Verdict on_update(const RequestKey& key, const BackoffCore::Update& update,
                                 const Origin& origin, const Change& change);
  AddVerdict add_own_write(const RequestKey& key, const BackoffCore::Update& update, const Origin& origin);
  AddVerdict add_own_write_later(const RequestKey& key, const BackoffCore::Update& update,
                                 const Origin& origin) EVENKEEL_REQUIRES(mutex_);
  void add_held(const RequestKey& key, const BackoffCore::Held& held);
  bool end_run(const RequestKey& key, const RunEnd& end) EVENKEEL_REQUIRES(mutex_);

  const std::shared_ptr<const Clock> clock_;
  const std::function<void(TimePoint)> schedule_stuck_check_;
  const ControllerWrites own_;  // in the home cluster
  const bool gated_;
  const Debounce debounce_;
  const bool holds_back_;  // a key that is added may wait although it has no delay
  RequestQueue queue_;
  mutable Mutex mutex_;
  mutable Mutex clusters_mutex_;  // may be taken with the other one held
  std::map<std::string, ClusterKeys, std::less<>> clusters_ EVENKEEL_GUARDED_BY(clusters_mutex_);
  bool stopped_ EVENKEEL_GUARDED_BY(mutex_) = false;
  BackoffCore gate_ EVENKEEL_GUARDED_BY(mutex_);
  std::unordered_set<RequestKey> renewed_ EVENKEEL_GUARDED_BY(mutex_);  // during their runs
  std::atomic<std::size_t> doubt_count_ = 0;  // a hint: most controllers have no doubt
  Mutex doubts_mutex_;
  std::unordered_set<RequestKey> doubts_ EVENKEEL_GUARDED_BY(doubts_mutex_);
  Journal journal_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
