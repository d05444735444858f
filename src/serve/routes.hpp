// SPDX-License-Identifier: Apache-2.0
// Which handler answers a request, and whether it may: decisions without sockets.
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

/// "host:port" taken apart; an empty host stands for all addresses. Throws std::invalid_argument.
struct HostPort {
  std::string host = {};
  std::uint16_t port = 0;
};
HostPort parse_address(std::string_view address);

/// Thread safety: one thread at a time.
class Routes {
 public:
  struct Entry {
    Handler handler = {};
    RouteOptions options = {};
  };
  struct Found {
    const Entry* entry = nullptr;
    std::string_view rest = {};  ///< A part of the path that was asked for.
  };

  void set(std::string path, Entry entry) { entries_.insert_or_assign(std::move(path), std::move(entry)); }
  /// The longest route that fits; nothing if none does.
  std::optional<Found> find(std::string_view path) const;

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

/// True if a request comes from this machine itself: `peer_is_loopback`, its Host is "localhost", an address
/// of 127.0.0.0/8 or "[::1]", each with or without a port, and no header of a proxy says that it was
/// forwarded. The host keeps out pages of a browser on this machine whose name was made to point to a
/// loopback address. A proxy on this machine that adds no header cannot be told from a local client.
bool from_this_machine(const Headers& headers, bool peer_is_loopback);
/// Whether the request carries `token`, which is not empty. Takes as long for any wrong one.
bool carries_token(const Headers& headers, std::string_view token);

/// What is wrong with the request for this route; nothing if its handler may be called. `token` empty: none.
std::optional<Response> refusal(const RouteOptions& options, const Request& request, bool peer_is_loopback,
                                std::string_view token);

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
