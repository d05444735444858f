// SPDX-License-Identifier: Apache-2.0
// What updates and applies share in keeping managedFields.
#pragma once

#include <string_view>

#include "apiserver/merge/managed_fields.hpp"
#include "apiserver/merge/managers.hpp"
#include "apiserver/schema/defaults.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// What a new object is compared with: nothing but its kind, and for built-in kinds the zero value of the
/// type.
Json object_before_creation(const KindSchema& kind);

/// Fields that a write through this (sub)resource cannot change, so that its manager never owns them.
FieldSet reset_fields(const KindSchema& kind, std::string_view subresource);
Comparison without_reset_fields(Comparison comparison, const FieldSet& reset);

/// Gives what changed to the writer and takes it from everybody else. Its entry gets the time if it took
/// anything.
void own_changes(Managers& managers, const Comparison& changes, const WriteContext& context,
                 const KindSchema& kind);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
