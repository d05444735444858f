// SPDX-License-Identifier: Apache-2.0
// The object in a request's body: read, checked against the path, and brought into the shape of its kind.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/rest/call.hpp"
#include "apiserver/rest/write_options.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The body as a document, by its Content-Type (JSON, YAML or protobuf). `kind` is what it should be, for
/// errors; empty for DeleteOptions, whose refusals name no type.
/// Throws StatusError: 400 for what cannot be read, 415 for another Content-Type.
Json parse_body(const Call& call, std::string_view kind);

/// JSON or YAML of the given text. Throws StatusError (400) as parse_body() does.
Json parse_text(std::string_view text, std::string_view kind);

/// The object of a create or an update: apiVersion and kind filled in and checked, unknown fields reported
/// as asked for, pruned, defaulted and in canonical form.
Json object_from_body(Call& call, FieldValidation validation);

/// Reports what strict decoding finds in `object`, whose text was `text` (may be empty): throws under
/// Strict, adds warnings under Warn. `prefix` goes before the error's text.
void check_fields(Call& call, FieldValidation validation, std::string_view text, const Json& object);

/// "converting (v1.Pod) to (core.ConfigMap): unknown conversion": a document that says it is a known kind,
/// but not the one of the path.
std::string unknown_conversion(const ResourceType& type, std::string_view version, std::string_view kind);

/// What decoding a document that is no object fails with.
std::string no_object(const Json& document);

/// Prunes, defaults and canonicalizes.
void shape(Json& object, const ResourceType& type);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
