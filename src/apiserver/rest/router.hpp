// SPDX-License-Identifier: Apache-2.0
// Which handler answers a request.
#pragma once

#include "apiserver/rest/server.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Never throws for what the request holds.
Answer route(Server& server, const http::Request& request, WallTime now, const Caller& caller,
             const CacheLag& lag);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
