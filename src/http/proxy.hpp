// SPDX-License-Identifier: Apache-2.0
// The choice of a proxy, by the rules of Go's clients. Shared with floors above.
#pragma once

#include <functional>
#include <string>

#include <evenkeel/base/export.hpp>
#include <evenkeel/http/curl_transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Returns why `url` cannot be used as a proxy, or "" if it can. The URL is not part of the text.
EVENKEEL_API std::string proxy_problem(const std::string& url);

/// Returns the value of a variable of the environment; null if it is not set.
using Variable = std::function<const char*(const char* name)>;

/// Returns the URL for libcurl of the proxy that leads to `options.server`; "": it is reached directly.
/// `options.proxy` is used for every server; without it, and without an event loop, HTTPS_PROXY or HTTP_PROXY
/// is, unless NO_PROXY or a loopback address excludes the server. Lower-case names count if the upper-case
/// one is not set. The server's address decides, and not the name in its certificate. A proxy without a port
/// has that of its scheme, and one of SOCKS5 looks up the server's name.
/// Throws std::invalid_argument, which names option or variable and the proxy's host, if the proxy is not
/// valid, and for HTTP_PROXY in a CGI program, whose clients choose it.
/// Source: golang.org/x/net/http/httpproxy; there, an invalid proxy counts as none.
std::string choose_proxy(const CurlTransportOptions& options, const Variable& variable);

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
