// SPDX-License-Identifier: Apache-2.0
// Type-erased rate limiter.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/limiter.hpp>

namespace evenkeel {
inline namespace v0 {

/// Holds any limiter or rule for keys of type Key. A copy is an independent limiter with the same state,
/// except that a copy of a shared() limiter still shares it. A moved-from object may only be assigned or
/// destroyed.
/// Thread safety: one thread at a time.
template <class Key>
class AnyLimiter {
 public:
  template <class L>
  requires(!std::same_as<std::remove_cvref_t<L>, AnyLimiter> && LimiterOrRule<L, Key>) AnyLimiter(L limiter)
      : held_(new Held<LimiterFor<Key, L>>(limiter_for<Key>(std::move(limiter)))) {}

  AnyLimiter(const AnyLimiter& other) : held_(other.held_->clone()) {}
  AnyLimiter(AnyLimiter&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  AnyLimiter& operator=(AnyLimiter other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~AnyLimiter() { delete held_; }

  Duration when(const Key& key, TimePoint now) { return held_->when(key, now); }
  void forget(const Key& key) { held_->forget(key); }
  std::uint64_t retries(const Key& key) const { return held_->retries(key); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual Base* clone() const = 0;
    virtual Duration when(const Key& key, TimePoint now) = 0;
    virtual void forget(const Key& key) = 0;
    virtual std::uint64_t retries(const Key& key) const = 0;
  };

  template <class L>
  struct Held final : Base {
    explicit Held(L held) : limiter(std::move(held)) {}
    Base* clone() const override { return new Held(limiter); }
    Duration when(const Key& key, TimePoint now) override { return limiter.when(key, now); }
    void forget(const Key& key) override { limiter.forget(key); }
    std::uint64_t retries(const Key& key) const override {
      return static_cast<std::uint64_t>(limiter.retries(key));
    }
    L limiter;
  };

  Base* held_;  // owned; a raw pointer because <memory> would be a fifth of the header
};

}  // namespace v0
}  // namespace evenkeel
