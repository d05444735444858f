// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/identity.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

// splitmix64: equidistributed over its period, any seed is suitable.
std::uint64_t Identity::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return mixed ^ (mixed >> 31);
}

std::string Identity::uid() {
  static constexpr char hex[] = "0123456789abcdef";
  const std::uint64_t high = (next() & ~0xf000ULL) | 0x4000ULL;
  const std::uint64_t low = (next() & ~(3ULL << 62)) | (1ULL << 63);
  std::string out;
  out.reserve(36);
  for (int digit = 0; digit < 32; ++digit) {
    if (digit == 8 || digit == 12 || digit == 16 || digit == 20) out += '-';
    const std::uint64_t half = digit < 16 ? high : low;
    out += hex[(half >> (60 - 4 * (digit % 16))) & 15];
  }
  return out;
}

std::string Identity::generated_name(std::string_view prefix) {
  static constexpr std::string_view alphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string out(prefix.substr(0, 58));
  for (int i = 0; i < 5; ++i) out += alphabet[next() % alphabet.size()];
  return out;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
