// SPDX-License-Identifier: Apache-2.0
// Values at paths of members, in documents and in their text.
#pragma once

#include <string_view>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns the value at a path such as ".spec.replicas" or "spec.replicas"; null if it does not exist.
const Json& value_at(const Json& document, std::string_view path);

/// Returns value_at() of the document whose members, without the braces, are `members`. Parses the value
/// only. `members` is the output of Json::dump(): valid, without spaces, sorted by name. Complexity: linear
/// in the size of the members before the value.
Json value_in_text(std::string_view members, std::string_view path);
/// Returns the value of member `name`, which may contain dots.
Json member_in_text(std::string_view members, std::string_view name);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
