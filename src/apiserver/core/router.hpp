// SPDX-License-Identifier: Apache-2.0
// Dispatches requests to handlers.
#pragma once

#include "apiserver/core/server.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The state of a request besides its text.
struct Turn {
  WallTime now = {};
  const Caller& caller;
  const CacheLag& lag;
  const WebhookProgress& webhooks;
};

/// Never throws because of the request, except WebhookNeeded.
Answer route(Server& server, const http::Request& request, const Turn& turn);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
