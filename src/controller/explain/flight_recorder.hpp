// SPDX-License-Identifier: Apache-2.0
// The recent history of a controller's keys in a fixed amount of memory, so that the answer to "why was this
// object not reconciled" is available when the question comes up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/object_event.hpp>
#include <evenkeel/controller/result_core.hpp>
#include <evenkeel/workqueue/request_key.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The reason for which a key was added to the queue.
enum class AddedBy : std::uint8_t {
  nobody,   ///< Unknown.
  event,    ///< An object was created, changed or deleted, as reported by a watch.
  initial,  ///< The object was in the first list of a watch.
  resync,   ///< A watch delivered the object again, without a change.
  source,   ///< A source of the program.
  call,     ///< Controller::enqueue().
  held,     ///< Events that came during the previous run and were held until its end.
  requeue,  ///< The result of the previous run: requeue() or requeue_after().
  retry,    ///< The failure of the previous run.
};

/// The handling of an event.
enum class EventFate : std::uint8_t {
  added,    ///< The key was added, unless it was queued already.
  refused,  ///< A predicate rejected it. Its key is that of the object, whatever it maps to.
  held,     ///< It came during a run, at whose end it is decided.
  waits,    ///< It is an own write or no change, and is covered by the retry that is due.
};

/// The cause of a run.
struct Cause {
  AddedBy by = AddedBy::nobody;
  EventType type = EventType::added;  ///< For event and initial.
  std::uint16_t source = 0;           ///< See FlightRecorder::source(); unused for retry and requeue.
  bool operator==(const Cause&) const = default;
};

enum class FlightKind : std::uint8_t {
  event,    ///< An event or call that may add the key.
  waits,    ///< The key waits after a run.
  started,  ///< A run began.
  ended,    ///< A run ended.
  renewed,  ///< The key is that of another object from now on; earlier records are not returned.
};

/// One record. The meaning of the generic members depends on the kind; use the functions below. Trivial, so
/// that a budget costs no memory until it is used.
struct FlightRecord {
  TimePoint::rep at;  ///< Nanoseconds of the steady clock.
  std::uint64_t key;  ///< RequestKey::hash().
  std::int64_t value;
  std::uint32_t extra;
  FlightKind kind;
  std::uint8_t detail;
  std::uint16_t number;

  TimePoint time() const { return TimePoint(Duration(at)); }
  /// For event.
  Cause cause() const { return {static_cast<AddedBy>(detail), static_cast<EventType>(value), number}; }
  EventFate fate() const { return static_cast<EventFate>(extra); }
  /// For waits: reason and delay.
  AddedBy reason() const { return static_cast<AddedBy>(detail); }
  Duration delay() const { return Duration(value); }
  /// For started and ended.
  std::size_t worker() const { return number; }
  /// For started.
  std::uint64_t run() const { return static_cast<std::uint64_t>(value); }
  std::uint64_t attempt() const { return extra; }
  /// For ended.
  OutcomeKind outcome() const { return static_cast<OutcomeKind>(detail & 0x1f); }
  bool timed_out() const { return (detail & timed_out_bit) != 0; }
  bool panic() const { return (detail & panic_bit) != 0; }
  Duration duration() const { return Duration(value); }
  std::uint32_t text() const { return extra; }

  static constexpr std::uint8_t timed_out_bit = 0x40;
  static constexpr std::uint8_t panic_bit = 0x80;
};
static_assert(sizeof(FlightRecord) == 32);

/// A run in progress.
struct FlightRun {
  std::uint64_t key = 0;  ///< RequestKey::hash().
  std::size_t worker = 0;
  std::uint64_t id = 0;  ///< The reconcile id, formatted as sixteen hexadecimal digits.
  std::uint64_t attempt = 1;
  TimePoint since = {};
  TimePoint limit = TimePoint::max();  ///< The run is stuck after this time.
  TimePoint warn_at = limit;           ///< Time of the next warning.
  Cause cause = {};                    ///< Cause of the run, as far as known.
};

/// The runs in progress, found by key. A few are searched one by one, many by an index. Of two with the same
/// hash, one is found.
/// Thread safety: one thread at a time. Complexity: amortised constant.
class RunTable {
 public:
  bool empty() const { return runs_.empty(); }
  std::vector<FlightRun>& all() { return runs_; }
  const std::vector<FlightRun>& all() const { return runs_; }

