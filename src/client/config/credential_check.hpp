// SPDX-License-Identifier: Apache-2.0
// Validation of a configuration's credentials before any of them is sent. Shared with floors above.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/client/config.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns why `token` cannot be sent, or "" if it can: "the token holds control byte 0x0d at position 3".
std::string token_problem(std::string_view token);

/// Returns true if there are credentials to send: a token, a password, a client certificate, or a program.
EVENKEEL_API bool has_credentials(const Config& config);

/// Throws ConfigError that names the field ("impersonate.groups[1]") if a credential or an impersonated name
/// cannot be a header value, or if a credential would be sent in clear text although
/// Config::credentials_in_clear is not set.
void check_credentials(const Config& config);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
