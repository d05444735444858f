// SPDX-License-Identifier: Apache-2.0
// Decides the effect of an event on a key whose last run failed: an immediate attempt, or none, as the retry
// sees the change anyway.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include <evenkeel/base/time.hpp>
#include <evenkeel/workqueue/queue_item.hpp>
#include <evenkeel/workqueue/request_key.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Gate of the events of keys that are running or waiting for a retry.
///
/// While a key waits, minor events (minor_event.hpp) leave it waiting. While it runs, they are held until the
/// run has ended: if it failed, the retry covers them; otherwise they make the key run once more. So a
/// reconciler that writes its status and then fails does not trigger itself, and no event is lost. A run that
/// began early, because of another event, and fails before the deadline leaves deadline and failure count
/// unchanged.
///
/// A key is tracked while it runs and while it waits for a retry.
/// Driver:
///  1. calls on_run_started() when a worker takes a key;
///  2. calls on_minor_event() for a minor event of a key that concerns() returns true for, and obeys the
///     verdict; adds the key for any other event;
///  3. when a run failed, waits until standing_deadline(), or for the limiter's delay if there is none, and
///     calls on_run_failed() with the new deadline;
///  4. when a run ended otherwise, calls on_run_ended(), and adds the key if that returns held events.
/// Thread safety: one thread at a time.
class BackoffCore {
 public:
  /// Handling of a minor event.
  enum class Verdict : std::uint8_t {
    add,                 ///< Add it like any event.
    add_unless_waiting,  ///< The key is in back-off, unless another event has made it ready.
    held,                ///< Do nothing now; on_run_ended() returns it.
  };
  /// Minor events during a run: the highest priority, and the time of the first.
  struct Held {
    Priority priority;
    TimePoint since;
  };

  /// A disabled core tracks no key: every event is added, and every failure counts.
  explicit BackoffCore(bool enabled = true) : enabled_(enabled) {}

  /// Records that a worker starts `key`, which no other worker holds.
  void on_run_started(const RequestKey& key);
  /// Decides about a minor event of `key` at `now`.
  Verdict on_minor_event(const RequestKey& key, Priority priority, TimePoint now);
  /// Records that the run of `key` ended, and that the queue lets it wait for a retry at `deadline`.
  void on_run_failed(const RequestKey& key, TimePoint deadline);
  /// Records that the run of `key` ended without a retry, which ends its back-off. The held events must be
  /// added now.
  std::optional<Held> on_run_ended(const RequestKey& key);

  /// Returns true if minor events of `key` need on_minor_event(): it runs, or waits for a retry.
  bool concerns(const RequestKey& key) const { return keys_.find(key) != keys_.end(); }
  /// Returns the deadline that `key`, whose run failed at `now`, has to wait for again because it has not
  /// passed yet. std::nullopt: the failure counts.
  std::optional<TimePoint> standing_deadline(const RequestKey& key, TimePoint now) const;
  /// Returns the number of tracked keys.
  std::size_t size() const { return keys_.size(); }

 private:
  struct State {
    bool running = false;
    std::optional<TimePoint> deadline = {};
    std::optional<Held> held = {};
  };

  const bool enabled_;
  std::unordered_map<RequestKey, State> keys_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
