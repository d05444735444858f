// SPDX-License-Identifier: Apache-2.0
// Lists the sets and facts in the store, including those of instances with other sets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

/// Returns the elements immediately below `prefix` (which must end with '/'), in order, with one request for
/// each.
std::vector<std::string> children_of(StoreSnapshot& snapshot, std::string_view prefix);
/// Returns the names of all sets and of the facts: the children of the root, without guards, tokens and
/// records.
std::vector<std::string> tables_of(StoreSnapshot& snapshot, const Layout& layout);

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
