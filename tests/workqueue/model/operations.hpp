// SPDX-License-Identifier: Apache-2.0
// Operations on a queue, and random sequences of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "random.hpp"
#include "reference_queue.hpp"
#include "settings.hpp"

namespace evenkeel::model {

enum class Action : std::uint8_t {
  add,
  add_unless_waiting,
  add_after,
  add_rate_limited,
  forget,
  advance,
  get,
  done,       ///< Has no effect on a key that is not held.
  call_slow,  ///< The policy of a PolicyLaneStore reclassifies a key.
  call_fast,
  shut_down,
  shut_down_now,
  drain,  ///< shut_down_with_drain without waiting.
};
inline constexpr std::size_t actions = 13;

/// Every operation is valid after any other, so that a sequence stays valid when parts of it are removed.
struct Operation {
  Action action = Action::get;
  std::size_t key = 0;
  std::int32_t priority = 0;
  Nanos time = 0;
  friend bool operator==(const Operation&, const Operation&) = default;
};
using Sequence = std::vector<Operation>;

inline bool has_key(Action action) {
  return action <= Action::forget || action == Action::done || action == Action::call_slow ||
         action == Action::call_fast;
}
inline bool has_priority(Action action) {
  return action <= Action::add_rate_limited;
}
inline bool has_time(Action action) {
  return action == Action::add_after || action == Action::advance;
}

inline LimiterSettings random_limiter(Random& random) {
  LimiterSettings limiter;
  limiter.kind = static_cast<LimiterKind>(random.below(3));
  limiter.base = random.between(1, 5);
  limiter.max = random.once_in(3) ? never : limiter.base + random.between(0, 200);
  limiter.tokens = random.between(1, 7);
  limiter.per = random.between(1, 30);
  limiter.burst = random.between(1, 4);
  return limiter;
}

inline Settings random_settings(Random& random) {
  Settings settings;
  settings.kind = static_cast<Kind>(random.below(kinds));
  settings.store = static_cast<StoreKind>(random.below(store_kinds));
  settings.slow_share = random.once_in(2) ? 0 : static_cast<std::uint32_t>(random.between(2, 4));
  settings.readd = random.once_in(2) ? Readd::at_back : Readd::keep_place;
  settings.charge_waiting = random.once_in(2);
  settings.limiter = random_limiter(random);
  for (std::uint32_t& weight : settings.fair.weights)
    weight = static_cast<std::uint32_t>(random.between(1, 3));
  if (random.once_in(2)) {
    for (std::uint32_t& cap : settings.fair.caps) cap = static_cast<std::uint32_t>(random.between(0, 2));
  }
  settings.fair.live_first = random.once_in(2);
  if (random.once_in(4)) settings.quiet = random.between(1, 6);
  settings.max_wait = settings.quiet + random.between(0, 10);
  if (random.once_in(4)) settings.min_interval = random.between(1, 15);
  settings.metered = random.once_in(2);
  settings.keys = random.once_in(5) ? 6 + random.below(max_keys - 5) : 1 + random.below(6);
  return settings;
}

/// Random sequences, each with its own distribution of operations and delays.
class Generator {
 public:
  Generator(const Settings& settings, Random& random) : settings_(settings), random_(random) {
    for (std::uint32_t& weight : weights_) weight = random_.once_in(3) ? 0 : 1U << random_.below(6);
    weight(Action::add) += 8;
    weight(Action::get) += 8;
    weight(Action::done) += 8;
    if (settings_.store != StoreKind::policy_lane) weight(Action::call_slow) = weight(Action::call_fast) = 0;
    weight(Action::shut_down) = weight(Action::shut_down_now) = weight(Action::drain) = 0;
    ends_early_ = random_.once_in(4);
    many_priorities_ = random_.once_in(4);
  }

  /// Returns an operation for the current state.
  Operation next(const ReferenceQueue& now) {
    Operation operation{.action = action()};
    if (ends_early_ && random_.once_in(60)) {
      operation.action = static_cast<Action>(random_.between(
          std::int64_t{static_cast<int>(Action::shut_down)}, std::int64_t{static_cast<int>(Action::drain)}));
    }
    if (has_key(operation.action)) operation.key = random_.below(settings_.keys);
    if (operation.action == Action::done) operation.key = some_held(now, operation.key);
    if (has_priority(operation.action)) operation.priority = priority();
    if (has_time(operation.action)) operation.time = time(operation.action);
    return operation;
  }

 private:
  std::uint32_t& weight(Action action) { return weights_[static_cast<std::size_t>(action)]; }

  Action action() {
    std::size_t sum = 0;
    for (const std::uint32_t weight : weights_) sum += weight;
    std::size_t at = random_.below(sum);
    std::size_t chosen = 0;
    while (at >= weights_[chosen]) at -= weights_[chosen++];
    return static_cast<Action>(chosen);
  }

  // Returns the next held key from `start` on, so that most done operations end a key.
  std::size_t some_held(const ReferenceQueue& now, std::size_t start) const {
    for (std::size_t i = 0; i < settings_.keys; ++i) {
      const std::size_t key = (start + i) % settings_.keys;
      if (now.is_held(key)) return key;
    }
    return start;
  }

  std::int32_t priority() {
    if (random_.once_in(40)) return std::numeric_limits<std::int32_t>::min();
    if (random_.once_in(40)) return std::numeric_limits<std::int32_t>::max();
    if (many_priorities_) return static_cast<std::int32_t>(random_.between(-30, 30));
    static constexpr std::array<std::int32_t, 8> usual{0, 0, 0, 0, -100, -100, 1, -7};
    return usual[random_.below(usual.size())];
  }

  Nanos time(Action action) {
    if (random_.once_in(20)) return 0;
    if (action == Action::add_after && random_.once_in(40)) return never;
    if (action == Action::add_after && random_.once_in(20)) return -random_.between(1, 10);
    return random_.once_in(10) ? random_.between(1, 1000) : random_.between(1, 8);
  }

  const Settings settings_;
  Random& random_;
  std::array<std::uint32_t, actions> weights_{};
  bool ends_early_ = false;
  bool many_priorities_ = false;  // more than a queue labels in its metrics
};

}  // namespace evenkeel::model
