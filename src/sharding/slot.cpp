// SPDX-License-Identifier: Apache-2.0
#include <evenkeel/sharding/slot.hpp>

#include "base/cells.hpp"
#include "base/fnv1a.hpp"
#include "sharding/slot_ranges.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

__extension__ using Wide = unsigned __int128;

}  // namespace

Slot slot_of(std::string_view namespace_, std::string_view name, std::size_t slots, ShardBy by) noexcept {
  std::uint64_t state = detail::fnv1a(namespace_);
  if (by == ShardBy::namespace_range && detail::has_range(namespace_))
    return static_cast<Slot>(Wide{state} * slots >> 64U);
  if (by == ShardBy::object || namespace_.empty()) state = detail::fnv1a(name, detail::fnv1a("/", state));
  return static_cast<Slot>(detail::mixed(state) % slots);
}

std::string cell_of(std::string_view namespace_) {
  return detail::cell_name(detail::hash_of(namespace_, NamespaceHash::mixed));
}

}  // namespace v0
}  // namespace evenkeel
