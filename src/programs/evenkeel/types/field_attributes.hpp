// SPDX-License-Identifier: Apache-2.0
// Attributes of a field from its schema: bounds, patterns, list types, rules.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/attributes.hpp>
#include <evenkeel/api/json.hpp>

#include "programs/evenkeel/types/lost_parts.hpp"
#include "programs/evenkeel/types/type_model.hpp"

namespace evenkeel::program {

/// The C++ type for a schema.
struct Value {
  std::string type = {};
  TypeKind kind = TypeKind::json;
  TypeKind item = TypeKind::json;         ///< Kind of the items of a list or map.
  bool is_always_written = false;         ///< A plain member of the type is on the wire whatever its value.
  std::optional<std::size_t> draft = {};  ///< The struct that is made for it; that one has the rules.
};

/// Returns the attributes of a field, "ek::minimum(1)", but those of its presence and name. What has no
/// attribute is added to `lost`. Throws DecodeError, which begins with `where`, for rules that are none.
std::vector<std::string> attributes_of(const Value& value, const Json& schema, const std::string& where,
                                       const std::string& path, LostParts& lost);

/// Returns the validation rules of a schema. Throws as attributes_of().
std::vector<Rule> rules_of(const Json& schema, const std::string& where, const std::string& path,
                           LostParts& lost);

}  // namespace evenkeel::program
