// SPDX-License-Identifier: Apache-2.0
// Shared by the text of coordctl and the section of the console, which show the same overview.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/overview.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

/// An agreement: its title, and the sets of units that wait for it and that are ready for it.
struct Column {
  std::string title;
  std::string pending;  // empty: there is none
  std::string ready;    // likewise
};

/// Returns the title of the agreement of a set: "Restart" of pendingForRestart and of readyForRestart.
std::string_view title_of(std::string_view set);
/// Returns, in the order of titles, the agreements that the names of the sets form; a set with
/// another name forms one without a ready set.
std::vector<Column> columns_of(const Overview& overview);

/// Returns the time since `at`: "12s"; "-" if it is unknown.
std::string age_text(std::int64_t at, WallTime wall);
std::string age_text(WallTime at, WallTime wall);

/// Returns those of an absent scope or set as zero. The reference is valid as long as `overview`.
const SetFigures& figures_of(const Overview& overview, const std::string& scope, const std::string& set);
/// Returns the instance of a scope; null if it has none.
const Instance* instance_of(const Overview& overview, const std::string& scope);
/// Returns "live", "silent 1m1s", "absent" or "moved to dc2".
std::string presence_text(const Instance* instance);
/// Returns true if live instances do not all act in agreement, and mixed_modes_warning is due.
bool modes_differ(const Overview& overview);
inline constexpr std::string_view mixed_modes_warning =
    "live instances are in different modes and do not all act in agreement";

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
