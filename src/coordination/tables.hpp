// SPDX-License-Identifier: Apache-2.0
// Which sets and facts there are in the store, whatever the instances that wrote them call theirs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

/// The elements that stand next below `prefix` (which ends with '/'), in order, read one by one: as many
/// requests as there are.
std::vector<std::string> children_of(StoreSnapshot& snapshot, std::string_view prefix);
/// The names of all sets and of the facts: what stands below the root and is of scopes, less the guards,
/// tokens and records.
std::vector<std::string> tables_of(StoreSnapshot& snapshot, const Layout& layout);

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
