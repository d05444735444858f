// SPDX-License-Identifier: Apache-2.0
// Decides when an event whose mapping threw is mapped again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <evenkeel/base/object_key.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/object_event.hpp>
#include <evenkeel/cache/wire_object.hpp>
#include <evenkeel/controller/controller_spec.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The states of one object that a mapping failed for.
struct FailedMapping {
  WatchId watch = 0;
  EventType type = EventType::added;    ///< Type of the newest event.
  std::vector<WireObject> states = {};  ///< Oldest first; the last is the current or deleted state.
  std::size_t failures = 0;
};

/// Schedules the mappings that failed.
/// Driver:
///  1. calls on_failure() after each mapping that threw;
///  2. at next_due() calls on_timeout(), and maps each state of the result.
/// Thread safety: one thread at a time.
class MappingRetryCore {
 public:
  static constexpr Duration first_delay = std::chrono::seconds{1};
  static constexpr Duration longest_delay = std::chrono::minutes{5};
  /// Maximum number of failures for a deleted object, which has no further events; its mapping is given up
  /// then.
  static constexpr std::size_t max_failures_of_deleted = 10;
  /// Maximum number of states kept for an object whose mapping keeps failing; the oldest and the newest are
  /// kept.
  static constexpr std::size_t max_states = 8;

  /// Records a failure. Returns the delay until the next attempt; std::nullopt: it was given up.
  std::optional<Duration> on_failure(FailedMapping failed, TimePoint now);
  /// Removes and returns the states that are due.
  std::vector<FailedMapping> on_timeout(TimePoint now);
  std::optional<TimePoint> next_due() const;
  std::size_t size() const { return waiting_.size(); }

 private:
  using Id = std::pair<WatchId, ObjectKey>;
  struct Waiting {
    FailedMapping failed;
    TimePoint due = {};
  };
  std::map<Id, Waiting> waiting_;
  std::set<std::pair<TimePoint, Id>> due_;  // of waiting_
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
