// SPDX-License-Identifier: Apache-2.0
// The form that CustomResourceDefinitions have after decoding into Go's types and encoding them again.
// Source: apiextensions pkg/apis/apiextensions/v1 types_jsonschema.go and marshal.go.
#pragma once

#include <optional>
#include <string>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Converts the schemas of a definition, at every level: unknown keywords and those with the zero value of
/// their type are removed, and null items are replaced by zero values. Returns the error of the first value
/// that has not the type of its keyword, which stays. Idempotent.
std::optional<std::string> canonicalize_crd(Json& crd);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
