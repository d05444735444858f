// SPDX-License-Identifier: Apache-2.0
// Journal of a controller's keys: when the events of each arrived, how long they waited, what happened
// lately, and which runs are stuck.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/object_event.hpp>
#include <evenkeel/controller/latency.hpp>
#include <evenkeel/controller/result_core.hpp>
#include <evenkeel/workqueue/request_key.hpp>

#include "controller/explain/flight_recorder.hpp"
#include "controller/explain/stuck_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Cause of an add, before its source has a number in the flight recorder.
struct Origin {
  AddedBy by = AddedBy::call;
  EventType type = EventType::added;  ///< Type of the event; meaningful only if an event caused the add.
  std::string_view source = {};       ///< "configmaps (v1)"; of events and sources.
};
/// Returns the origin of an event of a watch.
Origin origin_of(const ObjectEvent& event, std::string_view source);

/// End of a run.
struct RunEnd {
  TimePoint at;
  Duration took;
  std::size_t worker;
  std::uint64_t attempt;
  const ReconcileOutcome& outcome;
};

/// Result of Journal::on_run_started().
struct RunStart {
  std::optional<Duration> waited = {};  ///< Since the first event that the run answers, if there was one.
  /// Set for the first run after a time without: when on_timeout() is due.
  std::optional<TimePoint> stuck_check_due = {};
};

/// Records what happens to keys. It decides nothing about them.
/// Driver:
///  1. calls on_* for what happened, in the order in which it happened;
///  2. calls on_timeout() at RunStart::stuck_check_due, and again at the StuckCheck::next_due of its result.
/// Thread safety: one thread at a time.
class Journal {
 public:
  /// `recorder_bytes`: memory of the flight recorder; 0: only runs in progress are known.
  explicit Journal(std::size_t recorder_bytes) : recorder_(recorder_bytes) {}

  /// Records the start of the controller: earlier events, such as those during standby, count as events of
  /// `now`.
  void on_start(TimePoint now);
  /// An event arrived that the next run of `key` answers. False: that run answers an earlier one, too.
  bool on_arrival(const RequestKey& key, TimePoint at) { return arrivals_.try_emplace(key, at).second; }
  /// Reverts an on_arrival() that returned true: the event causes no run.
  void forget_arrival(const RequestKey& key) { arrivals_.erase(key); }
  /// An event of the key with this hash was added, refused, held or left to a retry.
  void on_event(TimePoint at, std::uint64_t key, const Origin& origin, EventFate fate);
  /// A worker took `key`; `run.key` is set here.
  RunStart on_run_started(const RequestKey& key, FlightRun run);
  void on_run_ended(const RequestKey& key, const RunEnd& end);
  /// `key` runs again after `delay`.
  void on_wait(TimePoint at, const RequestKey& key, AddedBy reason, Duration delay) {
    recorder_.on_wait(at, key.hash(), reason, delay);
  }
  /// The run of a former object of `key` ended, which the history of the present one does not contain.
  void on_run_dropped(TimePoint at, const RequestKey& key) { recorder_.on_run_dropped(at, key.hash()); }
  /// `key` is that of another object from now on. Returns true if a run of the former one is in progress.
  bool on_renewed(TimePoint at, const RequestKey& key) {
    recorder_.on_renewed(at, key.hash());
    return recorder_.is_running(key.hash());
  }
  /// Returns the runs that are stuck and have to be reported, and when to call this again.
  StuckCheck on_timeout(TimePoint now);

  const FlightRecorder& recorder() const noexcept { return recorder_; }
  /// From an event's arrival to the start of the run that answers it.
  const LatencyHistogram& latency() const noexcept { return latency_; }

 private:
  LatencyHistogram latency_;
  // When the first event arrived that a key's next run answers.
  std::unordered_map<RequestKey, TimePoint> arrivals_;
  FlightRecorder recorder_;
  bool check_scheduled_ = false;  // on_timeout() will be called
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
