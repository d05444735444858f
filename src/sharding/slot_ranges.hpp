// SPDX-License-Identifier: Apache-2.0
// The ranges of hashes that are the slots of a ring which divides by ShardBy::namespace_range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <evenkeel/base/hash_ranges.hpp>
#include <evenkeel/sharding/slot.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The first hash of each slot; the first of them is 0, and they ascend. Each slot ends before the next one
/// begins, the last one with the largest hash.
class SlotRanges {
 public:
  SlotRanges() = default;  ///< No slots.
  /// Throws std::invalid_argument if `starts` does not begin with 0, or does not ascend.
  explicit SlotRanges(std::vector<std::uint64_t> starts);
  /// Divides all hashes into `slots` > 0 ranges with equal numbers of `hashes`, or equal parts of them; into
  /// equal ranges if there are none. FNV-1a hardly changes the high bits for names with a common beginning,
  /// such as team-0 to team-99, so that equal ranges would put almost all of them into one slot.
  static SlotRanges around(std::vector<std::uint64_t> hashes, std::size_t slots);
  /// Divides all mixed hashes into `slots` > 0 ranges of whole cells, with at most one cell of difference;
  /// into equal ranges if there are more slots than cells.
  static SlotRanges of_cells(std::size_t slots);

  std::size_t size() const noexcept { return starts_.size(); }
  bool empty() const noexcept { return starts_.empty(); }
  const std::vector<std::uint64_t>& starts() const noexcept { return starts_; }
  HashRange operator[](Slot slot) const noexcept;
  /// Returns the slot of a hash. Not without slots.
  Slot slot_of(std::uint64_t hash) const noexcept;
  bool operator==(const SlotRanges&) const = default;

 private:
  std::vector<std::uint64_t> starts_;
};

/// Returns true if the keys of a namespace are in the slot of its hash. Others are mixed: those of
/// cluster-scoped objects, whose namespace is empty, and those of engaged clusters, which have a colon.
bool has_range(std::string_view namespace_) noexcept;

/// Returns the slot of a key in a ring; `ranges` are those of ShardBy::namespace_range, and of this hash.
Slot slot_in(const SlotRanges& ranges, std::string_view namespace_, std::string_view name,
             NamespaceHash hash = NamespaceHash::plain) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
