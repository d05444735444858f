// SPDX-License-Identifier: Apache-2.0
// Combination of several limiters; the strictest decides.
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>
#include <utility>

#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/limiter.hpp>

namespace evenkeel {
inline namespace v0 {

/// Charges every part and returns the longest delay; retries() is the maximum over the parts. It is a limiter
/// if all parts are limiters, and a rule if all parts can become limiters.
/// Thread safety: one thread at a time.
template <class... Parts>
class MaxOf {
 public:
  explicit MaxOf(Parts... parts) : parts_(std::move(parts)...) {}

  template <class Key>
  requires(Limiter<Parts, Key>&&...) Duration when(const Key& key, TimePoint now) {
    Duration longest = Duration::zero();
    const auto charge = [&](auto& part) {
      const Duration delay = part.when(key, now);
      if (delay > longest) longest = delay;
    };
    std::apply([&](auto&... part) { (charge(part), ...); }, parts_);
    return longest;
  }

  template <class Key>
  requires(Limiter<Parts, Key>&&...) void forget(const Key& key) {
    std::apply([&](auto&... part) { (part.forget(key), ...); }, parts_);
  }

  template <class Key>
  requires(Limiter<Parts, Key>&&...) std::uint64_t retries(const Key& key)
  const {
    std::uint64_t most = 0;
    const auto ask = [&](const auto& part) {
      const auto count = static_cast<std::uint64_t>(part.retries(key));
      if (count > most) most = count;
    };
    std::apply([&](const auto&... part) { (ask(part), ...); }, parts_);
    return most;
  }

  template <class Key>
  requires(LimiterOrRule<Parts, Key>&&...) auto limiter() const {
    return std::apply(
        [](const Parts&... part) { return MaxOf<LimiterFor<Key, Parts>...>(limiter_for<Key>(part)...); },
        parts_);
  }

 private:
  std::tuple<Parts...> parts_;
};

/// Returns a limiter whose delay is the longest of all `parts`, each of which is charged.
template <class... Parts>
MaxOf<Parts...> max_of(Parts... parts) {
  static_assert(sizeof...(Parts) > 0, "max_of needs at least one limiter");
  return MaxOf<Parts...>(std::move(parts)...);
}

}  // namespace v0
}  // namespace evenkeel
