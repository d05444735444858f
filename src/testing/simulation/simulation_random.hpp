// SPDX-License-Identifier: Apache-2.0
// The random numbers of a simulation: the same with each compiler and standard library.
#pragma once

#include <cstddef>
#include <cstdint>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// splitmix64. Thread safety: one thread at a time.
class SimulationRandom {
 public:
  explicit SimulationRandom(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15ULL);
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31U);
  }
  /// Returns a number of [0, 1).
  double fraction() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
  /// Returns true with this probability. Draws a number only if it is above 0.
  bool hits(double probability) { return probability > 0 && fraction() < probability; }
  /// Returns a number below `limit`, which is not 0.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }
  Duration between(Duration least, Duration most) {
    if (most <= least) return least;
    return least +
           Duration(static_cast<Duration::rep>(static_cast<double>((most - least).count()) * fraction()));
  }
  /// Returns a generator whose numbers do not depend on what else is drawn from this one.
  SimulationRandom split() { return SimulationRandom(next()); }

 private:
  std::uint64_t state_;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
