// SPDX-License-Identifier: Apache-2.0
#include "sharding/slot_ranges.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

#include "base/cells.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::uint64_t largest_hash = ~std::uint64_t{0};

__extension__ using WideHash = unsigned __int128;

/// A place on the way from the first slot to the last, in halves of slots of `hashes` parts.
struct CurvePlace {
  WideHash hash;
  WideHash height;
};

/// Returns the first hash whose height on the line between two places is at least `height`.
WideHash at_height(const CurvePlace& from, const CurvePlace& to, WideHash height) {
  const WideHash rise = to.height - from.height;
  const WideHash width = to.hash - from.hash;
  // Both factors may have 64 bits and more: divides first, then what remains.
  const WideHash steps = height - from.height;
  return from.hash + width / rise * steps + (width % rise * steps + rise - 1) / rise;
}

}  // namespace

SlotRanges::SlotRanges(std::vector<std::uint64_t> starts) : starts_(std::move(starts)) {
  const bool ascend =
      std::adjacent_find(starts_.begin(), starts_.end(), std::greater_equal<>()) == starts_.end();
  if (starts_.empty() || starts_.front() != 0 || !ascend)
    throw std::invalid_argument("the first must be 0, and they must ascend");
}

// The hashes are at the middles of equal parts of the height; the rest is on straight lines between them.
SlotRanges SlotRanges::around(std::vector<std::uint64_t> hashes, std::size_t slots) {
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  const WideHash parts = std::max<std::size_t>(hashes.size(), 1);
  std::vector<CurvePlace> places{{0, 0}};
  for (std::size_t i = 0; i < hashes.size(); ++i)
    places.push_back({hashes[i], (2 * WideHash{i} + 1) * slots});
  places.push_back({WideHash{largest_hash} + 1, 2 * parts * slots});
  SlotRanges result;
  result.starts_ = {0};
  for (std::size_t slot = 1, place = 1; slot < slots; ++slot) {
    const WideHash height = 2 * parts * slot;
    while (places[place].height < height) ++place;
    const auto start = static_cast<std::uint64_t>(at_height(places[place - 1], places[place], height));
    // Neighbours may be closer than there are slots between them.
    const std::uint64_t least =
        result.starts_.back() == largest_hash ? largest_hash : result.starts_.back() + 1;
    result.starts_.push_back(std::max(start, least));
  }
  for (std::uint64_t slot = slots, limit = largest_hash; --slot > 0; limit = result.starts_[slot] - 1)
    result.starts_[slot] = std::min(result.starts_[slot], limit);
  return result;
}

SlotRanges SlotRanges::of_cells(std::size_t slots) {
  if (slots > cell_count) return around({}, slots);
  SlotRanges result;
  for (std::uint64_t slot = 0; slot < slots; ++slot)
    result.starts_.push_back(slot * cell_count / slots << cell_shift);
  return result;
}

HashRange SlotRanges::operator[](Slot slot) const noexcept {
  return {starts_[slot], slot + 1 == starts_.size() ? largest_hash : starts_[slot + 1] - 1};
}

Slot SlotRanges::slot_of(std::uint64_t hash) const noexcept {
  return static_cast<Slot>(std::upper_bound(starts_.begin(), starts_.end(), hash) - starts_.begin() - 1);
}

bool has_range(std::string_view namespace_) noexcept {
  return !namespace_.empty() && namespace_.find(':') == std::string_view::npos;
}

Slot slot_in(const SlotRanges& ranges, std::string_view namespace_, std::string_view name,
             NamespaceHash hash) noexcept {
  if (has_range(namespace_)) return ranges.slot_of(hash_of(namespace_, hash));
  return v0::slot_of(namespace_, name, ranges.size(), ShardBy::namespace_);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
