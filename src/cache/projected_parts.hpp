// SPDX-License-Identifier: Apache-2.0
// The tree of members that a projection selects.
#pragma once

#include <string_view>
#include <vector>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A value of which some members, or all, are selected. Immutable once made; lives until the program ends.
struct ProjectedParts {
  std::string_view name = {};                // in the value that this is a member of; of a table of fields
  bool whole = false;                        // all of it; then there are no members
  std::vector<ProjectedParts> members = {};  // sorted by name

  /// Returns the selection of a member, or null if it is not selected.
  const ProjectedParts* find(std::string_view wanted) const noexcept;
  /// Returns true if all that `other` selects is selected.
  bool covers(const ProjectedParts& other) const noexcept;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
