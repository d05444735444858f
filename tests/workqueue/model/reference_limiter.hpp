// SPDX-License-Identifier: Apache-2.0
// Straightforward rate limiters: no shifts, no reduced fractions, numbers that cannot overflow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "settings.hpp"

namespace evenkeel::model {

__extension__ using Wide = __int128;

class ReferenceLimiter {
 public:
  explicit ReferenceLimiter(const LimiterSettings& settings)
      : settings_(settings), stock_(Wide{settings.burst} * settings.per) {}

  Nanos when(std::size_t key, Nanos now) {
    Wide delay = 0;
    if (settings_.kind != LimiterKind::bucket) delay = std::max(delay, back_off(key));
    if (settings_.kind != LimiterKind::exponential) delay = std::max(delay, take_token(now));
    return static_cast<Nanos>(delay);
  }
  void forget(std::size_t key) { failures_.erase(key); }
  std::uint64_t retries(std::size_t key) const {
    const auto found = failures_.find(key);
    return found == failures_.end() ? 0 : found->second;
  }

 private:
  // Starts at base and doubles for every earlier failure.
  Wide back_off(std::size_t key) {
    Wide delay = settings_.base;
    const std::uint64_t earlier = failures_[key]++;
    for (std::uint64_t i = 0; i < earlier && delay < settings_.max; ++i) delay *= 2;
    return std::min(delay, Wide{settings_.max});
  }

  // The stock is counted in fractions of a token: `per` of them make one, and every nanosecond adds `tokens`.
  Wide take_token(Nanos now) {
    stock_ = std::min(Wide{settings_.burst} * settings_.per, stock_ + (Wide{now} - last_) * settings_.tokens);
    last_ = now;
    stock_ -= settings_.per;
    return stock_ >= 0 ? Wide{0} : -stock_ / settings_.tokens;
  }

  LimiterSettings settings_;
  std::map<std::size_t, std::uint64_t> failures_;
  Wide stock_;
  Nanos last_ = 0;
};

}  // namespace evenkeel::model
