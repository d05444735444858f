// SPDX-License-Identifier: Apache-2.0
// The asynchronous driver of a CallCore.
#pragma once

#include <exception>
#include <functional>
#include <memory>

#include <evenkeel/client/call.hpp>
#include <evenkeel/client/options.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

class ClientState;

/// Sends the requests of `core` one after the other. `done` gets the error, or null when the answer can be
/// taken.
std::shared_ptr<http::Call> start_flow(std::shared_ptr<ClientState> state, const CallOptions& options,
                                       std::shared_ptr<CallCore> core,
                                       std::function<void(const std::exception_ptr&)> done);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
