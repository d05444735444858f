// SPDX-License-Identifier: Apache-2.0
// Which sets there are, and their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// The set of the units that need `action`, and the one of those that are prepared for it: "restart" gives
/// "pendingForRestart" and "readyForRestart", as in the FoundationDB operator's design. Throw
/// std::invalid_argument for an empty one.
EVENKEEL_API std::string pending_set(std::string_view action);
EVENKEEL_API std::string ready_set(std::string_view action);

/// The table of what is known of units (their addresses): no set, but kept, diffed and guarded like one.
inline constexpr std::string_view facts_table = "processAddresses";

/// The shared system that instances coordinate about, for instance one database.
struct Domain {
  /// Of all keys, see Layout.
  std::string root = {};
  /// What needs agreement; each has a pending and a ready set: "exclusion", "inclusion", "restart".
  std::vector<std::string> actions = {};
  /// What only everybody is to know; each has a pending set: "removal".
  std::vector<std::string> marks = {};

  /// The names of all sets, in order. Throws std::invalid_argument if one has no name or is there twice.
  EVENKEEL_API std::vector<std::string> sets() const;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
