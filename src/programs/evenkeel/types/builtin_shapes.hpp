// SPDX-License-Identifier: Apache-2.0
// Built-in types of Kubernetes, recognised by the shape of a schema.
#pragma once

#include <string_view>

#include <evenkeel/api/json.hpp>

namespace evenkeel::program {

struct BuiltinType {
  std::string_view name = {};    ///< Qualified name in C++: "ek::core_v1::Container".
  std::string_view header = {};  ///< "evenkeel/api/kinds/pods.hpp".
};

/// Returns the built-in type that can hold every value of an object's schema, or null. The schema has the
/// members that tell the type from others, and all its members are members of the type, of the same types.
/// `field` is the name of the schema's field: it decides between types that have the same members.
const BuiltinType* builtin_type_for(const Json& schema, std::string_view field);

/// Returns true if the schema is that of a quantity: an integer or a string with the pattern of quantities.
bool is_quantity(const Json& schema);
/// Returns true if the schema has the pattern of durations.
bool is_duration(const Json& schema);
/// Returns true if the schema's pattern is the one that its type in C++ has in each schema.
bool has_own_pattern(const Json& schema);
/// Likewise for the bounds of an integer or string.
bool has_own_bounds(const Json& schema);

}  // namespace evenkeel::program
