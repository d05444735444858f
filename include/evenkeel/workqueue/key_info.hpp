// SPDX-License-Identifier: Apache-2.0
// Introspection of the keys of a queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

enum class KeyState : std::uint8_t {
  absent,                ///< Not in the queue.
  waiting,               ///< Waits for a delay to end.
  queued,                ///< Ready to be handed out.
  processing,            ///< Held by a worker. May also wait for a delay; see next_attempt.
  processing_and_dirty,  ///< Held by a worker, and runs again once that worker is done.
};

/// Snapshot of one key of a queue.
template <class Key>
struct KeyInfo {
  Key key = {};
  KeyState state = KeyState::absent;
  std::int32_t priority = 0;   ///< Priority of the next run, or of this one if there is no next.
  std::string lane = {};       ///< Lane of a key that is in the store, if the store has lanes.
  std::uint64_t attempts = 0;  ///< retries() of the limiter.
  std::optional<TimePoint> dirty_since = {};   ///< When the key became dirty; only with metrics.
  std::optional<TimePoint> held_since = {};    ///< When a worker was handed the key; only with metrics.
  std::optional<TimePoint> next_attempt = {};  ///< End of its delay.
  std::int64_t level = 0;        ///< First sort key in the store, if the key is there; see store.hpp.
  std::uint64_t place = 0;       ///< Position in the order of adding, if dirty: lower came first.
  std::uint64_t adds_since = 0;  ///< Lower bound of the places assigned since.
};

/// Number of keys in each state, all at one moment. Ready keys are dirty and not processing.
struct QueueCounts {
  std::size_t ready = 0;
  std::size_t waiting = 0;  ///< Includes keys that are also processing.
  std::size_t processing = 0;
  std::size_t dirty = 0;  ///< Ready keys, and processing keys that will run again.
  friend bool operator==(const QueueCounts&, const QueueCounts&) = default;
};

struct InspectOptions {
  /// Approximate number of keys visited before the queue's lock is released and taken again. At least 1.
  std::size_t slice = 1000;
};

}  // namespace v0
}  // namespace evenkeel
