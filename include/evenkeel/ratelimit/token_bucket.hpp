// SPDX-License-Identifier: Apache-2.0
// Token bucket: a limit on a whole queue as a burst and a rate.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

struct TokenBucketOptions {
  std::int64_t tokens = 10;                ///< Tokens added ...
  Duration per = std::chrono::seconds{1};  ///< ... during this time; both > 0.
  std::int64_t burst = 100;                ///< Capacity; the bucket starts full; >= 1.
};

namespace detail {
__extension__ using WideTokens = __int128;  // products of two 64-bit numbers

/// A rate as a ratio of integers.
struct TokenRate {
  std::int64_t tokens;
  Duration per;
};

// Rounds a positive number; <cmath> would be a tenth of the header.
inline std::int64_t nearest(double number) {
  const auto below = static_cast<std::int64_t>(number);
  return number - static_cast<double>(below) < 0.5 ? below : below + 1;
}

inline TokenRate token_rate(double per_second) {
  if (!(per_second >= 1e-9 && per_second <= 1e9)) {
    throw std::invalid_argument("token_bucket: need 1e-9 <= per_second <= 1e9");
  }
  const auto whole = static_cast<std::int64_t>(per_second);
  if (static_cast<double>(whole) == per_second) return {whole, std::chrono::seconds{1}};
  if (per_second < 1000) return {1, Duration{nearest(1e9 / per_second)}};
  return {nearest(per_second * 1000), std::chrono::seconds{1000}};
}
}  // namespace detail