  void add(const FlightRun& run) {
    runs_.push_back(run);
    if (is_indexed_) {
      places_.emplace(run.key, runs_.size() - 1);
    } else if (runs_.size() > few) {
      make_index();
    }
  }
  /// Returns the run of `key`, or null.
  FlightRun* find(std::uint64_t key) {
    if (is_indexed_) {
      const auto place = places_.find(key);
      if (place != places_.end()) return &runs_[place->second];
      if (places_.size() == runs_.size()) return nullptr;
    }
    for (FlightRun& run : runs_) {
      if (run.key == key) return &run;
    }
    return nullptr;
  }
  void erase(std::uint64_t key) {
    FlightRun* const run = find(key);
    if (run == nullptr) return;
    if (is_indexed_) {
      places_.erase(key);
      if (run != &runs_.back()) places_[runs_.back().key] = static_cast<std::size_t>(run - runs_.data());
    }
    *run = runs_.back();
    runs_.pop_back();
    if (runs_.empty()) drop_index();
  }

 private:
  static constexpr std::size_t few = 32;

  void make_index() {
    is_indexed_ = true;
    for (std::size_t place = 0; place < runs_.size(); ++place) places_.emplace(runs_[place].key, place);
  }
  void drop_index() {
    is_indexed_ = false;
    places_.clear();
  }

  std::vector<FlightRun> runs_;
  std::unordered_map<std::uint64_t, std::size_t> places_;
  bool is_indexed_ = false;
};

/// The failure of a key's last run.
struct LastFailure {
  RequestKey key = {};
  TimePoint at = {};
  OutcomeKind kind = OutcomeKind::error;
  std::uint64_t attempt = 1;  ///< Attempt of the run that failed.
  bool timed_out = false;
  std::string text = {};  ///< Cut to FlightRecorder::max_text.
};

/// Records events in one ring and texts of errors and reasons in another, the last failure of each failing
/// key, and the runs in progress. When there is no space the oldest are overwritten, and their number is
/// counted. Keys are identified by their hashes: two keys with the same hash are treated as one.
///
/// Five eighths of the budget are for records, one eighth for texts and a quarter for failures. Memory is
/// allocated on demand.
/// Driver:
///  1. calls on_* for what happened, in the order in which it happened;
///  2. reads it between such calls; views and pointers are valid until the next one.
/// Thread safety: one thread at a time.
/// Complexity: recording is constant; of() is linear in the number of records.
class FlightRecorder {
 public:
  static constexpr std::size_t max_text = 512;  ///< Maximum number of bytes of a text; longer ones are cut.
  static constexpr std::size_t min_budget =
      1u << 12;  ///< Minimum budget, except 0; smaller ones are raised to it.

  /// Uses at most `budget` bytes; 0: records only runs in progress, which are not part of the budget.
  explicit FlightRecorder(std::size_t budget);

  bool on() const { return capacity_ != 0; }
  std::size_t capacity() const { return capacity_; }  ///< In records.

  /// Returns the number of a source of events, for Cause. Names after the 65,536th share the last number.
  std::uint16_t number_of(std::string_view source);
  std::string_view source(std::uint16_t number) const {
    return number < sources_.size() ? std::string_view(sources_[number]) : std::string_view();
  }

  void on_event(TimePoint at, std::uint64_t key, Cause cause, EventFate fate) {
    if (capacity_ == 0) return;
    next() = {.at = at.time_since_epoch().count(),
              .key = key,
              .value = static_cast<std::int64_t>(cause.type),
              .extra = static_cast<std::uint32_t>(fate),
              .kind = FlightKind::event,
              .detail = static_cast<std::uint8_t>(cause.by),
              .number = cause.source};
  }
  /// Records the start of a run; its cause is determined on demand.
  void on_run_started(const FlightRun& run) {
    last_sign_ = run.since;
    runs_.add(run);
    if (capacity_ == 0) return;
    next() = {.at = run.since.time_since_epoch().count(),
              .key = run.key,
              .value = static_cast<std::int64_t>(run.id),
              .extra = static_cast<std::uint32_t>(run.attempt),
              .kind = FlightKind::started,
              .detail = 0,
              .number = static_cast<std::uint16_t>(run.worker)};
  }
  /// Records that the run of `attempt` ended after `duration`.
  void on_run_ended(TimePoint at, const RequestKey& key, std::size_t worker, std::uint64_t attempt,
                    Duration duration, const ReconcileOutcome& outcome) {
    runs_.erase(key.hash());
    last_sign_ = at;
    if (capacity_ == 0) return;
    next() = {.at = at.time_since_epoch().count(),
              .key = key.hash(),
              .value = duration.count(),
              .extra = outcome.message.empty() ? 0 : keep(outcome.message),
              .kind = FlightKind::ended,
              .detail = static_cast<std::uint8_t>(static_cast<std::uint8_t>(outcome.kind) |
                                                  (outcome.timed_out ? FlightRecord::timed_out_bit : 0) |
                                                  (outcome.panic ? FlightRecord::panic_bit : 0)),
              .number = static_cast<std::uint16_t>(worker)};
    if (is_failure(outcome.kind)) {
      remember(at, key, attempt, outcome);
    } else if (outcome.kind != OutcomeKind::cancelled && !failures_.empty()) {
      forget(key.hash());
    }
  }
  /// Like on_run_ended(), without a record.
  void on_run_dropped(TimePoint at, std::uint64_t key) {
    runs_.erase(key);
    last_sign_ = at;
  }
  /// Records that `key` is to run again after `delay`, because of `reason`.
  void on_wait(TimePoint at, std::uint64_t key, AddedBy reason, Duration delay) {
    if (capacity_ == 0) return;
    next() = {.at = at.time_since_epoch().count(),
              .key = key,
              .value = delay.count(),
              .extra = 0,
              .kind = FlightKind::waits,
              .detail = static_cast<std::uint8_t>(reason),
              .number = 0};
  }

