// SPDX-License-Identifier: Apache-2.0
// What an event means for a key whose last run failed: an attempt at once, or nothing that its retry does
// not see anyway. Pure, so that ladders of minutes are tested in virtual time.
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

/// Whether `event`, of the reconciled object itself, gives no reason to try again before the back-off is
/// over: an update that leaves generation, labels, annotations and the mark of deletion alone. That is what
/// a status write is, and also a change of finalizers or owners only.
///
/// Kinds whose generation the server does not count (ConfigMaps, Secrets, Nodes) are compared by content:
/// all but `metadata` and `status`. If only metadata is kept of them nothing can be compared, and no update
/// is minor. Additions, deletions and objects that are new under an old name never are.
/// Complexity: linear in labels and annotations; kinds without generation are parsed.
bool is_minor(const ObjectEvent& event);

/// Which keys are being run, and which wait for a retry.
///
/// While a key waits, minor events leave it waiting. While it runs, they are held until the run has ended:
/// if it failed, the retry covers them, and otherwise they make the key run once more. So a reconciler that
/// writes its status and then fails does not wake itself, and no event is lost. A run that began early,
/// because of another event, and fails before the deadline leaves deadline and count of failures as they are.
///
/// A key is remembered while it runs and while it waits for a retry.
/// Thread safety: one thread at a time.
class BackoffCore {
 public:
  /// What to do with a minor event.
  enum class Verdict : std::uint8_t {
    add,                 ///< As with any event.
    add_unless_waiting,  ///< The key is in back-off, unless somebody else has made it ready.
    held,                ///< Nothing: end() will tell.
  };
  /// Minor events of a run: the highest priority of them, and when the first came.
  struct Held {
    Priority priority;
    TimePoint since;
  };

  /// A worker takes `key`; nobody else holds it.
  void begin(const RequestKey& key);

  /// Whether minor events of `key` are anything but add()ed: it runs, or waits for a retry.
  bool concerns(const RequestKey& key) const { return keys_.find(key) != keys_.end(); }
  /// A minor event of `key` came at `now`.
  Verdict minor_event(const RequestKey& key, Priority priority, TimePoint now);

  /// The run of `key` failed at `now`: the deadline that it has to wait for again, because that is not over
  /// yet. Nothing: this is a failure that counts.
  std::optional<TimePoint> standing_deadline(const RequestKey& key, TimePoint now) const;
  /// The run of `key` ended, and the queue has it wait for a retry at `deadline`.
  void end_waiting(const RequestKey& key, TimePoint deadline);
  /// The run of `key` ended without a retry; its back-off, if any, is over. What was held must be added now.
  std::optional<Held> end(const RequestKey& key);

  /// Keys that are remembered.
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
