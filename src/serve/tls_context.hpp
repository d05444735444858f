// SPDX-License-Identifier: Apache-2.0
// TLS configuration of our servers: versions, protocol and certificate. Shared with floors above.
#pragma once

#include <string>

#include <boost/asio/ssl/context.hpp>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Returns a context with TLS 1.2 or newer and HTTP/1.1 by ALPN. Both arguments are PEM. Throws
/// boost::system::system_error if they are invalid or do not match.
EVENKEEL_API boost::asio::ssl::context make_tls_context(const std::string& certificate,
                                                        const std::string& key);

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
