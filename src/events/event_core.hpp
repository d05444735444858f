// SPDX-License-Identifier: Apache-2.0
// Decides which Events are written, when and with which number of repetitions.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <evenkeel/base/time.hpp>
#include <evenkeel/events/event.hpp>

#include "events/event_record.hpp"
#include "events/lru_table.hpp"
#include "events/similar_events.hpp"
#include "events/spam_filter.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// An Event and its repetitions.
struct CountedEvent {
  EventRecord record = {};
  std::string name = {};  // of the object that is written
  std::int64_t count = 0;
  std::int64_t written = 0;   // number in the object on the server; 0: there is none
  std::int64_t given_up = 0;  // number in the write that was given up last
  WallTime first = {};
  WallTime last = {};
  TimePoint last_at = {};
  bool queued = false;
  bool number_queued = false;
};

/// A request to write an Event: a creation if the server has none, else a patch of the number.
struct EventWrite {
  std::shared_ptr<const CountedEvent> event = {};
  bool create = true;
};

enum class WriteEnd : std::uint8_t {
  done,
  not_found,       ///< The object to patch is gone.
  already_exists,  ///< An object of this name is there.
  rejected,        ///< By the server, for good.
  failed,          ///< Worth another try.
};

struct EventTotals {
  std::uint64_t recorded = 0;  ///< Events that were recorded.
  std::uint64_t written = 0;   ///< Requests that succeeded.
  std::uint64_t dropped = 0;   ///< Events and numbers that a full queue had no place for.
  std::uint64_t filtered = 0;  ///< Events that the spam filter kept back.
  std::uint64_t failed = 0;    ///< Writes that were rejected, or given up.
};

struct EventCoreOptions {
  EventApi api = EventApi::events_v1;
  EventLimits limits = {};
  std::function<double()> random = [] { return 1.0; };  ///< From 0 to 1, for the first delay.
};

/// The Events of a program, from recording to writing, one write at a time.
///
/// A repetition changes a number and costs no place in the queue: what is written is the state at the time of
/// the write. core/v1: each repetition is written, similar Events are combined, and an object that causes
/// many is slowed down. events.k8s.io/v1: the first repetition makes a series; its number is written when it
/// has ended, and every half hour. Numbers wait in a queue of their own behind new Events, which therefore
/// lose no places to them: at most EventLimits::remembered, and further ones are queued once it is empty.
///
/// Driver:
///  1. calls on_event() for each recorded Event;
///  2. sends next_write() if there is one, and calls on_written() with the result before it asks again;
///  3. calls on_timeout() at next_due(), and then next_write();
///  4. at the end calls flush(), and goes on until idle().
/// Thread safety: one thread at a time.
/// Source: client-go EventCorrelator and eventBroadcasterImpl. Unlike there, repetitions that wait are
/// combined, what changed nothing is not written again, series are bounded in number, and at the end they
/// are written.
class EventCore {
 public:
  explicit EventCore(EventCoreOptions options);

  /// Returns false if the queue is full, and the Event was dropped.
  bool on_event(EventRecord record, TimePoint now, WallTime wall);
  std::optional<EventWrite> next_write(TimePoint now);
  void on_written(WriteEnd end, TimePoint now);
  /// Handles timeouts; early calls do nothing.
  void on_timeout(TimePoint now);
  /// Queues the numbers of all series that were not written.
  void flush();

  /// Returns the time of the next write or timeout; std::nullopt if there is none, or a write goes on.
  std::optional<TimePoint> next_due(TimePoint now) const;
  /// Returns the time of the next write, without timeouts of series.
  std::optional<TimePoint> next_write_due(TimePoint now) const;
  bool is_writing() const { return writing_; }
  bool idle() const { return waiting() == 0 && !flushing_; }
  /// Number of writes that wait or go on.
  std::size_t waiting() const { return queue_.size() + numbers_.size() + (current_ ? 1 : 0); }
  const EventTotals& totals() const { return totals_; }

 private:
  using Shared = std::shared_ptr<CountedEvent>;

  std::string name_for(const EventRecord& record, WallTime wall);
  Shared counted(const std::string& key, EventRecord& record, WallTime wall);
  bool enqueue(const Shared& event);
  bool take_next();
  bool write_number(const Shared& event);
  bool is_worth_writing(const CountedEvent& event) const;
  void find_own();
  void give_up();
  void retry(TimePoint now);
  void end_series(TimePoint now);

  const EventCoreOptions options_;
  SimilarEvents similar_;
  SpamFilter filter_;
  LruTable<Shared> events_;
  std::deque<Shared> queue_;
  std::deque<Shared> numbers_;   // series whose numbers are to be written
  bool flushing_ = false;        // flush() had no place for some
  Shared current_;               // that is being written, or waits for another try
  std::int64_t sent_count_ = 0;  // number in the request
  std::int64_t first_sent_ = 0;  // that of the first try, if it failed
  bool writing_ = false;         // a request was sent
  int tries_ = 0;                // of the current one that failed
  int collisions_ = 0;           // of its name with those of other Events
  std::optional<TimePoint> retry_at_;
  std::optional<TimePoint> scan_at_;     // next look for series that ended
  std::optional<TimePoint> refresh_at_;  // next write of the series that go on
  std::int64_t last_stamp_ = 0;
  EventTotals totals_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
