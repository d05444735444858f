// SPDX-License-Identifier: Apache-2.0
// What a queue tells of its keys to those who look at it from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

enum class KeyState : std::uint8_t {
  absent,                ///< Nothing is left to do.
  waiting,               ///< For a delay to end.
  queued,                ///< To be handed out.
  processing,            ///< Somebody holds it. It may wait for a delay as well: next_attempt says so.
  processing_and_dirty,  ///< Somebody holds it, and it runs once more when that one is done.
};

/// One key of a queue at one moment.
template <class Key>
struct KeyInfo {
  Key key = {};
  KeyState state = KeyState::absent;
  std::int32_t priority = 0;                   ///< Of the next run, or of this one if there is no next.
  std::string lane = {};                       ///< Of a key that is in the store, if that has lanes.
  std::uint64_t attempts = 0;                  ///< retries() of the limiter.
  std::optional<TimePoint> dirty_since = {};   ///< Since when it needs to be handed out; only with metrics.
  std::optional<TimePoint> held_since = {};    ///< Since when somebody holds it; only with metrics.
  std::optional<TimePoint> next_attempt = {};  ///< When its delay ends.
  std::int64_t level = 0;        ///< What the store sorts by first, if it is in the store; see store.hpp.
  std::uint64_t place = 0;       ///< Its place in the order of adding, if it is dirty: lower came first.
  std::uint64_t adds_since = 0;  ///< How many places were given since, at least.
};

/// How many keys are in which state, all at one moment. Ready keys are dirty and not processing.
struct QueueCounts {
  std::size_t ready = 0;
  std::size_t waiting = 0;  ///< Keys that are processing, too, included.
  std::size_t processing = 0;
  std::size_t dirty = 0;  ///< Ready keys, and those that are processing and run once more.
  friend bool operator==(const QueueCounts&, const QueueCounts&) = default;
};

struct InspectOptions {
  /// About how many keys are looked at before the queue's lock is released and taken again.
  std::size_t slice = 1000;
};

}  // namespace v0
}  // namespace evenkeel
