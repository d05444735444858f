// SPDX-License-Identifier: Apache-2.0
// What the API server itself writes into Services: addresses, families, ports of nodes.
#pragma once

#include <evenkeel/api/json.hpp>

#include "apiserver/store/store.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Before a Service is checked: what an update leaves out is kept, what its type has no use for goes.
/// `old` is null on create. Source: kubernetes pkg/registry/core/service/strategy.go.
void prepare_service(Json& service, const Json& old);

/// After it is checked: an address of 10.0.0.0/16 and ports from 30000 to 32767 where it needs them.
/// `services` are those that there are. Throws StatusError (422) for what is taken or out of range.
/// Source: kubernetes pkg/registry/core/service/storage/alloc.go.
void allocate_service(const Collection& services, Json& service, const Json& old);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
