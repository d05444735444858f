// SPDX-License-Identifier: Apache-2.0
// The default rate limiter of queues.
#pragma once

#include <chrono>

#include <evenkeel/ratelimit/any_limiter.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/ratelimit/max_of.hpp>
#include <evenkeel/ratelimit/token_bucket.hpp>

namespace evenkeel {
inline namespace v0 {

/// Returns max_of(exponential(5 ms, 1000 s), token_bucket(10 per second, burst 100)), client-go's default for
/// controllers. Beware of the bucket: after a thousand failures at once the next key to fail waits 90 s,
/// whichever key it is. with_max_delay caps that; exponential alone has no limit across keys.
template <class Key>
AnyLimiter<Key> default_limiter() {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  return max_of(exponential(milliseconds{5}, seconds{1000}), token_bucket(10, 100));
}

}  // namespace v0
}  // namespace evenkeel
