// SPDX-License-Identifier: Apache-2.0
// A first request to the server, which distinguishes permanent errors from temporary ones.
#pragma once

#include <evenkeel/base/log.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/config.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Throws Error if the server's certificate is not trusted, or if it does not speak TLS where it should:
/// these do not go away by waiting. All other failures (no response, rejected credentials) are only logged,
/// as they may be temporary. `config` is that of the client.
/// Blocks: 10 s at most.
void check_server(const Client& client, const Config& config, const Log& log);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
