// SPDX-License-Identifier: Apache-2.0
// The concept of a rate limiter, and of a rule that makes a limiter for a key type.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

namespace detail {
template <class L, class Key>
concept LimiterMembers = requires(L& limiter, const L& asked, const Key& key, TimePoint now) {
  { limiter.when(key, now) } -> std::same_as<Duration>;
  limiter.forget(key);
  { asked.retries(key) } -> std::convertible_to<std::uint64_t>;
};
}  // namespace detail

/// A rate limiter decides how long a key waits before its next attempt. It is a plain value without a lock;
/// callers on several threads must guard it (a queue uses its own mutex).
/// - `when(key, now)` charges the limiter once and returns the delay, never negative;
/// - `forget(key)` drops the state of a key that succeeded or was given up;
/// - `retries(key)` returns how often the key was charged since then, without creating any state.
///
/// A custom limiter needs these three members only.
template <class L, class Key>
concept Limiter = detail::LimiterMembers<L, Key> && std::copy_constructible<L>;
// The order matters: if copyability were checked first, clang would recurse without end on a tuple that holds
// an AnyLimiter, which converts from any limiter.

/// A limiter whose key type is not yet known: exponential(5ms, 1000s), or a combinator of rules.
/// `rule.limiter<Key>()` makes the limiter.
template <class R, class Key>
concept LimiterRule = requires(const R& rule) {
  { rule.template limiter<Key>() } -> Limiter<Key>;
};

/// A limiter for keys of this type, or a rule that makes one.
template <class L, class Key>
concept LimiterOrRule = Limiter<L, Key> || LimiterRule<L, Key>;

/// Returns the limiter for keys of type Key that `rule` describes; a limiter is returned as it is.
template <class Key, LimiterOrRule<Key> R>
auto limiter_for(R rule) {
  if constexpr (LimiterRule<R, Key>) {
    return rule.template limiter<Key>();
  } else {
    return rule;
  }
}

/// The return type of limiter_for.
template <class Key, class R>
using LimiterFor = decltype(limiter_for<Key>(std::declval<R>()));

}  // namespace v0
}  // namespace evenkeel
