// SPDX-License-Identifier: Apache-2.0
// Limiters written as text, so that the users of an operator can change them without recompiling.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/any_limiter.hpp>
#include <evenkeel/ratelimit/default_limiter.hpp>
#include <evenkeel/ratelimit/detail/limiter_parser.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/ratelimit/fast_slow.hpp>
#include <evenkeel/ratelimit/token_bucket.hpp>
#include <evenkeel/ratelimit/with_jitter.hpp>
#include <evenkeel/ratelimit/with_max_delay.hpp>

namespace evenkeel {
inline namespace v0 {

namespace detail {

/// max_of for a number of parts known only at run time.
template <class Key>
class MaxOfMany {
 public:
  explicit MaxOfMany(std::vector<AnyLimiter<Key>> parts) : parts_(std::move(parts)) {}

  Duration when(const Key& key, TimePoint now) {
    Duration longest = Duration::zero();
    for (AnyLimiter<Key>& part : parts_) {
      const Duration delay = part.when(key, now);
      if (delay > longest) longest = delay;
    }
    return longest;
  }
  void forget(const Key& key) {
    for (AnyLimiter<Key>& part : parts_) part.forget(key);
  }
  std::uint64_t retries(const Key& key) const {
    std::uint64_t most = 0;
    for (const AnyLimiter<Key>& part : parts_) {
      const std::uint64_t count = part.retries(key);
      if (count > most) most = count;
    }
    return most;
  }

 private:
  std::vector<AnyLimiter<Key>> parts_;
};

template <class Key>
AnyLimiter<Key> make_limiter(const LimiterNode& node) {
  const auto part = [&] { return make_limiter<Key>(node.parts.front()); };
  switch (node.kind) {
    case LimiterKind::exponential:
      return exponential(node.durations[0], node.durations[1]);
    case LimiterKind::fast_slow:
      return fast_slow(node.durations[0], node.durations[1], node.wholes[0]);
    case LimiterKind::token_bucket:
      return token_bucket(node.reals[0], node.wholes[0]);
    case LimiterKind::token_bucket_per:
      return token_bucket(node.wholes[0], node.durations[0], node.wholes[1]);
    case LimiterKind::with_max_delay:
      return with_max_delay(part(), node.durations[0]);
    case LimiterKind::with_jitter: {
      const std::int64_t seed = node.wholes.empty() ? 0 : node.wholes[0];
      return with_jitter(part(), node.reals[0], static_cast<std::uint64_t>(seed));
    }
    case LimiterKind::max_of: {
      std::vector<AnyLimiter<Key>> parts;
      parts.reserve(node.parts.size());
      for (const LimiterNode& one : node.parts) parts.push_back(make_limiter<Key>(one));
      return MaxOfMany<Key>(std::move(parts));
    }
    case LimiterKind::standard:
      break;
  }
  return default_limiter<Key>();
}

/// Rethrows the error of a limiter's own factory function with the column of that limiter.
inline void check_limiter(const LimiterNode& node) {
  LimiterNode alone{
      .kind = node.kind, .durations = node.durations, .wholes = node.wholes, .reals = node.reals};
  for (const LimiterNode& part : node.parts) {
    check_limiter(part);
    alone.parts.emplace_back();
  }
  try {
    static_cast<void>(make_limiter<int>(alone));
  } catch (const std::invalid_argument& refused) {
    throw std::invalid_argument("limiter, column " + std::to_string(node.column) + ": " + refused.what());
  }
}

}  // namespace detail

/// A composition of limiters in text form, such as
///     max_of(exponential(5ms, 1000s), token_bucket(10, 100))
/// The names and the order of their arguments are those of the functions: exponential(base_delay,
/// max_delay), fast_slow(fast, slow, fast_attempts), token_bucket(per_second, burst) or
/// token_bucket(tokens, per, burst), max_of(limiter, ...), with_max_delay(limiter, max_delay),
/// with_jitter(limiter, factor) or with_jitter(limiter, factor, seed), and default(), which is
/// default_limiter(). Durations are spelled as in Go: 5ms, 1m30s, 1.5h. White space does not matter.
///
/// It is a rule: a queue, max_of() and AnyLimiter accept it as they accept exponential().
/// Thread safety: one thread at a time; concurrent reads are safe.
class LimiterText {
 public:
  /// Throws std::invalid_argument if `text` is not such a composition, or describes a limiter that its own
  /// function refuses; the message names the column, the text found there and what was expected:
  ///     limiter, column 13: found "10", expected a duration such as 5ms or 1m30s (...)
  explicit LimiterText(std::string_view text) {
    detail::LimiterParser parser(text);
    root_ = parser.parse();
    detail::check_limiter(root_);
    text_ = parser.take_text();
  }

  /// The composition as written, with normalized white space, for logs. Parsing it gives an equal object.
  const std::string& text() const { return text_; }

  template <class Key>
  AnyLimiter<Key> limiter() const {
    return detail::make_limiter<Key>(root_);
  }

 private:
  detail::LimiterNode root_ = {};
  std::string text_ = {};
};

/// Returns the limiter for keys of type Key that `text` describes; LimiterText documents the syntax. Throws
/// std::invalid_argument like LimiterText.
template <class Key>
AnyLimiter<Key> parse_limiter(std::string_view text) {
  return LimiterText(text).limiter<Key>();
}

}  // namespace v0
}  // namespace evenkeel
