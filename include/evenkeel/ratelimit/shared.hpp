// SPDX-License-Identifier: Apache-2.0
// One limiter shared by several queues.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/limiter.hpp>

namespace evenkeel {
inline namespace v0 {

/// A handle to a limiter with its own lock; the only limiter that has one. Copies are handles to the same
/// limiter, so all queues that are given a copy share it.
/// Thread safety: all members may be called concurrently.
template <class L>
class Shared {
 public:
  explicit Shared(L inner) : state_(std::make_shared<State>(std::move(inner))) {}

  template <class Key>
  requires Limiter<L, Key> Duration when(const Key& key, TimePoint now) {
    MutexLock lock(state_->mutex);
    return state_->inner.when(key, now);
  }
  template <class Key>
  requires Limiter<L, Key>
  void forget(const Key& key) {
    MutexLock lock(state_->mutex);
    state_->inner.forget(key);
  }
  template <class Key>
  requires Limiter<L, Key> std::uint64_t retries(const Key& key)
  const {
    MutexLock lock(state_->mutex);
    return static_cast<std::uint64_t>(state_->inner.retries(key));
  }

  /// Returns use(limiter), called under the lock. Use it to change a limit while queues use it, as in
  /// `bucket.with([&](TokenBucket& held) { held.set_rate(5.0, clock.now()); })`.
  template <class Use>
  auto with(Use&& use) {
    MutexLock lock(state_->mutex);
    return std::forward<Use>(use)(state_->inner);
  }

 private:
  struct State {
    explicit State(L limiter) : inner(std::move(limiter)) {}
    Mutex mutex;
    L inner EVENKEEL_GUARDED_BY(mutex);
  };
  std::shared_ptr<State> state_;
};

/// Returns `limiter` for use by several queues at once: shared(token_bucket(10, 100)).
template <class L>
Shared<L> shared(L limiter) {
  return Shared<L>(std::move(limiter));
}

/// Returns a shared limiter for a rule, which needs the key type: shared<RequestKey>(exponential(5ms,
/// 1000s)).
template <class Key, LimiterRule<Key> R>
auto shared(R rule) {
  return Shared<LimiterFor<Key, R>>(limiter_for<Key>(std::move(rule)));
}

}  // namespace v0
}  // namespace evenkeel
