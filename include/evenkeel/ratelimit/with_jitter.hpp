// SPDX-License-Identifier: Apache-2.0
// Jitter on the delays of another limiter, so that keys that failed together do not retry together.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <utility>

#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/detail/spread.hpp>
#include <evenkeel/ratelimit/limiter.hpp>

namespace evenkeel {
inline namespace v0 {

/// Adds a random part to inner's delay d: the result is uniform in [d, d + factor * d) and never shorter than
/// d. The random numbers derive from the seed and from the times passed in: a test in virtual time repeats
/// exactly, while running processes differ from each other.
/// Thread safety: one thread at a time.
template <class L>
class WithJitter {
 public:
  /// Throws std::invalid_argument unless 0 <= factor <= 1000.
  WithJitter(L inner, double factor, std::uint64_t seed) : inner_(std::move(inner)), spread_(factor, seed) {
    if (!detail::Spread::takes(factor)) throw std::invalid_argument("with_jitter: need 0 <= factor <= 1000");
  }

  template <class Key>
  requires Limiter<L, Key> Duration when(const Key& key, TimePoint now) {
    const Duration delay = inner_.when(key, now);
    return detail::sum_of(delay, spread_.part_of(delay, now));
  }
  template <class Key>
  requires Limiter<L, Key>
  void forget(const Key& key) { inner_.forget(key); }
  template <class Key>
  requires Limiter<L, Key> std::uint64_t retries(const Key& key)
  const { return static_cast<std::uint64_t>(inner_.retries(key)); }

  template <class Key>
  requires LimiterOrRule<L, Key>
  auto limiter() const {
    return WithJitter<LimiterFor<Key, L>>(limiter_for<Key>(inner_), spread_.factor(), spread_.state());
  }

 private:
  L inner_;
  detail::Spread spread_;
};

/// Returns `inner` with up to `factor` times its delay added. Throws std::invalid_argument unless 0 <= factor
/// <= 1000.
template <class L>
WithJitter<L> with_jitter(L inner, double factor, std::uint64_t seed = 0) {
  return WithJitter<L>(std::move(inner), factor, seed);
}

}  // namespace v0
}  // namespace evenkeel
