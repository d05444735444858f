// SPDX-License-Identifier: Apache-2.0
#include "client/request/retry_core.hpp"

#include <algorithm>

namespace evenkeel {
inline namespace v0 {
namespace detail {

Duration jittered(Duration delay, double share, std::uint64_t& random) {
  // splitmix64
  random += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = random;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  const double unit = static_cast<double>(z >> 11) * 0x1.0p-53;  // [0, 1)
  const double factor = 1.0 + share * (2.0 * unit - 1.0);
  return Duration{static_cast<Duration::rep>(static_cast<double>(delay.count()) * factor)};
}

std::optional<Duration> RetryCore::on_refused(const Status& status) {
  // The server rejected the request before processing it: safe to retry for any method.
  if (status.code == 429) return retry_after(status.retry_after.value_or(options_.default_retry_after));
  if (status.code == 503 && status.retry_after) return retry_after(*status.retry_after);
  // The server may have processed a part of it: safe to retry only for reads.
  if (status.code < 500 || !read_) return std::nullopt;
  return status.retry_after ? retry_after(*status.retry_after) : back_off();
}

std::optional<Duration> RetryCore::on_broken(TransportErrorCode code) {
  if (code != TransportErrorCode::interrupted || !read_) return std::nullopt;
  return back_off();
}

std::optional<Duration> RetryCore::retry_after(Duration delay) {
  if (retries_ >= options_.max_retries) return std::nullopt;
  ++retries_;
  return delay;
}

std::optional<Duration> RetryCore::back_off() {
  if (blind_retries_ >= options_.max_blind_retries) return std::nullopt;
  const auto delay = retry_after(options_.first_delay * (std::int64_t{1} << std::min(blind_retries_, 20)));
  if (!delay) return std::nullopt;
  ++blind_retries_;
  return jittered(*delay, 0.2, random_);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
