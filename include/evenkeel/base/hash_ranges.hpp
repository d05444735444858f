// SPDX-License-Identifier: Apache-2.0
// Sets of 64-bit hashes, and the text by which an API server selects objects by them (KEP-5866).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evenkeel {
inline namespace v0 {

/// Hash of a namespace by which slots and caches are divided.
enum class NamespaceHash : std::uint8_t {
  plain,  ///< FNV-1a, 64 bits, by which servers select (KEP-5866).
  mixed,  ///< That, mixed by MurmurHash3's fmix64, whose first 8 bits are the cell of a label.
};

/// A range that includes both ends.
struct HashRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool contains(std::uint64_t hash) const noexcept { return first <= hash && hash <= last; }
  bool operator==(const HashRange&) const = default;
};

namespace detail {

/// Returns 16 digits after "0x".
inline std::string hash_text(std::uint64_t hash) {
  std::string text = "0x";
  for (unsigned shift = 64; shift > 0;) text += "0123456789abcdef"[hash >> (shift -= 4) & 0xfU];
  return text;
}

/// Returns "shardRange(object.metadata.namespace, '0x0000000000000000', '0x8000000000000000') || ...".
/// Source: apimachinery pkg/sharding/selector.go String.
inline std::string shard_selector(std::string_view field, const std::vector<HashRange>& ranges) {
  std::string text;
  for (const HashRange& range : ranges) {
    const std::string end =
        range.last == ~std::uint64_t{0} ? "0x10000000000000000" : hash_text(range.last + 1);
    text.append(text.empty() ? "" : " || ").append("shardRange(").append(field).append(", '");
    text.append(hash_text(range.first)).append("', '").append(end).append("')");
  }
  return text;
}

}  // namespace detail

/// A set of hashes: sorted, disjoint ranges that do not touch. Thread safety: const members may be called
/// concurrently. Complexity: contains() is logarithmic in the number of ranges, what returns a set is linear
/// (with() and coarse() sort, or look again for each range that they join).
class HashRanges {
 public:
  HashRanges() = default;  ///< No hash.
  /// The union of the ranges, which may overlap; in each, first <= last.
  explicit HashRanges(std::vector<HashRange> ranges) : ranges_(std::move(ranges)) {
    std::sort(ranges_.begin(), ranges_.end(),
              [](const HashRange& left, const HashRange& right) { return left.first < right.first; });
    std::size_t kept = 0;
    for (const HashRange& range : std::vector<HashRange>(ranges_)) {
      const bool touches = kept > 0 && (range.first == 0 || range.first - 1 <= ranges_[kept - 1].last);
      if (touches)
        ranges_[kept - 1].last = std::max(ranges_[kept - 1].last, range.last);
      else
        ranges_[kept++] = range;
    }
    ranges_.resize(kept);
  }
  /// Returns the set of all hashes.
  static HashRanges all() { return HashRanges({{0, ~std::uint64_t{0}}}); }

  bool empty() const noexcept { return ranges_.empty(); }
  bool is_all() const noexcept {
    return ranges_.size() == 1 && ranges_.front() == HashRange{0, ~std::uint64_t{0}};
  }
  const std::vector<HashRange>& ranges() const noexcept { return ranges_; }
  bool contains(std::uint64_t hash) const noexcept {
    const auto after =
        std::upper_bound(ranges_.begin(), ranges_.end(), hash,
                         [](std::uint64_t value, const HashRange& range) { return value < range.first; });
    return after != ranges_.begin() && std::prev(after)->contains(hash);
  }
  /// Returns the union.
  HashRanges with(const HashRanges& other) const {
    std::vector<HashRange> both = ranges_;
    both.insert(both.end(), other.ranges_.begin(), other.ranges_.end());
    return HashRanges(std::move(both));
  }
  /// Returns the difference.
  HashRanges without(const HashRanges& other) const { return within(other.complement()); }
  /// Returns the intersection.
  HashRanges within(const HashRanges& other) const {
    HashRanges common;
    for (auto left = ranges_.begin(), right = other.ranges_.begin();
         left != ranges_.end() && right != other.ranges_.end();) {
      const HashRange range{std::max(left->first, right->first), std::min(left->last, right->last)};
      if (range.first <= range.last) common.ranges_.push_back(range);
      left->last < right->last ? ++left : ++right;
    }
    return common;
  }
  /// Returns the smallest set of at most `most` > 0 ranges that contains this one.
  HashRanges coarse(std::size_t most) const {
    HashRanges result = *this;
    while (result.ranges_.size() > most) {
      auto narrowest = result.ranges_.begin();
      for (auto at = narrowest; std::next(at) != result.ranges_.end(); ++at) {
        if (std::next(at)->first - at->last < std::next(narrowest)->first - narrowest->last) narrowest = at;
      }
      narrowest->last = std::next(narrowest)->last;
      result.ranges_.erase(std::next(narrowest));
    }
    return result;
  }
  /// Returns the shardSelector of the objects whose field has these hashes. Not for an empty set.
  std::string shard_selector(std::string_view field) const { return detail::shard_selector(field, ranges_); }
  bool operator==(const HashRanges&) const = default;

 private:
  HashRanges complement() const {
    HashRanges rest;
    std::uint64_t next = 0;
    for (const HashRange& range : ranges_) {
      if (range.first > next) rest.ranges_.push_back({next, range.first - 1});
      if (range.last == ~std::uint64_t{0}) return rest;
      next = range.last + 1;
    }
    rest.ranges_.push_back({next, ~std::uint64_t{0}});
    return rest;
  }

  std::vector<HashRange> ranges_;
};

}  // namespace v0
}  // namespace evenkeel
