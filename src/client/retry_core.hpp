// SPDX-License-Identifier: Apache-2.0
// Decides whether a call may be sent again, and when. No clock, no randomness of its own.
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

/// Thread safety: one thread at a time.
class RetryCore {
 public:
  RetryCore(RetryOptions options, http::Method method, std::uint64_t seed)
      : options_(options), read_(method == http::Method::get), random_(seed) {}

  /// How long to wait before the next try; nothing: give up.
  std::optional<Duration> after(const Status& status);
  std::optional<Duration> after(TransportErrorCode code);

 private:
  std::optional<Duration> told(Duration delay);
  std::optional<Duration> blind();

  const RetryOptions options_;
  const bool read_;
  std::uint64_t random_;
  int retries_ = 0;
  int blind_retries_ = 0;
};

/// `delay` changed by up to `share` of it in either direction; advances `random`.
Duration jittered(Duration delay, double share, std::uint64_t& random);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
