// SPDX-License-Identifier: Apache-2.0
// Ranges of 64-bit hashes, and the text by which an API server selects objects by them (KEP-5866).
// Shared with floors above.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A range that includes both ends.
struct HashRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool contains(std::uint64_t hash) const noexcept { return first <= hash && hash <= last; }
  bool operator==(const HashRange&) const = default;
};

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
}  // namespace v0
}  // namespace evenkeel
