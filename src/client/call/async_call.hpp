// SPDX-License-Identifier: Apache-2.0
// The asynchronous driver of a CallPlan.
#pragma once

#include <memory>

#include <evenkeel/client/options.hpp>
#include <evenkeel/client/rest_request.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

class ClientState;

/// Starts a request, which keeps itself alive until it has called `done`. Throws std::invalid_argument if the
/// request has no URL.
std::shared_ptr<http::Call> start_call(std::shared_ptr<ClientState> state, const RestRequest& request,
                                       const CallOptions& options, http::Completion done);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
