// SPDX-License-Identifier: Apache-2.0
// Back-off that doubles with every failure of a key.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>

#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/detail/failure_counts.hpp>

namespace evenkeel {
inline namespace v0 {

struct ExponentialOptions {
  Duration base_delay = std::chrono::milliseconds{5};  ///< Delay after the first failure; > 0.
  Duration max_delay = std::chrono::seconds{1000};     ///< Ceiling; >= base_delay.
};

/// Delay of a key after its n-th failure: base_delay * 2^(n-1), at most max_delay, without jitter, exact for
/// every n. A key is remembered until forget().
/// Thread safety: one thread at a time.
/// Source: client-go ItemExponentialFailureRateLimiter, in integers instead of doubles (there a delay of
/// exactly 2^63 ns turns negative); bad options are refused.
template <class Key>
class ExponentialLimiter {
 public:
  /// Throws std::invalid_argument unless 0 < base_delay <= max_delay.
  explicit ExponentialLimiter(ExponentialOptions options = {}) : options_(options) {
    if (options.base_delay <= Duration::zero() || options.max_delay < options.base_delay) {
      throw std::invalid_argument("exponential: need 0 < base_delay <= max_delay");
    }
  }

  Duration when(const Key& key, TimePoint /*now*/) { return delay_after(failures_.add(key)); }
  void forget(const Key& key) { failures_.forget(key); }
  std::uint64_t retries(const Key& key) const { return failures_.of(key); }
  /// Number of keys that are remembered.
  std::size_t size() const { return failures_.size(); }

 private:
  // base * 2^e > max exactly if base > floor(max / 2^e), which cannot overflow.
  Duration delay_after(std::uint64_t earlier) const {
    if (earlier > 62 || options_.base_delay.count() > (options_.max_delay.count() >> earlier)) {
      return options_.max_delay;
    }
    return Duration{options_.base_delay.count() << earlier};
  }

  ExponentialOptions options_;
  detail::FailureCounts<Key> failures_;
};

/// The rule behind exponential(): makes an ExponentialLimiter for any key type.
struct ExponentialRule {
  ExponentialOptions options = {};

  template <class Key>
  ExponentialLimiter<Key> limiter() const {
    return ExponentialLimiter<Key>(options);
  }
};

/// Returns a rule with the delays base_delay, 2 * base_delay, 4 * base_delay, ... up to max_delay, per key.
/// Throws std::invalid_argument unless 0 < base_delay <= max_delay.
inline ExponentialRule exponential(Duration base_delay, Duration max_delay) {
  const ExponentialOptions options{.base_delay = base_delay, .max_delay = max_delay};
  static_cast<void>(ExponentialLimiter<int>(options));  // fail here, not at the first use
  return {.options = options};
}

}  // namespace v0
}  // namespace evenkeel
