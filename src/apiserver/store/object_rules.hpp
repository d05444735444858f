// SPDX-License-Identifier: Apache-2.0
// What a write may not touch and what the server itself writes: generation, status, times, identity.
// Source: apiserver pkg/registry/rest/{create,update}.go and the strategies of each kind.
#pragma once

#include <evenkeel/api/json.hpp>

#include "apiserver/store/resource_type.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Removes what a client may not set on create, and sets status and spec as the kind has them at first.
/// Before fields are tracked.
void reset_for_create(Json& object, const ResourceType& type);
/// What appears on create without anybody owning it: finalizers of namespaces. After fields are tracked.
void complete_for_create(Json& object, const ResourceType& type);
/// Does to an update what a real server does after it knows whose fields are whose.
void complete_for_update(Json& object, const ResourceType& type);

/// Puts back what this kind of write may not change: status on writes to the object, all else on writes to
/// status.
void keep_for_update(Json& object, const Json& live, const ResourceType& type, std::string_view subresource);
/// Carries identity and times over from the stored object where a write has none or may not change them.
void keep_system_fields(Json& object, const Json& live);

/// An object that is being deleted stays so.
void keep_deletion(Json& object, const Json& live);

/// The generation after a change from `live` to `object`; 0 where the kind has none.
std::int64_t next_generation(const Json& object, const Json& live, const ResourceType& type);

/// Resource-specific checks that schemas do not express.
FieldErrors check_kind(const Json& object, const Json& live, const ResourceType& type);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
