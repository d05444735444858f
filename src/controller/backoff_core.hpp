// SPDX-License-Identifier: Apache-2.0
// Decides the effect of an event on a key whose last run failed: an immediate attempt, or none, as the retry
// sees the change anyway. Pure, so that minutes of back-off are tested in virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/object_event.hpp>
#include <evenkeel/workqueue/queue_item.hpp>
#include <evenkeel/workqueue/request_key.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns true if `event`, of the reconciled object itself, gives no reason to retry before the back-off is
/// over: an update that leaves generation, labels, annotations and deletion timestamp unchanged, such as a
/// status write or a change of finalizers or owners only.
///
/// Kinds without a generation (ConfigMaps, Secrets, Nodes) are compared by content, except `metadata` and
/// `status`. If only their metadata is kept, they cannot be compared, and no update is minor. Additions,
/// deletions and objects that replace another with the same name are never minor.
/// Complexity: linear in labels and annotations; kinds without generation are parsed.
bool is_minor(const ObjectEvent& event);

/// Tracks the keys that are running or waiting for a retry.
///
/// While a key waits, minor events leave it waiting. While it runs, they are held until the run has ended: if
/// it failed, the retry covers them; otherwise they make the key run once more. So a reconciler that writes
/// its status and then fails does not trigger itself, and no event is lost. A run that began early, because
/// of another event, and fails before the deadline leaves deadline and failure count unchanged.
///
/// A key is tracked while it runs and while it waits for a retry.
/// Thread safety: one thread at a time.
class BackoffCore {
 public:
  /// Handling of a minor event.
  enum class Verdict : std::uint8_t {
    add,                 ///< Add it like any event.
    add_unless_waiting,  ///< The key is in back-off, unless another event has made it ready.
    held,                ///< Do nothing now; end() returns it.
  };
  /// Minor events during a run: the highest priority, and the time of the first.
  struct Held {
    Priority priority;
    TimePoint since;
  };

  /// Records that a worker starts `key`, which no other worker holds.
  void begin(const RequestKey& key);

  /// Returns true if minor events of `key` need minor_event(): it runs, or waits for a retry.
  bool concerns(const RequestKey& key) const { return keys_.find(key) != keys_.end(); }
  /// Decides about a minor event of `key` at `now`.
  Verdict minor_event(const RequestKey& key, Priority priority, TimePoint now);

  /// Returns the deadline that `key`, whose run failed at `now`, has to wait for again because it has not
  /// passed yet. std::nullopt: the failure counts.
  std::optional<TimePoint> standing_deadline(const RequestKey& key, TimePoint now) const;
  /// Records that the run of `key` ended, and that the queue lets it wait for a retry at `deadline`.
  void end_waiting(const RequestKey& key, TimePoint deadline);
  /// Records that the run of `key` ended without a retry, which ends its back-off. The held events must be
  /// added now.
  std::optional<Held> end(const RequestKey& key);

  /// Returns the number of tracked keys.
  std::size_t size() const { return keys_.size(); }

 private:
  struct State {
    bool running = false;
    std::optional<TimePoint> deadline = {};
    std::optional<Held> held = {};
  };

  std::unordered_map<RequestKey, State> keys_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
