// SPDX-License-Identifier: Apache-2.0
// Objects within custom resources: fields with x-kubernetes-embedded-resource.
#pragma once

#include <cstddef>
#include <string>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Calls `visit` for each embedded resource in a value with its path, outer ones first. `Value` is Json or
/// const Json.
template <class Value, class Visit>
void each_embedded_resource(Value& value, const Schema& schema, const std::string& path, const Visit& visit) {
  if (value.is_array() && schema.items != nullptr) {
    std::size_t index = 0;
    for (auto& item : value.as_array())
      each_embedded_resource(item, *schema.items, path + "[" + std::to_string(index++) + "]", visit);
  }
  if (!value.is_object()) return;
  if (schema.embedded_resource) visit(value, path);
  for (auto& [name, member] : value.as_object()) {
    const Schema* known = schema.member(name);
    if (known == nullptr || !known->type_name.empty()) continue;
    const bool listed = schema.property(name) != nullptr;
    each_embedded_resource(member, *known,
                           !listed        ? path + "[" + name + "]"
                           : path.empty() ? name
                                          : path + "." + name,
                           visit);
  }
}

/// Calls `visit` for each embedded resource in an object of a custom kind.
template <class Value, class Visit>
void each_embedded_resource(Value& object, const KindSchema& kind, const Visit& visit) {
  if (kind.embeds_resources) each_embedded_resource(object, kind.root(), "", visit);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
