// SPDX-License-Identifier: Apache-2.0
// Routing and access control of requests: decisions without sockets.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/serve/server.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// A parsed "host:port"; an empty host stands for all addresses. Throws std::invalid_argument.
struct HostPort {
  std::string host = {};
  std::uint16_t port = 0;
};
HostPort parse_address(std::string_view address);

/// Table of routes. Thread safety: one thread at a time.
class Routes {
 public:
  struct Entry {
    Handler handler = {};
    RouteOptions options = {};
  };
  struct Found {
    const Entry* entry = nullptr;
    std::string_view rest = {};  ///< Part of the requested path.
  };

  void set(std::string path, Entry entry) { entries_.insert_or_assign(std::move(path), std::move(entry)); }
  /// Returns the longest matching route; nullopt if none matches.
  std::optional<Found> find(std::string_view path) const;

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

/// Returns true if a request comes from this machine: `peer_is_loopback`, its Host is "localhost", an address
/// of 127.0.0.0/8 or "[::1]", each with or without a port, and no proxy header marks it as forwarded. The
/// Host check keeps out pages in a browser on this machine whose name resolves to a loopback address (DNS
/// rebinding), and so does that of Origin, which must be a loopback address, too, if there is one. A proxy on
/// this machine that adds no header is indistinguishable from a local client.
bool from_this_machine(const Headers& headers, bool peer_is_loopback);
/// Returns the word after "Bearer" in the Authorization header; empty if there is none.
std::string_view bearer_token(const Headers& headers);
/// Returns true if the request carries `token`, which must not be empty. Takes equally long for every wrong
/// token.
bool carries_token(const Headers& headers, std::string_view token);

/// Returns the response to a request that the route rejects; nullopt if its handler may be called. `token`
/// empty: none.
std::optional<Response> refusal(const RouteOptions& options, const Request& request, bool peer_is_loopback,
                                std::string_view token);

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
