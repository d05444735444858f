// SPDX-License-Identifier: Apache-2.0
// Rules for sending credentials to a server: not over plain http, unless they stay on this machine.
// Shared with floors above.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Returns true for "localhost", addresses in 127.0.0.0/8, "::1" (also in brackets) and IPv4-mapped forms of
/// these. Names are compared as a whole, so "127.evil.example" is not one of them.
EVENKEEL_API bool is_loopback(std::string_view host);

/// Returns true if data sent to `url` can be read on the network: its scheme is http and its host is not this
/// machine. Returns false for anything libcurl does not accept as a URL, because nothing is sent there.
EVENKEEL_API bool is_exposed(const std::string& url);

/// Returns "SERVER is neither https nor a loopback address, and WHAT would be sent in the clear".
EVENKEEL_API std::string exposed_text(std::string_view server, std::string_view what);

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
