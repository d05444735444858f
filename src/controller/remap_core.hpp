// SPDX-License-Identifier: Apache-2.0
// Decides when an event whose mapping threw is mapped again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <evenkeel/base/object_key.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/object_event.hpp>
#include <evenkeel/cache/wire_object.hpp>
#include <evenkeel/controller/controller.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The states of one object that a mapping has not told the keys of.
struct Remap {
  WatchId watch = 0;
  EventType type = EventType::added;    ///< Of the newest event.
  std::vector<WireObject> states = {};  ///< Oldest first; the last is the object now, or as it was deleted.
  std::size_t failures = 0;
};

/// Driver: failed() after each mapping that threw; take_due() when next_due() has come, then map each state,
/// and failed() again if that throws.
class RemapCore {
 public:
  static constexpr Duration first_delay = std::chrono::seconds{1};
  static constexpr Duration longest_delay = std::chrono::minutes{5};
  /// A deleted object will have no other event; its mapping is given up after this many failures.
  static constexpr std::size_t max_failures_of_deleted = 10;
  /// States kept of an object whose mapping keeps failing; of more, the oldest and the newest are kept.
  static constexpr std::size_t max_states = 8;

  /// Notes one more failure. Returns how long it is until the next attempt; nothing: it was given up.
  std::optional<Duration> failed(Remap remap, TimePoint now);
  /// What is due, taken out.
  std::vector<Remap> take_due(TimePoint now);
  std::optional<TimePoint> next_due() const;
  std::size_t size() const { return waiting_.size(); }

 private:
  using Id = std::pair<WatchId, ObjectKey>;
  struct Waiting {
    Remap remap;
    TimePoint due = {};
  };
  std::map<Id, Waiting> waiting_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
