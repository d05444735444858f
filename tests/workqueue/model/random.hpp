// SPDX-License-Identifier: Apache-2.0
// Random numbers that are equal with every standard library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace evenkeel::model {

/// splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
  }

  /// Returns a number from 0 to `count` - 1.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }
  /// Returns a number from `from` to `to`, inclusive.
  std::int64_t between(std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(to - from + 1));
  }
  /// Returns true once in `count` times on average.
  bool once_in(std::size_t count) { return below(count) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace evenkeel::model
