// SPDX-License-Identifier: Apache-2.0
// Ids of runs, which identify the log lines of one run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Generates sixteen hexadecimal digits that are unique with high probability, also across processes; with a
/// seed, the sequence is deterministic.
/// Thread safety: all members may be called concurrently.
class RunIds {
 public:
  explicit RunIds(std::optional<std::uint64_t> seed)
      : state_(seed ? *seed : (std::uint64_t{std::random_device{}()} << 32) | std::random_device{}()) {}
  std::string next() { return text(next_number()); }
  std::uint64_t next_number() {
    // splitmix64
    std::uint64_t z = state_.fetch_add(0x9e3779b97f4a7c15ULL, std::memory_order_relaxed);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  static std::string text(std::uint64_t number) {
    std::string digits(16, '0');
    for (std::size_t i = 16; i-- > 0; number >>= 4) digits[i] = "0123456789abcdef"[number & 15];
    return digits;
  }

 private:
  std::atomic<std::uint64_t> state_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
