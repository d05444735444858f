// SPDX-License-Identifier: Apache-2.0
// Common parts of updates and applies in the maintenance of managedFields.
#pragma once

#include <string_view>

#include "apiserver/merge/managed_fields.hpp"
#include "apiserver/merge/managers.hpp"
#include "apiserver/merge/versions.hpp"
#include "apiserver/schema/defaults.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns the object with which a new one is compared: only its kind, and for built-in kinds the zero value
/// of the type.
Json object_before_creation(const KindSchema& kind);

/// Returns the fields that a write through this (sub)resource cannot change, so that its manager never owns
/// them.
FieldSet reset_fields(const KindSchema& kind, std::string_view subresource);
Comparison without_reset_fields(Comparison comparison, const FieldSet& reset);

/// Transfers ownership of changed fields to the writer. Its entry gets the current time if it gained fields.
void own_changes(Managers& managers, VersionedChanges& changes, const WriteContext& context,
                 const KindSchema& kind);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
