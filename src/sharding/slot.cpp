// SPDX-License-Identifier: Apache-2.0
#include <evenkeel/sharding/slot.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

constexpr std::uint64_t fnv_prime = 0x100000001b3ULL;

std::uint64_t fnv(std::string_view text, std::uint64_t state) noexcept {
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * fnv_prime;
  return state;
}

// FNV-1a leaves the high bits of names with a common beginning alike.
std::uint64_t mixed(std::uint64_t state) noexcept {
  state = (state ^ state >> 33U) * 0xff51afd7ed558ccdULL;
  state = (state ^ state >> 33U) * 0xc4ceb9fe1a85ec53ULL;
  return state ^ state >> 33U;
}

}  // namespace

Slot slot_of(std::string_view namespace_, std::string_view name, std::size_t slots, ShardBy by) noexcept {
  std::uint64_t state = 0xcbf29ce484222325ULL;
  state = fnv(namespace_, state);
  if (by == ShardBy::object || namespace_.empty()) state = fnv(name, fnv("/", state));
  return static_cast<Slot>(mixed(state) % slots);
}

}  // namespace v0
}  // namespace evenkeel
