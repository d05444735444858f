// SPDX-License-Identifier: Apache-2.0
#include <evenkeel/sharding/slot.hpp>

#include "base/fnv1a.hpp"
#include "sharding/slot_ranges.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

// FNV-1a leaves the high bits of names with a common beginning alike.
std::uint64_t mixed(std::uint64_t state) noexcept {
  state = (state ^ state >> 33U) * 0xff51afd7ed558ccdULL;
  state = (state ^ state >> 33U) * 0xc4ceb9fe1a85ec53ULL;
  return state ^ state >> 33U;
}

__extension__ using Wide = unsigned __int128;

}  // namespace

Slot slot_of(std::string_view namespace_, std::string_view name, std::size_t slots, ShardBy by) noexcept {
  std::uint64_t state = detail::fnv1a(namespace_);
  if (by == ShardBy::namespace_range && detail::has_range(namespace_))
    return static_cast<Slot>(Wide{state} * slots >> 64U);
  if (by == ShardBy::object || namespace_.empty()) state = detail::fnv1a(name, detail::fnv1a("/", state));
  return static_cast<Slot>(mixed(state) % slots);
}

}  // namespace v0
}  // namespace evenkeel
