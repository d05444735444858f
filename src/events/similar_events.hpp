// SPDX-License-Identifier: Apache-2.0
// Combines Events of an object that differ in their message only. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>

#include <evenkeel/base/time.hpp>

#include "events/event_record.hpp"
#include "events/lru_table.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Thread safety: one thread at a time.
/// Source: client-go EventAggregator.
class SimilarEvents {
 public:
  explicit SimilarEvents(const EventLimits& limits)
      : most_(limits.similar), interval_(limits.similar_for), groups_(limits.remembered) {}

  /// Returns the key by which repetitions of the Event are counted. From the tenth message on that is one key
  /// for all of them, and the message says that it stands for others.
  std::string correlate(EventRecord& record, TimePoint now);

 private:
  struct Group {
    std::unordered_set<std::size_t> messages = {};  // hashes, to keep floods small
    TimePoint last = {};
  };

  const std::size_t most_;
  const Duration interval_;
  LruTable<Group> groups_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
