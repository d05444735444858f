// SPDX-License-Identifier: Apache-2.0
// WebSockets of the curl transport.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/http/web_socket.hpp>

#include "http/tls_files.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// See Transport::open_web_socket(). When `closing` is requested, the WebSocket breaks.
WebSocketAnswer open_curl_web_socket(const CurlTransportOptions& options, TlsFiles& tls,
                                     const Request& request, const std::vector<std::string>& protocols,
                                     const std::stop_token& stop, const std::stop_token& closing);

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
