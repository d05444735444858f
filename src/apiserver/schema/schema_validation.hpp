// SPDX-License-Identifier: Apache-2.0
// Validates an object against its schema, with the field errors of a real API server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The part of a custom resource that a write may change, and that its schema is applied to.
enum class Written : std::uint8_t { everything, status };

/// Custom kinds: all keywords of openAPIV3Schema (types, required, enum, bounds, lengths, pattern, formats,
/// items, uniqueItems, allOf, anyOf, oneOf, not, nullable), duplicates in lists of type set and map, and CEL
/// rules (cel.hpp). Built-in kinds: required fields, enums and list keys of the OpenAPI, plus the rules of
/// builtin_validation.cpp. `old` is the stored object (null on create), needed for CEL transition rules.
/// metadata is not checked, except for embedded resources. Empty = valid. In the order of the schema, as on a
/// real server.
/// Unchanged values cause no errors; violations of rules by them are added to `warnings`, if given.
std::vector<FieldError> validate(const Json& object, const KindSchema& kind, const Json& old = {},
                                 Written written = Written::everything,
                                 std::vector<std::string>* warnings = nullptr);

/// Returns the errors of one value, whose path in an object is `base`; texts do not contain the path.
std::vector<FieldError> validate_value(const Json& value, const Schema& schema, const std::string& base);

/// Returns the first value of an object of a built-in kind whose type is not its field's:
/// `data.k: expected a string, got 5`; empty if there is none. Custom kinds: only metadata, and type and
/// metadata of embedded resources, since a real server decodes nothing else.
std::optional<std::string> decode_error(const Json& object, const KindSchema& kind);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
