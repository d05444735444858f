// SPDX-License-Identifier: Apache-2.0
// WebSockets of a client that its transport drives.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <evenkeel/client/options.hpp>
#include <evenkeel/client/rest_request.hpp>
#include <evenkeel/http/web_socket.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

class ClientState;

/// See Client::start_web_socket().
std::shared_ptr<http::WebSocketCall> start_socket(const std::shared_ptr<ClientState>& state,
                                                  const CallOptions& options, const RestRequest& request,
                                                  const std::vector<std::string>& protocols,
                                                  std::shared_ptr<http::WebSocketHandler> handler);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
