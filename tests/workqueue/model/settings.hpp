// SPDX-License-Identifier: Apache-2.0
// Settings of a sequence of operations: type of the queue, store, options.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/workqueue/queue_core.hpp>

namespace evenkeel::model {

/// Nanoseconds, as a duration or since the start. Plain numbers, so that the reference has its own
/// arithmetic.
using Nanos = std::int64_t;
inline constexpr Nanos never = std::numeric_limits<Nanos>::max();

inline constexpr std::size_t max_keys = 40;

enum class Kind : std::uint8_t {
  core_of_strings,   ///< QueueCore with string keys: no lock, no clock
  core_of_requests,  ///< QueueCore with interned keys
  work_queue,        ///< WorkQueue with string keys and a ManualClock
  request_queue,     ///< RequestQueue with a ManualClock
};
inline constexpr std::size_t kinds = 4;

enum class StoreKind : std::uint8_t { fifo, two_lane, policy_lane, priority, fair };
inline constexpr std::size_t store_kinds = 5;

inline constexpr std::size_t groups = 3;

enum class LimiterKind : std::uint8_t { exponential, bucket, both };

struct LimiterSettings {
  LimiterKind kind = LimiterKind::exponential;
  Nanos base = 1;
  Nanos max = 100;
  std::int64_t tokens = 1;
  Nanos per = 10;
  std::int64_t burst = 2;
};

struct FairSettings {
  std::array<std::uint32_t, groups> weights{1, 1, 1};
  std::array<std::uint32_t, groups> caps{0, 0, 0};
  bool live_first = true;
};

struct Settings {
  Kind kind = Kind::core_of_strings;
  StoreKind store = StoreKind::fifo;
  std::uint32_t slow_share = 0;
  Readd readd = Readd::at_back;
  bool charge_waiting = true;
  LimiterSettings limiter = {};
  FairSettings fair = {};
  Nanos quiet = 0;
  Nanos max_wait = 0;
  Nanos min_interval = 0;
  bool metered = false;  ///< If true, there are metrics.
  std::size_t keys = 3;

  bool is_core() const { return kind == Kind::core_of_strings || kind == Kind::core_of_requests; }
  bool has_strings() const { return kind == Kind::core_of_strings || kind == Kind::work_queue; }
  bool has_lanes() const { return store == StoreKind::two_lane || store == StoreKind::policy_lane; }
  bool has_caps() const { return store == StoreKind::fair && fair.caps != decltype(fair.caps){}; }
  /// Returns true if level and place completely determine the order.
  bool has_levels() const { return store != StoreKind::fair && !(has_lanes() && slow_share != 0); }
  bool is_paced() const { return quiet > 0 || min_interval > 0; }
};

inline std::size_t group_of(std::size_t key) {
  return key % groups;
}

/// Keys have numbers; their names are "a/0", "b/1", "c/2", "a/3" ...: three namespaces.
inline std::string namespace_of(std::size_t key) {
  return std::string(1, static_cast<char>('a' + group_of(key)));
}
inline std::string name_of(std::size_t key) {
  return std::to_string(key);
}
inline std::string text_of(std::size_t key) {
  return namespace_of(key) + "/" + name_of(key);
}

/// The keys that the policy of a PolicyLaneStore currently classifies as slow.
using SlowKeys = std::array<bool, max_keys>;

/// The result of get().
struct Handed {
  std::size_t key = 0;
  std::int32_t priority = 0;
  friend bool operator==(const Handed&, const Handed&) = default;
};

/// The complete observable state of a queue after an operation. Values that a type of queue does not provide
/// are `unknown`.
struct Observation {
  static constexpr std::int64_t unknown = -1;
  static constexpr std::int64_t none = -2;
  static constexpr std::int64_t unknown_priority = never;

  struct OfKey {
    std::int64_t dirty = unknown;
    std::int64_t processing = unknown;
    std::int64_t waiting = unknown;
    std::int64_t retries = unknown;
    std::int64_t priority = unknown_priority;
    std::int64_t next_attempt = unknown;  ///< Or none.
  };

  std::int64_t ready = unknown;
  std::int64_t dirty = unknown;
  std::int64_t processing = unknown;
  std::int64_t waiting = unknown;
  std::int64_t known = unknown;     ///< Keys that are dirty, processing or waiting.
  std::int64_t next_due = unknown;  ///< Or none.
  std::int64_t shutting_down = unknown;
  std::array<OfKey, max_keys> keys{};
};

/// The data behind the metrics of a queue.
struct Figures {
  std::uint64_t adds = 0;
  std::uint64_t retries = 0;
  std::vector<std::pair<std::string, std::size_t>> depth = {};
  std::vector<Nanos> queued = {};  ///< Queue time of each key that was handed out.
  std::vector<Nanos> worked = {};  ///< Work time of each key that is done.
  Nanos unfinished = 0;
  Nanos longest = 0;
};

}  // namespace evenkeel::model
