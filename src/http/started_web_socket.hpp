// SPDX-License-Identifier: Apache-2.0
// WebSockets that the loop of the curl transport drives: no thread waits for one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/http/web_socket.hpp>

#include "http/curl_exchange.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// See Transport::start_web_socket().
std::shared_ptr<WebSocketCall> start_curl_web_socket(const std::shared_ptr<CurlLoop>& loop, Request request,
                                                     std::vector<std::string> protocols,
                                                     std::shared_ptr<WebSocketHandler> handler);

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
