// SPDX-License-Identifier: Apache-2.0
// The sets of a domain and their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// The name of the set of the units that need `action`, and of the set of those that are prepared for it:
/// "restart" gives "pendingForRestart" and "readyForRestart", as in the FoundationDB operator's design. Both
/// throw std::invalid_argument if `action` is empty.
EVENKEEL_API std::string pending_set(std::string_view action);
EVENKEEL_API std::string ready_set(std::string_view action);
/// The name of the table of the summaries of both sets: "summaryForRestart". Throws as pending_set().
EVENKEEL_API std::string summary_table(std::string_view action);

/// The beginning of every summary_table().
inline constexpr std::string_view summary_table_prefix = "summaryFor";

/// The table of the facts (addresses) of units. It is not a set, but it is stored, diffed and guarded like
/// one.
inline constexpr std::string_view facts_table = "processAddresses";

/// The shared system that instances coordinate about, for instance one database.
struct Domain {
  /// Prefix of all keys, see Layout.
  std::string root = {};
  /// Actions that need agreement; each has a pending and a ready set: "exclusion", "inclusion", "restart".
  std::vector<std::string> actions = {};
  /// States that are only announced to the other instances; each has a pending set: "removal".
  std::vector<std::string> marks = {};

  /// Returns the names of all sets, sorted. Throws std::invalid_argument if a name is empty or appears twice.
  EVENKEEL_API std::vector<std::string> sets() const;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
