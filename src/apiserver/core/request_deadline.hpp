// SPDX-License-Identifier: Apache-2.0
// The time that a request may spend on webhooks.
#pragma once

#include <optional>

#include <evenkeel/apiserver/api_server_core.hpp>

#include "apiserver/schema/status_error.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns the 504 of a request that needs another call of a webhook although the time of a request is over:
/// 60 s for a read, 34 s for a write, or less if the client says so. A real server tries a write again until
/// then if others change its object whenever the webhook has answered; where the clock stands still, the
/// number of such tries is limited instead. `version` is the last change.
std::optional<StatusError> overdue(const http::Request& request, WebhookProgress& progress, WallTime now,
                                   std::uint64_t version);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
