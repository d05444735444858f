// SPDX-License-Identifier: Apache-2.0
// Cells: 256 equal parts of the hashes of namespaces, as the values of a label. A selector by that label
// selects objects by the hashes of their namespaces where a server cannot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <evenkeel/base/hash_ranges.hpp>

#include "base/fnv1a.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

constexpr std::size_t cell_count = 256;
constexpr unsigned cell_shift = 56;  ///< Bits of a hash below those of the cell.

/// Mixes all bits of a hash: FNV-1a leaves the high bits of names with a common beginning alike.
/// Source: MurmurHash3's fmix64.
constexpr std::uint64_t mixed(std::uint64_t hash) noexcept {
  hash = (hash ^ hash >> 33U) * 0xff51afd7ed558ccdULL;
  hash = (hash ^ hash >> 33U) * 0xc4ceb9fe1a85ec53ULL;
  return hash ^ hash >> 33U;
}

constexpr std::uint64_t hash_of(std::string_view namespace_, NamespaceHash hash) noexcept {
  const std::uint64_t plain = fnv1a(namespace_);
  return hash == NamespaceHash::mixed ? mixed(plain) : plain;
}

/// Returns the value of the label for a mixed hash: two hexadecimal digits.
inline std::string cell_name(std::uint64_t hash) {
  return hash_text(hash).substr(2, 2);
}

/// Returns true if a label has a value that cell_name() returns for some hash.
constexpr bool is_cell(std::string_view value) noexcept {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return value.size() == 2 && is_digit(value[0]) && is_digit(value[1]);
}

/// Returns the selector of the objects whose label has a cell with hashes in `ranges`, and of those whose
/// label is missing or is not a cell; empty if that is all cells. `notin` selects both: no object is lost
/// because it has not been labelled yet.
inline std::string cell_selector(std::string_view label, const HashRanges& ranges) {
  std::string others;
  for (std::uint64_t cell = 0; cell < cell_count; ++cell) {
    const std::uint64_t first = cell << cell_shift;
    const HashRanges part({{first, first + ((std::uint64_t{1} << cell_shift) - 1)}});
    if (!part.within(ranges).empty()) continue;
    others.append(others.empty() ? "" : ",").append(cell_name(first));
  }
  return others.empty() ? others : std::string(label) + " notin (" + others + ")";
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
