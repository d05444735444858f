// SPDX-License-Identifier: Apache-2.0
// Streams of a client, with its credentials.
#pragma once

#include <memory>

#include <evenkeel/client/options.hpp>
#include <evenkeel/client/rest_request.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

class ClientState;

/// Opens a stream. Waits for credentials on the calling thread, unless the client has an event loop: then
/// they are got elsewhere, and if that fails, `handler` gets the error as the end. After a first 401 the
/// request is sent again if there are other credentials. Throws as Client::stream().
std::shared_ptr<http::Call> open_stream(const std::shared_ptr<ClientState>& state, const CallOptions& options,
                                        const RestRequest& request,
                                        std::shared_ptr<http::StreamHandler> handler);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
