// SPDX-License-Identifier: Apache-2.0
// A blocking token bucket, for calls that must not be made too often by all threads together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/token_bucket.hpp>

namespace evenkeel {
inline namespace v0 {

/// Lets callers pass at the rate of a token bucket. Blocked callers are served in order of arrival and take
/// their tokens when they are available, never in advance: a caller that gives up costs the others nothing,
/// and a new rate also applies to those already waiting.
/// Thread safety: all members may be called concurrently. Lifetime: outlives every call of a member.
/// Source: client-go util/flowcontrol tokenBucketRateLimiter and golang.org/x/time/rate Wait, which reserve
/// tokens instead and return them when the caller gives up.
class Throttle {
 public:
  /// Without a bucket no call blocks. `clock` is real_clock() if null.
  explicit Throttle(std::optional<TokenBucket> bucket, std::shared_ptr<const Clock> clock = nullptr)
      : clock_(clock ? std::move(clock) : std::shared_ptr<const Clock>(real_clock())), bucket_(bucket) {}
  Throttle(const Throttle&) = delete;
  Throttle& operator=(const Throttle&) = delete;

  /// Takes `count` tokens if they are available and no other caller waits; otherwise takes none and returns
  /// false. Throws std::invalid_argument if `count` is negative.
  bool try_take(std::int64_t count = 1) EVENKEEL_EXCLUDES(mutex_) {
    refuse_negative(count);
    MutexLock lock(mutex_);
    if (!bucket_) return true;
    return waiters_.empty() && bucket_->try_take(count, clock_->now());
  }

  /// Blocks until it has taken `count` tokens. Returns false, with none taken, if `stop` is requested;
  /// immediately if the tokens cannot be available within `at_most`, or ever; and when a rate lowered during
  /// the wait makes it exceed `at_most`. Throws std::invalid_argument if `count` is negative.
  bool wait(std::int64_t count = 1, const std::stop_token& stop = {}, Duration at_most = Duration::max())
      EVENKEEL_EXCLUDES(mutex_) {
    refuse_negative(count);
    Waiter self{.count = count};
    const StopWaker waker(stop, mutex_, self.turn);
    MutexLock lock(mutex_);
    if (stop.stop_requested()) return false;
    if (!bucket_) return true;
    const TimePoint now = clock_->now();
    if (waiters_.empty() && bucket_->try_take(count, now)) return true;
    if (count > bucket_->burst() || time_until(waiters_.size(), count, now) > at_most) return false;
    waiters_.push_back(&self);
    const bool taken = wait_in_line(self, stop, deadline_after(now, at_most), lock);
    std::erase(waiters_, &self);
    wake_first();
    return taken;
  }

  /// Changes the rate, also for waiting callers; has no effect on a throttle without a bucket. Throws
  /// std::invalid_argument like TokenBucket::set_rate.
  void set_rate(double per_second) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (bucket_) bucket_->set_rate(per_second, clock_->now());
    wake_first();
  }

  /// Returns how long wait(count) called now would block if no caller gives up and the rate does not change;
  /// Duration::max() if it would fail. Throws std::invalid_argument if `count` is negative.
  Duration time_until(std::int64_t count = 1) const EVENKEEL_EXCLUDES(mutex_) {
    refuse_negative(count);
    MutexLock lock(mutex_);
    if (!bucket_) return Duration::zero();
    if (count > bucket_->burst()) return Duration::max();
    return time_until(waiters_.size(), count, clock_->now());
  }

  /// Number of threads that wait.
  std::size_t waiting() const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return waiters_.size();
  }

 private:
  struct Waiter {
    std::int64_t count;
    CondVar turn = {};
  };

  static void refuse_negative(std::int64_t count) {
    if (count < 0) throw std::invalid_argument("throttle: need count >= 0");
  }

  // Returns the wait of a caller behind the first `ahead` in line.
  Duration time_until(std::size_t ahead, std::int64_t count, TimePoint now) const EVENKEEL_REQUIRES(mutex_) {
    std::int64_t sum = count;
    for (std::size_t i = 0; i < ahead; ++i) {
      if (waiters_[i]->count > std::numeric_limits<std::int64_t>::max() - sum) return Duration::max();
      sum += waiters_[i]->count;
    }
    return bucket_->time_until(sum, now);
  }

  void wake_first() EVENKEEL_REQUIRES(mutex_) {
    if (!waiters_.empty()) waiters_.front()->turn.notify_one();
  }

  // The first in line waits for its tokens, the others for their turn; none past the deadline.
  bool wait_in_line(Waiter& self, const std::stop_token& stop, TimePoint deadline, MutexLock& lock)
      EVENKEEL_REQUIRES(mutex_) {
    while (!stop.stop_requested()) {
      const TimePoint now = clock_->now();
      const bool first = waiters_.front() == &self;
      if (first && bucket_->try_take(self.count, now)) return true;
      if (now >= deadline) return false;
      const TimePoint there =
          first ? deadline_after(now, bucket_->time_until(self.count, now)) : TimePoint::max();
      clock_->wait_until(self.turn, lock, there < deadline ? there : deadline);
    }
    return false;
  }

  const std::shared_ptr<const Clock> clock_;
  mutable Mutex mutex_;
  std::optional<TokenBucket> bucket_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<Waiter*> waiters_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace v0
}  // namespace evenkeel