  /// Ends the history of a key, because another object has it from now on.
  void on_renewed(TimePoint at, std::uint64_t key) {
    if (capacity_ == 0) return;
    next() = {.at = at.time_since_epoch().count(),
              .key = key,
              .value = 0,
              .extra = 0,
              .kind = FlightKind::renewed,
              .detail = 0,
              .number = 0};
    forget(key);
  }

  /// Returns the newest `most` records of `key`, oldest first.
  std::vector<FlightRecord> of(std::uint64_t key, std::size_t most) const;
  /// Returns the text of an ended record; empty if there was none, std::nullopt if it was overwritten.
  std::optional<std::string_view> text(const FlightRecord& record) const;
  /// Returns the failure of a key's last run, or null if there is none or it was evicted.
  const LastFailure* failure(std::uint64_t key) const;
  /// Returns the last failures, most recent first.
  const std::list<LastFailure>& failures() const { return by_age_; }

  /// Returns the runs in progress, each with its cause.
  std::vector<FlightRun> runs() const;
  /// Returns the runs in progress, possibly without causes; warn_at may be changed.
  std::vector<FlightRun>& runs_to_watch() { return runs_.all(); }
  std::vector<FlightRun> unexplained_runs() const { return runs_.all(); }
  bool has_runs() const { return !runs_.empty(); }
  bool is_running(std::uint64_t key) { return runs_.find(key) != nullptr; }

  /// Returns the time at which a run last began or ended.
  std::optional<TimePoint> last_sign() const { return last_sign_; }

  std::uint64_t recorded() const { return recorded_; }
  /// Returns the number of overwritten records.
  std::uint64_t lost() const { return recorded_ > capacity_ ? recorded_ - capacity_ : 0; }
  /// Returns the time of the oldest remaining record.
  std::optional<TimePoint> since() const;
  /// Returns the approximate number of bytes in use.
  std::size_t bytes() const;

 private:
  static bool is_failure(OutcomeKind kind) {
    return kind == OutcomeKind::error || kind == OutcomeKind::terminal_error || kind == OutcomeKind::conflict;
  }

  FlightRecord& next() {
    FlightRecord& record = records_[at_];
    if (recorded_ >= capacity_ && !runs_.empty()) save_cause(record);
    if (++at_ == capacity_) at_ = 0;
    ++recorded_;
    return record;
  }
  void save_cause(const FlightRecord& overwritten);
  std::uint32_t keep(std::string_view text);
  void remember(TimePoint at, const RequestKey& key, std::uint64_t attempt, const ReconcileOutcome& outcome);
  void forget(std::uint64_t key);

  const std::size_t capacity_;
  const std::size_t text_budget_;
  const std::size_t max_failures_;
  std::unique_ptr<FlightRecord[]> records_;  // not initialised: pages that were never written cost nothing
  std::size_t at_ = 0;
  std::uint64_t recorded_ = 0;
  RunTable runs_;
  std::optional<TimePoint> last_sign_;
  std::vector<std::string> sources_;
  std::deque<std::string> texts_;
  std::size_t text_bytes_ = 0;
  std::uint32_t newest_text_ = 0;  // number of texts_.back(), counted from 1 and never 0
  std::list<LastFailure> by_age_;
  std::unordered_map<std::uint64_t, std::list<LastFailure>::iterator> failures_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
