// SPDX-License-Identifier: Apache-2.0
// Fields of Services that the API server assigns: addresses, families, node ports.
#pragma once

#include <evenkeel/api/json.hpp>

#include "apiserver/store/store.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Called before validation: keeps old values that an update leaves out, and drops fields that do not apply
/// to the type. `old` is null on create.
/// Source: kubernetes pkg/registry/core/service/strategy.go.
void prepare_service(Json& service, const Json& old);

/// Called after validation: assigns an address of 10.0.0.0/16 and ports from 30000 to 32767 where needed.
/// `services` are the existing ones. Throws StatusError (422) for values that are taken or out of range.
/// Source: kubernetes pkg/registry/core/service/storage/alloc.go.
void allocate_service(const Collection& services, Json& service, const Json& old);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
