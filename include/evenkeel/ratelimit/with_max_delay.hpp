// SPDX-License-Identifier: Apache-2.0
// Cap on the delay of another limiter.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <utility>

#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/limiter.hpp>

namespace evenkeel {
inline namespace v0 {

/// Returns min(inner's delay, max_delay). The inner limiter is still charged in full, so a bucket's debt
/// keeps growing.
/// Thread safety: one thread at a time.
template <class L>
class WithMaxDelay {
 public:
  /// Throws std::invalid_argument if max_delay is negative.
  WithMaxDelay(L inner, Duration max_delay) : inner_(std::move(inner)), max_delay_(max_delay) {
    if (max_delay < Duration::zero()) throw std::invalid_argument("with_max_delay: need max_delay >= 0");
  }

  template <class Key>
  requires Limiter<L, Key> Duration when(const Key& key, TimePoint now) {
    const Duration delay = inner_.when(key, now);
    return delay < max_delay_ ? delay : max_delay_;
  }
  template <class Key>
  requires Limiter<L, Key>
  void forget(const Key& key) { inner_.forget(key); }
  template <class Key>
  requires Limiter<L, Key> std::uint64_t retries(const Key& key)
  const { return static_cast<std::uint64_t>(inner_.retries(key)); }

  template <class Key>
  requires LimiterOrRule<L, Key>
  auto limiter() const { return WithMaxDelay<LimiterFor<Key, L>>(limiter_for<Key>(inner_), max_delay_); }

 private:
  L inner_;
  Duration max_delay_;
};

/// Returns `inner` capped at `max_delay`. Throws std::invalid_argument if max_delay is negative.
template <class L>
WithMaxDelay<L> with_max_delay(L inner, Duration max_delay) {
  return WithMaxDelay<L>(std::move(inner), max_delay);
}

}  // namespace v0
}  // namespace evenkeel
