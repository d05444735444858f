// SPDX-License-Identifier: Apache-2.0
// What a rate limiter is, and how a rule that knows no key type yet becomes one.
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

/// A rate limiter decides how long a key waits before its next attempt. It is a plain value without a
/// lock; whoever uses it from several threads guards it (a queue does so with its own mutex).
/// - `when(key, now)` charges the limiter once and returns the delay, never negative;
/// - `forget(key)` drops what it remembers of a key (the key succeeded, or was given up);
/// - `retries(key)` says how often the key was charged since, and remembers nothing by being asked.
/// Writing one's own takes these three members and nothing else.
template <class L, class Key>
concept Limiter = detail::LimiterMembers<L, Key> && std::copy_constructible<L>;
// In this order: asked first whether it can be copied, a tuple that holds an AnyLimiter, which takes any
// limiter, makes clang ask without end.

/// A limiter that is written down before the type of its keys is known: exponential(5ms, 1000s), or a
/// combinator of such. `rule.limiter<Key>()` makes the limiter.
template <class R, class Key>
concept LimiterRule = requires(const R& rule) {
  { rule.template limiter<Key>() } -> Limiter<Key>;
};

/// Whatever can limit keys of this type, be it a limiter already or a rule.
template <class L, class Key>
concept LimiterOrRule = Limiter<L, Key> || LimiterRule<L, Key>;

/// The limiter for keys of type Key that `rule` describes; a limiter is returned as it is.
template <class Key, LimiterOrRule<Key> R>
auto limiter_for(R rule) {
  if constexpr (LimiterRule<R, Key>) {
    return rule.template limiter<Key>();
  } else {
    return rule;
  }
}

/// The type that limiter_for returns.
template <class Key, class R>
using LimiterFor = decltype(limiter_for<Key>(std::declval<R>()));

}  // namespace v0
}  // namespace evenkeel
