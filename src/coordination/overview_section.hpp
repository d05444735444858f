// SPDX-License-Identifier: Apache-2.0
// An overview as the blocks of a section of the operator's console.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/overview.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

inline constexpr std::size_t most_rows = 100;  ///< In a table; the others are counted.
inline constexpr std::size_t most_cell = 240;  ///< Bytes of a cell, before the sign that it was cut.
inline constexpr std::size_t most_names = 5;   ///< Units that a cell names; the others are counted.
inline constexpr std::size_t most_warnings = 20;

/// Returns `text`, cut to `most` bytes and followed by an ellipsis if it is longer.
std::string shortened(std::string_view text, std::size_t most = most_cell);

/// Returns {"title", "content"} for the lock, instances, sets, claims and the deny list, and for warnings,
/// moves and upgrades if there are any, in the order in which the page shows them. The size is bounded by the
/// constants above, whatever the store has. `wall` is the present time, from which ages are computed.
Json blocks_of(const Overview& overview, WallTime wall);

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
