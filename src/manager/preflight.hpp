// SPDX-License-Identifier: Apache-2.0
// A first look at the server, to tell what waiting cures from what it does not.
#pragma once

#include <evenkeel/base/log.hpp>
#include <evenkeel/client/client.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Throws Error if the server's certificate is not trusted, or it speaks no TLS where it should: no waiting
/// cures that. Anything else (no answer, refused credentials) is only logged: it may pass.
/// Blocks: 10 s at most.
void check_server(const Client& client, const Log& log);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
