// SPDX-License-Identifier: Apache-2.0
// A limit of the requests that a process sends.
#pragma once

#include <optional>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/token_bucket.hpp>

namespace evenkeel {
inline namespace v0 {

/// A token bucket that the requests of clients wait for; see ClientOptions::flow_control. Clients that are
/// given the same one share its rate. Requests pass in the order in which they ask. A call that ends while it
/// waits has used its token.
/// Thread safety: all members may be called concurrently.
/// Source: client-go rest.Config QPS and Burst, which are on by default.
class EVENKEEL_API FlowControl {
 public:
  explicit FlowControl(TokenBucket bucket) : bucket_(bucket) {}

  /// Takes a token and returns the time until it is available; takes none and returns nullopt if that exceeds
  /// `at_most`.
  std::optional<Duration> reserve(TimePoint now, Duration at_most) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return bucket_.reserve(1, now, at_most);
  }
  /// Changes the rate from `now` on; see TokenBucket::set_rate().
  void set_rate(double per_second, TimePoint now) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    bucket_.set_rate(per_second, now);
  }

 private:
  Mutex mutex_;
  TokenBucket bucket_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace v0
}  // namespace evenkeel
