// SPDX-License-Identifier: Apache-2.0
// Fields that a write must not change, and fields that the server sets: generation, status, times, identity.
// Source: apiserver pkg/registry/rest/{create,update}.go and the strategies of each kind.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/store/resource_type.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Removes fields that a client must not set on create, and sets the initial status and spec of the kind.
/// Called before fields are tracked.
void reset_for_create(Json& object, const ResourceType& type);
/// Sets fields without an owner on create: finalizers of namespaces. Called after fields are tracked.
void complete_for_create(Json& object, const ResourceType& type);
/// Completes an update as a real server does after fields are tracked.
void complete_for_update(Json& object, const ResourceType& type);

/// Restores the parts that this kind of write must not change: status on writes to the object, all else on
/// writes to status.
void keep_for_update(Json& object, const Json& live, const ResourceType& type, std::string_view subresource);
/// Copies identity and times from the stored object where a write has none or must not change them.
void keep_system_fields(Json& object, const Json& live);

/// Preserves the deletion timestamp of an object that is being deleted.
void keep_deletion(Json& object, const Json& live);

/// Returns the generation after a change from `live` to `object`; 0 if the kind has none.
std::int64_t next_generation(const Json& object, const Json& live, const ResourceType& type);

/// Returns the resource-specific warnings for a valid object; `live` is null on a create.
std::vector<std::string> kind_warnings(const Json& object, const Json& live, const ResourceType& type);

/// Performs resource-specific checks that schemas cannot express.
FieldErrors check_kind(const Json& object, const Json& live, const ResourceType& type);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
