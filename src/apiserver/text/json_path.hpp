// SPDX-License-Identifier: Apache-2.0
// The JSONPath of printer columns and selectable fields: ".spec.size",
// ".status.conditions[?(@.type=='Ready')].status".
#pragma once

#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns the values that the path selects in `document`, in document order; empty if there are none or the
/// path is invalid. Supports members, ['members'], [indexes] (negative from the end), [from:to], [*],
/// [?(@.member OP literal)] and [?(@.member)].
/// Lifetime: the pointers are into `document`.
std::vector<const Json*> find_path(const Json& document, std::string_view path);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
