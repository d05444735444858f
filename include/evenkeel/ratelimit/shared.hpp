// SPDX-License-Identifier: Apache-2.0
// One limiter for several queues.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/limiter.hpp>

namespace evenkeel {
inline namespace v0 {

/// A handle on a limiter with a lock of its own. Copies are handles on the same limiter, so a queue that
/// is given one shares it with the others that were. The only limiter with a lock.
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

  /// Returns use(limiter), called under the lock: to change a limit while queues use it, as in
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

/// `limiter`, to be used by several queues at once: shared(token_bucket(10, 100)).
template <class L>
Shared<L> shared(L limiter) {
  return Shared<L>(std::move(limiter));
}

/// The same for a rule that needs to know its keys: shared<RequestKey>(exponential(5ms, 1000s)).
template <class Key, LimiterRule<Key> R>
auto shared(R rule) {
  return Shared<LimiterFor<Key, R>>(limiter_for<Key>(std::move(rule)));
}

}  // namespace v0
}  // namespace evenkeel
