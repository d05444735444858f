// SPDX-License-Identifier: Apache-2.0
// The limit on a whole queue: so many at once, then so many per second.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>

#include <evenkeel/base/time.hpp>

namespace evenkeel::inline v0 {

struct TokenBucketOptions {
  std::int64_t tokens = 10;                ///< Tokens that come in ...
  Duration per = std::chrono::seconds{1};  ///< ... during this time; both > 0.
  std::int64_t burst = 100;                ///< Tokens that the bucket holds, full at first; >= 1.
};

/// One bucket for all keys: a charge takes a token, and if there is none it waits for the one that it
/// takes in advance, so that charges never bunch up later. Debt has no limit: after 10,000 charges at
/// once the 10,000th of 10 per second, burst 100, waits 990 s, and so does whoever comes next
/// (with_max_delay is the remedy). Exact in integers; a clock that steps back earns nothing.
/// Thread safety: one thread at a time.
/// Source: golang.org/x/time/rate Reserve().Delay() as client-go's BucketRateLimiter uses it, with one
/// clock reading, handed in.
class TokenBucket {
 public:
  /// Throws std::invalid_argument if an option is out of bounds or burst * per passes 2^62 ns.
  explicit TokenBucket(TokenBucketOptions options = {}) {
    if (options.tokens <= 0 || options.per <= Duration::zero() || options.burst <= 0) {
      throw std::invalid_argument("token_bucket: need tokens > 0, per > 0 and burst >= 1");
    }
    const std::int64_t divisor = std::gcd(options.tokens, options.per.count());
    gain_ = options.tokens / divisor;
    price_ = options.per.count() / divisor;
    if (options.burst > limit / price_) {
      throw std::invalid_argument("token_bucket: burst * per is too long");
    }
    full_ = options.burst * price_;
    level_ = full_;
  }

  template <class Key>
  Duration when(const Key& /*key*/, TimePoint now) {
    refill(now);
    level_ = level_ < price_ - limit ? -limit : level_ - price_;
    return level_ >= 0 ? Duration::zero() : Duration{-level_ / gain_};
  }
  template <class Key>
  void forget(const Key& /*key*/) {}
  template <class Key>
  std::uint64_t retries(const Key& /*key*/) const {
    return 0;
  }

 private:
  // The level is counted in units of which a token costs price_ and a nanosecond brings gain_; both are
  // whole numbers, so nothing is ever rounded. limit leaves room for every sum and difference.
  static constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max() / 2;

  void refill(TimePoint now) {
    if (now <= last_) return;
    const std::int64_t elapsed = elapsed_since_last(now);
    last_ = now;
    const std::int64_t missing = full_ - level_;
    level_ = elapsed > missing / gain_ ? full_ : level_ + elapsed * gain_;
  }

  std::int64_t elapsed_since_last(TimePoint now) const {
    const std::int64_t from = last_.time_since_epoch().count();
    const std::int64_t to = now.time_since_epoch().count();
    if (from < 0 && to > std::numeric_limits<std::int64_t>::max() + from) {
      return std::numeric_limits<std::int64_t>::max();
    }
    return to - from;
  }

  std::int64_t gain_ = 1;
  std::int64_t price_ = 1;
  std::int64_t full_ = 0;
  std::int64_t level_ = 0;
  TimePoint last_ = TimePoint::min();  // it starts full, so the time before the first charge is nothing
};

namespace detail {
// Rounds a positive number; <cmath> would be a tenth of the header.
inline std::int64_t nearest(double number) {
  const auto below = static_cast<std::int64_t>(number);
  return number - static_cast<double>(below) < 0.5 ? below : below + 1;
}
}  // namespace detail

/// `tokens` per `per`, `burst` at once. Throws std::invalid_argument as TokenBucket does.
inline TokenBucket token_bucket(std::int64_t tokens, Duration per, std::int64_t burst) {
  return TokenBucket({.tokens = tokens, .per = per, .burst = burst});
}

/// `per_second` tokens per second, `burst` at once. Whole rates are exact; others are rounded to a
/// nanosecond per token, or above 1000 per second to a thousandth of a token per second.
/// Throws std::invalid_argument as TokenBucket does, and if the rate is above 10^9 or below 10^-9.
inline TokenBucket token_bucket(double per_second, std::int64_t burst) {
  if (!(per_second >= 1e-9 && per_second <= 1e9)) {
    throw std::invalid_argument("token_bucket: need 1e-9 <= per_second <= 1e9");
  }
  const auto whole = static_cast<std::int64_t>(per_second);
  if (static_cast<double>(whole) == per_second) return token_bucket(whole, std::chrono::seconds{1}, burst);
  if (per_second < 1000) {
    return token_bucket(1, Duration{detail::nearest(1e9 / per_second)}, burst);
  }
  return token_bucket(detail::nearest(per_second * 1000), std::chrono::seconds{1000}, burst);
}

}  // namespace evenkeel::inline v0