/// One bucket for all keys. A charge takes a token; if there is none it reserves the next one and waits for
/// it, so that charges never bunch up later. Debt is unlimited: with 10 per second and burst 100, the
/// 10,000th of 10,000 simultaneous charges waits 990 s, and so does the next charge (with_max_delay caps
/// that). Exact in integers; a clock that steps back adds no tokens.
///
/// Besides being a limiter it can be used directly: try_take() takes only available tokens, reserve() takes
/// tokens in advance up to a limit. Throttle is the blocking form.
/// Thread safety: one thread at a time.
/// Source: golang.org/x/time/rate Reserve().Delay() as client-go's BucketRateLimiter uses it, but with the
/// time as an argument. There, time that steps back and then forward is credited twice.
class TokenBucket {
 public:
  /// Throws std::invalid_argument if an option is out of bounds or burst * per exceeds 2^62 ns.
  explicit TokenBucket(TokenBucketOptions options = {}) {
    apply(options.tokens, options.per, options.burst);
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

  /// Takes `count` tokens if that many are available; otherwise takes none and returns false. Throws
  /// std::invalid_argument if `count` is negative.
  bool try_take(std::int64_t count, TimePoint now) {
    refuse_negative(count);
    refill(now);
    if (count > whole_tokens(level_)) return false;
    level_ -= count * price_;
    return true;
  }

  /// Takes `count` tokens, in advance if necessary, and returns the time until they are available. Takes none
  /// and returns nullopt if `count` exceeds the capacity or if the wait would exceed `max_wait`. Throws
  /// std::invalid_argument if `count` is negative.
  std::optional<Duration> reserve(std::int64_t count, TimePoint now, Duration max_wait = Duration::max()) {
    refuse_negative(count);
    refill(now);
    if (count > burst()) return std::nullopt;
    const std::int64_t left = level_ < count * price_ - limit ? -limit : level_ - count * price_;
    const Duration wait = left >= 0 ? Duration::zero() : Duration{-left / gain_};
    if (wait > max_wait) return std::nullopt;
    level_ = left;
    return wait;
  }

  /// Returns the time until try_take(count) would succeed, ignoring the capacity, if no other tokens are
  /// taken until then. Throws std::invalid_argument if `count` is negative.
  Duration time_until(std::int64_t count, TimePoint now) const {
    refuse_negative(count);
    if (count > limit / price_) return Duration::max();
    const std::int64_t missing = count * price_ - level_at(now);
    if (missing <= 0) return Duration::zero();
    const Duration wait{missing / gain_ + (missing % gain_ == 0 ? 0 : 1)};
    const TimePoint from = now < last_ ? last_ : now;  // no tokens are added before last_
    return deadline_after(from, wait) - now;
  }

  /// Returns the number of whole tokens in the bucket; negative if some were taken in advance.
  std::int64_t tokens(TimePoint now) const { return whole_tokens(level_at(now)); }

  /// Capacity in tokens.
  std::int64_t burst() const { return full_ / price_; }

  /// Changes the rate from `now` on. Available tokens stay; debt is repaid at the new rate. Throws
  /// std::invalid_argument like the constructor, without changing anything.
  void set_rate(std::int64_t tokens, Duration per, TimePoint now) {
    refill(now);
    const std::int64_t old_price = price_;
    apply(tokens, per, burst());
    level_ = scaled(level_, price_, old_price);
    if (level_ > full_) level_ = full_;
  }
  /// Like the other set_rate, for a rate that need not be whole; rounded like token_bucket(per_second,
  /// burst).
  void set_rate(double per_second, TimePoint now) {
    const detail::TokenRate rate = detail::token_rate(per_second);
    set_rate(rate.tokens, rate.per, now);
  }

  /// Changes the capacity from `now` on; surplus tokens are discarded, missing ones arrive with time. Throws
  /// std::invalid_argument like the constructor, without changing anything.
  void set_burst(std::int64_t burst, TimePoint now) {
    refill(now);
    apply(gain_, Duration{price_}, burst);
    if (level_ > full_) level_ = full_;
  }

 private:
  // The level is counted in units such that a token costs price_ and a nanosecond adds gain_; both are
  // integers, so nothing is ever rounded. limit leaves room for every sum and difference.
  static constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max() / 2;

  static void refuse_negative(std::int64_t count) {
    if (count < 0) throw std::invalid_argument("token_bucket: need count >= 0");
  }

  void apply(std::int64_t tokens, Duration per, std::int64_t burst) {
    if (tokens <= 0 || per <= Duration::zero() || burst <= 0) {
      throw std::invalid_argument("token_bucket: need tokens > 0, per > 0 and burst >= 1");
    }
    const std::int64_t divisor = std::gcd(tokens, per.count());
    const std::int64_t price = per.count() / divisor;
    if (burst > limit / price) throw std::invalid_argument("token_bucket: burst * per is too long");
    gain_ = tokens / divisor;
    price_ = price;
    full_ = burst * price;
  }

  // Rounds down, towards fewer tokens.
  static std::int64_t scaled(std::int64_t level, std::int64_t price, std::int64_t old_price) {
    const detail::WideTokens product = detail::WideTokens{level} * price;
    const detail::WideTokens down = product / old_price - (product % old_price < 0 ? 1 : 0);
    return down < -limit ? -limit : down > limit ? limit : static_cast<std::int64_t>(down);
  }

  std::int64_t whole_tokens(std::int64_t level) const {
    return level / price_ - (level % price_ < 0 ? 1 : 0);
  }

  void refill(TimePoint now) {
    if (now <= last_) return;
    level_ = level_at(now);
    last_ = now;
  }

  std::int64_t level_at(TimePoint now) const {
    if (now <= last_) return level_;
    const std::int64_t elapsed = elapsed_since_last(now);
    const std::int64_t missing = full_ - level_;
    return elapsed > missing / gain_ ? full_ : level_ + elapsed * gain_;
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
  TimePoint last_ = TimePoint::min();  // the bucket starts full, so earlier time does not matter
};

/// Returns a bucket with `tokens` per `per` and a burst of `burst`. Throws std::invalid_argument like
/// TokenBucket.
inline TokenBucket token_bucket(std::int64_t tokens, Duration per, std::int64_t burst) {
  return TokenBucket({.tokens = tokens, .per = per, .burst = burst});
}

/// Returns a bucket with `per_second` tokens per second and a burst of `burst`. Whole rates are exact; others
/// are rounded to a nanosecond per token, or above 1000 per second to a thousandth of a token per second.
/// Throws std::invalid_argument like TokenBucket, and if the rate is above 10^9 or below 10^-9.
inline TokenBucket token_bucket(double per_second, std::int64_t burst) {
  const detail::TokenRate rate = detail::token_rate(per_second);
  return token_bucket(rate.tokens, rate.per, burst);
}

}  // namespace v0
}  // namespace evenkeel
