// SPDX-License-Identifier: Apache-2.0
#include "sharding/needed_ranges.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

std::optional<HashRanges> NeededRanges::next_needed(const ShardTable& table, const std::string& member,
                                                    const std::vector<bool>& used) {
  if (table.ranges.empty()) return std::nullopt;
  std::vector<HashRange> ranges;
  for (Slot slot = 0; slot < table.slots.size(); ++slot) {
    const bool runs = slot < used.size() && used[slot];
    settled_ = settled_ || runs;
    if (runs || table.slots[slot].next == member) ranges.push_back(table.ranges[slot]);
  }
  HashRanges needed(std::move(ranges));
  if (!settled_) needed = needed.with(needed_);
  if (needed == needed_) return std::nullopt;
  needed_ = std::move(needed);
  return needed_;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
