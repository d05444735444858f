// SPDX-License-Identifier: Apache-2.0
// The object in a request's body: parsed, checked against the path, and converted to the form of its kind.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/request/call.hpp"
#include "apiserver/request/write_options.hpp"
#include "apiserver/schema/pruning.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Parses the body by its Content-Type (JSON, YAML or protobuf). `kind` is the expected kind, for errors;
/// empty for DeleteOptions, whose errors contain no type. Throws StatusError: 400 for an invalid body, 415
/// for another Content-Type.
Json parse_body(const Call& call, std::string_view kind);

/// Parses JSON or YAML. Throws StatusError (400) like parse_body().
Json parse_text(std::string_view text, std::string_view kind);

/// Returns the object of a create or an update: apiVersion and kind completed and checked, unknown fields
/// reported as requested, pruned, defaulted and in canonical form.
Json object_from_body(Call& call, FieldValidation validation);

/// Reports the errors of strict decoding of `object`, whose text was `text` (may be empty): throws under
/// Strict, adds warnings under Warn.
void check_fields(Call& call, FieldValidation validation, std::string_view text, const Json& object);

/// Returns the message for a document that says it is a known kind, but not the one of the path:
/// `Pod of apiVersion "v1" cannot be handled as a ConfigMap of "v1"`.
std::string unknown_conversion(const ResourceType& type, std::string_view api_version, std::string_view kind);

/// Prunes, defaults and canonicalizes.
void shape(Json& object, const ResourceType& type, Unset unset = Unset::dropped);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
