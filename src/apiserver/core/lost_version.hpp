// SPDX-License-Identifier: Apache-2.0
// Requests for a version into which some object of the kind cannot be converted.
#pragma once

#include <string_view>

#include "apiserver/core/server.hpp"
#include "apiserver/request/call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns the answer of a real server to watches, and to most lists, of a version whose objects it cannot
/// read: 429 with the error of the object. `since`: the time at which its watches ended.
StatusError not_ready(const Call& call, const StatusError& error, WallTime since);

/// Checks that the version of a list, a watch or the deletion of a collection is not lost, or finds it again.
/// Throws StatusError (429) and WebhookNeeded.
void require_version(Server& server, Call& call, std::string_view verb);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
