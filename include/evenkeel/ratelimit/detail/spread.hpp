// SPDX-License-Identifier: Apache-2.0
// Jitter that repeats in virtual time.
#pragma once

#include <cstdint>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the sum of two non-negative delays, saturated at Duration::max().
constexpr Duration sum_of(Duration one, Duration other) {
  return other > Duration::max() - one ? Duration::max() : one + other;
}

/// Random fractions of delays, uniform in [0, factor * delay). The random numbers derive from the seed and
/// from the times passed in: the same calls at the same times give the same numbers.
class Spread {
 public:
  static bool takes(double factor) { return factor >= 0 && factor <= 1000; }

  Spread(double factor, std::uint64_t seed) : factor_(factor), state_(seed) {}

  Duration part_of(Duration delay, TimePoint now) {
    const double part = static_cast<double>(delay.count()) * factor_ * fraction(now);
    if (part >= static_cast<double>(Duration::max().count())) return Duration::max();
    return Duration{static_cast<Duration::rep>(part)};
  }

  double factor() const { return factor_; }
  std::uint64_t state() const { return state_; }

 private:
  // splitmix64, mixed with the time; 53 bits make a double in [0, 1).
  double fraction(TimePoint now) {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t mixed =
        state_ ^ (static_cast<std::uint64_t>(now.time_since_epoch().count()) * 0xd1342543de82ef95ULL);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    mixed ^= mixed >> 31;
    return static_cast<double>(mixed >> 11) * 0x1p-53;
  }

  double factor_;
  std::uint64_t state_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
