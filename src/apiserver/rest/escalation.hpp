// SPDX-License-Identifier: Apache-2.0
// Nobody grants rights that they do not hold: the checks of writes to roles and bindings.
// Source: kubernetes pkg/registry/rbac/*/policybased/storage.go.
#pragma once

#include <evenkeel/api/json.hpp>

#include "apiserver/request/call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Checks a write of a role or binding; other kinds pass. `live` is null on a create. Throws StatusError:
/// 403, or 404 if the role of a binding does not exist.
void check_escalation(const Call& call, const Json& object, const Json& live);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
