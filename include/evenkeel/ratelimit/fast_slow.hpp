// SPDX-License-Identifier: Apache-2.0
// A few quick attempts for each key, then slow ones.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>

#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/detail/failure_counts.hpp>

namespace evenkeel {
inline namespace v0 {

struct FastSlowOptions {
  Duration fast = std::chrono::milliseconds{5};  ///< Delay of the first attempts; >= 0.
  Duration slow = std::chrono::seconds{10};      ///< Delay of all later ones; >= 0.
  std::int64_t fast_attempts = 3;                ///< Number of fast attempts; zero or less: none.
};

/// Delay of a key after its n-th failure: fast while n <= fast_attempts, then slow. A key is remembered
/// until forget().
/// Thread safety: one thread at a time.
/// Source: client-go ItemFastSlowRateLimiter; negative delays are refused.
template <class Key>
class FastSlowLimiter {
 public:
  /// Throws std::invalid_argument if a delay is negative.
  explicit FastSlowLimiter(FastSlowOptions options = {}) : options_(options) {
    if (options.fast < Duration::zero() || options.slow < Duration::zero()) {
      throw std::invalid_argument("fast_slow: need fast >= 0 and slow >= 0");
    }
  }

  Duration when(const Key& key, TimePoint /*now*/) {
    const std::uint64_t earlier = failures_.add(key);
    const bool fast =
        options_.fast_attempts > 0 && earlier < static_cast<std::uint64_t>(options_.fast_attempts);
    return fast ? options_.fast : options_.slow;
  }
  void forget(const Key& key) { failures_.forget(key); }
  std::uint64_t retries(const Key& key) const { return failures_.of(key); }
  /// Number of keys that are remembered.
  std::size_t size() const { return failures_.size(); }

 private:
  FastSlowOptions options_;
  detail::FailureCounts<Key> failures_;
};

/// The rule behind fast_slow(): makes a FastSlowLimiter for any key type.
struct FastSlowRule {
  FastSlowOptions options = {};

  template <class Key>
  FastSlowLimiter<Key> limiter() const {
    return FastSlowLimiter<Key>(options);
  }
};

/// Returns a rule with delay `fast` for the first `fast_attempts` failures of each key and `slow` after them.
/// Throws std::invalid_argument if a delay is negative.
inline FastSlowRule fast_slow(Duration fast, Duration slow, std::int64_t fast_attempts) {
  const FastSlowOptions options{.fast = fast, .slow = slow, .fast_attempts = fast_attempts};
  static_cast<void>(FastSlowLimiter<int>(options));  // fail here, not at the first use
  return {.options = options};
}

}  // namespace v0
}  // namespace evenkeel
