// SPDX-License-Identifier: Apache-2.0
// Checking an object against its schema, with the field errors a real API server gives.
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

/// What a write may change of a custom resource, and so what its schema is asked about.
enum class Written : std::uint8_t { everything, status };

/// Custom kinds: everything openAPIV3Schema can say (types, required, enum, bounds, lengths, pattern,
/// formats, items, uniqueItems, allOf, anyOf, oneOf, not, nullable), duplicates in lists of type set and map,
/// and CEL rules (cel.hpp). Built-in kinds: required fields, enums and list keys of the OpenAPI, plus the
/// rules of builtin_validation.cpp. `old` is the stored object (null on create); CEL transition rules need
/// it. metadata is not looked at, except for embedded resources. Empty = valid. Order: by schema walk, as the
/// real server.
/// What does not change is not refused; rules that it breaks are told in `warnings`, if given.
std::vector<FieldError> validate(const Json& object, const KindSchema& kind, const Json& old = {},
                                 Written written = Written::everything,
                                 std::vector<std::string>* warnings = nullptr);

/// Errors of one value, whose place in an object is `base`; texts do not name the place.
std::vector<FieldError> validate_value(const Json& value, const Schema& schema, const std::string& base);

/// Why a Go decoder could not read this object of a built-in kind; empty if it could:
/// "json: cannot unmarshal number into Go struct field ConfigMap.data of type string".
/// The full message is `KIND in version "V" cannot be handled as a KIND: ` and this. Custom kinds: only
/// metadata (the real server decodes ObjectMeta only).
std::optional<std::string> decode_error(const Json& object, const KindSchema& kind);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
