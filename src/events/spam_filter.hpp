// SPDX-License-Identifier: Apache-2.0
// Limits how many Events of an object are written. Pure.
#pragma once

#include <string>

#include <evenkeel/base/time.hpp>
#include <evenkeel/events/event.hpp>

#include "events/lru_table.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A token bucket for each object.
/// Thread safety: one thread at a time.
/// Source: client-go EventSourceObjectSpamFilter.
class SpamFilter {
 public:
  explicit SpamFilter(const EventLimits& limits)
      : burst_(limits.burst), refill_(limits.refill), buckets_(limits.remembered) {}

  /// Returns true if an Event of the object may be written now.
  bool admits(const std::string& object, TimePoint now) {
    const bool known = buckets_.find(object) != nullptr;
    Bucket& bucket = buckets_.at(object);
    if (!known) bucket = {.tokens = static_cast<double>(burst_), .at = now};
    const double gained =
        std::chrono::duration<double>(now - bucket.at) / std::chrono::duration<double>(refill_);
    bucket.tokens = std::min(static_cast<double>(burst_), bucket.tokens + gained);
    bucket.at = now;
    // Sums of fractions that make up a token may miss it by a little.
    if (bucket.tokens < 1 - 1e-9) return false;
    bucket.tokens -= 1;
    return true;
  }

 private:
  struct Bucket {
    double tokens = 0;
    TimePoint at = {};
  };

  const int burst_;
  const Duration refill_;
  LruTable<Bucket> buckets_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
