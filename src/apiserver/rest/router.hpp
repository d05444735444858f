// SPDX-License-Identifier: Apache-2.0
// Dispatches requests to handlers.
#pragma once

#include "apiserver/rest/server.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Never throws because of the request.
Answer route(Server& server, const http::Request& request, WallTime now, const Caller& caller,
             const CacheLag& lag);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
