// SPDX-License-Identifier: Apache-2.0
// Spreads the delays of another limiter, so that what failed together does not come back together.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>

#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/limiter.hpp>

namespace evenkeel::inline v0 {

/// inner's delay d plus a random part of it: evenly spread over [d, d + factor * d), never shorter than
/// d. The random numbers come from the seed and from the times handed in: a test in virtual time repeats
/// exactly, while processes that run differ from each other.
/// Thread safety: one thread at a time.
template <class L>
class WithJitter {
 public:
  /// Throws std::invalid_argument unless 0 <= factor <= 1000.
  WithJitter(L inner, double factor, std::uint64_t seed)
      : inner_(std::move(inner)), factor_(factor), state_(seed) {
    if (!(factor >= 0 && factor <= 1000))
      throw std::invalid_argument("with_jitter: need 0 <= factor <= 1000");
  }

  template <class Key>
  requires Limiter<L, Key> Duration when(const Key& key, TimePoint now) {
    const Duration delay = inner_.when(key, now);
    const double extra = static_cast<double>(delay.count()) * factor_ * fraction(now);
    const Duration room = Duration::max() - delay;
    if (extra >= static_cast<double>(room.count())) return Duration::max();
    return delay + Duration{static_cast<Duration::rep>(extra)};
  }
  template <class Key>
  requires Limiter<L, Key>
  void forget(const Key& key) { inner_.forget(key); }
  template <class Key>
  requires Limiter<L, Key> std::uint64_t retries(const Key& key)
  const { return static_cast<std::uint64_t>(inner_.retries(key)); }

  template <class Key>
  requires LimiterOrRule<L, Key>
  auto limiter() const { return WithJitter<LimiterFor<Key, L>>(limiter_for<Key>(inner_), factor_, state_); }

 private:
  // splitmix64, stirred with the time; 53 bits make a double in [0, 1).
  double fraction(TimePoint now) {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t mixed =
        state_ ^ (static_cast<std::uint64_t>(now.time_since_epoch().count()) * 0xd1342543de82ef95ULL);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    mixed ^= mixed >> 31;
    return static_cast<double>(mixed >> 11) * 0x1p-53;
  }

  L inner_;
  double factor_;
  std::uint64_t state_;
};

/// `inner`, plus up to `factor` times its delay. Throws std::invalid_argument unless 0 <= factor <= 1000.
template <class L>
WithJitter<L> with_jitter(L inner, double factor, std::uint64_t seed = 0) {
  return WithJitter<L>(std::move(inner), factor, seed);
}

}  // namespace evenkeel::inline v0
