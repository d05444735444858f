// SPDX-License-Identifier: Apache-2.0
// Decides the effect of an event on a key whose last run failed: an immediate attempt, or none, as the retry
// sees the change anyway.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/workqueue/queue_item.hpp>
#include <evenkeel/workqueue/request_key.hpp>

#include "controller/own_write.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Gate of the updates of keys that are running or waiting for a retry.
///
/// While a key waits, own writes (own_write.hpp) leave it waiting, and any other update runs it. While it
/// runs, updates that may be own writes are held until the run has ended, because the event of a write often
/// arrives before its answer, by which it is recognized: if the run succeeded, they make the key run once
/// more; if it failed, they are decided then, and the retry covers own writes. So a reconciler that writes
/// its status and then fails does not trigger itself, and no event is lost. A run that began early, because
/// of another event, and fails before the deadline leaves deadline and failure count unchanged.
///
/// A key is tracked while it runs and while it waits for a retry.
/// Driver:
///  1. calls on_run_started() when a worker takes a key;
///  2. calls on_update() for an update that may be an own write, and obeys the verdict; if that is `decide`,
///     it adds the key, or calls on_own_write() and obeys that verdict; adds the key for any other event;
///  3. when a run failed, waits until standing_deadline(), or for the limiter's delay if there is none, and
///     calls on_run_failed() with the new deadline; adds the key if that returns updates one of which is not
///     an own write;
///  4. when a run ended otherwise, calls on_run_ended(), and adds the key if that returns held updates.
/// Thread safety: one thread at a time.
class BackoffCore {
 public:
  static constexpr std::size_t max_changes = 16;  ///< Maximum number of changes that are kept for a run.

  /// Handling of an update.
  enum class Verdict : std::uint8_t {
    add,                 ///< Add it like any event.
    decide,              ///< The key is in back-off: find out if the update is an own write.
    add_unless_waiting,  ///< The key is in back-off, unless another event has made it ready.
    held,                ///< Do nothing now; the end of the run returns it.
  };
  struct Update {
    Priority priority = {};
    TimePoint at = {};
    Duration delay = {};  ///< From the event until the key is ready.
  };
  /// The updates during a run.
  struct Held {
    Priority priority = {};  ///< The highest.
    TimePoint first = {};
    TimePoint last = {};
    Duration delay = {};               ///< The shortest.
    bool beyond_limit = false;         ///< There were too many to keep their changes.
    std::vector<Change> changes = {};  ///< Those that are not known to be own writes.
  };

  /// A disabled core tracks no key: every event is added, and every failure counts.
  explicit BackoffCore(bool enabled = true) : enabled_(enabled) {}

  /// Records that a worker starts `key`, which no other worker holds.
  void on_run_started(const RequestKey& key);
  /// Decides about an update of `key` that may be an own write; returns add, decide or held.
  Verdict on_update(const RequestKey& key, const Update& update, const Change& change);
  /// Decides about an own write of `key`; returns add, add_unless_waiting or held.
  Verdict on_own_write(const RequestKey& key, const Update& update);
  /// Records that the run of `key` ended, and that the queue lets it wait for a retry at `deadline`. The held
  /// updates must be decided now.
  std::optional<Held> on_run_failed(const RequestKey& key, TimePoint deadline);
  /// Records that the run of `key` ended without a retry, which ends its back-off. The held updates must be
  /// added now.
  std::optional<Held> on_run_ended(const RequestKey& key);

  /// Records that `key` is that of another object from now on, which has no back-off.
  void on_renewed(const RequestKey& key);

  /// Returns true if `key` runs or waits for a retry, so that updates of it need on_update().
  bool is_tracked(const RequestKey& key) const { return keys_.find(key) != keys_.end(); }
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

  static Held& hold(State& state, const Update& update);

  const bool enabled_;
  std::unordered_map<RequestKey, State> keys_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
