// SPDX-License-Identifier: Apache-2.0
// Copies and lists in JSON values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Makes the member `name` of `object` equal to that of `from`; removes it if `from` has none.
inline void copy_member(Json& object, const Json& from, std::string_view name) {
  if (const Json* value = from.find(name))
    object[name] = *value;
  else
    object.erase(name);
}

/// Returns a list of strings.
inline Json json_strings(const std::vector<std::string>& items) {
  Json out = Json::array();
  for (const std::string& item : items) out.push_back(item);
  return out;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
