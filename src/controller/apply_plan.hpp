// SPDX-License-Identifier: Apache-2.0
// Decides whether an apply would change anything. Pure. Shared with floors above.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/client/errors.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the name of the annotation in which a field owner records its last apply.
std::string applied_annotation(std::string_view field_owner);
/// Returns the name of the annotation that says of which dependent of a field owner an object is.
std::string dependent_annotation(std::string_view field_owner);
/// Returns the record of an apply: a hash of all that it states except the status, members of the metadata
/// that the server sets, and records. It shows that a field which the program no longer applies has to be
/// removed.
std::string applied_hash(const Json& document);
/// Erases the annotations of all field owners with records of applies.
EVENKEEL_API void erase_apply_records(Json& metadata);
/// Returns true if `current` has every field that `document` applies, with an equal value. Selectors and
/// references to keys must be equal; lists must have equal items in the same order, except in the metadata,
/// where others may have added some.
bool has_applied(const Json& document, const Json& current);
/// Returns true if the server refused a write only because it changes immutable fields.
bool is_immutable(const ApiError& error);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
