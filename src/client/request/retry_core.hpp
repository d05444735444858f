// SPDX-License-Identifier: Apache-2.0
// Decides whether and when a call is retried. No clock, and no source of randomness.
#pragma once

#include <cstdint>
#include <optional>

#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/options.hpp>
#include <evenkeel/client/rest_request.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Retry state of one call.
/// Driver:
///  1. calls on_refused() or on_broken() when an attempt has failed;
///  2. waits for the delay that it returns and sends again, or reports the failure if it returns nothing.
/// Thread safety: one thread at a time.
class RetryCore {
 public:
  RetryCore(RetryOptions options, http::Method method, std::uint64_t seed)
      : options_(options), read_(method == http::Method::get), random_(seed) {}

  /// Returns the delay before the next attempt; nullopt: give up.
  std::optional<Duration> on_refused(const Status& status);
  std::optional<Duration> on_broken(TransportErrorCode code);

 private:
  std::optional<Duration> retry_after(Duration delay);
  std::optional<Duration> back_off();

  const RetryOptions options_;
  const bool read_;
  std::uint64_t random_;
  int retries_ = 0;
  int blind_retries_ = 0;
};

/// Returns `delay` changed by up to `share` of it in either direction; advances `random`.
Duration jittered(Duration delay, double share, std::uint64_t& random);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
