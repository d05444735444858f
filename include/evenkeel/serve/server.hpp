// SPDX-License-Identifier: Apache-2.0
// A small HTTP server for what a program says of itself: metrics, probes, explanations.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/http/message.hpp>
#include <evenkeel/serve/tls_files.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http {

/// Path and query of a request's target, decoded.
struct Target {
  std::string path = {};
  std::vector<std::pair<std::string, std::string>> query = {};  ///< In order; "?verbose" has an empty value.

  /// The first value of `name`, or nullptr.
  const std::string* find(std::string_view name) const noexcept {
    for (const auto& [key, value] : query) {
      if (key == name) return &value;
    }
    return nullptr;
  }
};
/// Of "/healthz/ping?exclude=a&verbose". Broken escapes are kept as they are.
EVENKEEL_API Target parse_target(std::string_view target);

/// A request that a route takes. Valid during the call of its handler.
struct ServerCall {
  const Request& request;
  const Target& target;
  std::string_view rest;  ///< What the path has behind the route: "ping" of "/healthz/ping" for "/healthz/".
};

/// Answers one request. Called on the server's thread, one at a time for all sites: while it runs, nobody
/// else is answered. What it throws becomes an answer 500 and a line in the log.
using Handler = std::function<Response(const ServerCall& call)>;

/// Who is answered.
enum class Access : std::uint8_t {
  anyone,
  token,  ///< Who has the site's token. If the site has none: anyone.
  /// Clients that send the site's token. On a site without a token, clients on this machine (as `kubectl
  /// port-forward` is): those that connect from a loopback address, for a Host that is one, without a header
  /// of a proxy ("Forwarded", "X-Forwarded-...", "Via", "X-Real-IP"). A proxy on this machine that adds no
  /// such header is taken for a local client: give the site a token where one runs.
  trusted,
};

struct RouteOptions {
  Access access = Access::token;
  std::vector<Method> methods = {Method::get};  ///< Others get 405. HEAD is answered where GET is.
};

struct SiteOptions {
  /// "host:port": "127.0.0.1:8080", "[::1]:8080", "localhost:8080"; ":8080" for all addresses of the machine.
  /// Port 0 is a free one.
  std::string address = "127.0.0.1:0";
  TlsFiles tls = {};            ///< TLS 1.2 and up.
  std::string token = {};       ///< What "Authorization: Bearer" must say. Empty: see token_file.
  std::string token_file = {};  ///< Holds the token, read again when it changes. Empty: no token.
};

/// Defaults of ServerOptions. A kubelet and a few scrapers need a handful of connections.
inline constexpr std::size_t default_max_connections = 128;
inline constexpr std::size_t default_max_connections_of_peer = 32;
inline constexpr Duration default_first_byte_timeout = std::chrono::seconds{5};

struct ServerOptions {
  Log log = {};
  std::string thread_name = "http";
  /// Called first on the server's thread, with its name.
  std::function<void(std::string_view thread)> on_thread_start = {};
  /// Connections that a site has at once. When it is full, the longest waiting one gives way to a new one.
  std::size_t max_connections = default_max_connections;
  /// Connections that one peer address has at once on a site; one more closes the longest waiting one of that
  /// peer.
  std::size_t max_connections_of_peer = default_max_connections_of_peer;
  std::size_t max_body = 1u << 20;     ///< Larger request bodies get 413.
  std::size_t max_header = 64u << 10;  ///< Larger request heads get 431.
  /// From a connection's opening to the end of its TLS handshake, and from there to the first byte of its
  /// first request.
  Duration first_byte_timeout = default_first_byte_timeout;
  Duration request_timeout = std::chrono::seconds{32};  ///< From a request's first byte to its last one.
  Duration idle_timeout = std::chrono::seconds{90};     ///< Between two requests of a connection.
  Duration write_timeout = std::chrono::seconds{30};    ///< A client that takes no byte for so long is cut.
};

/// Connections of one site since start().
struct ConnectionCounts {
  std::uint64_t accepted = 0;
  std::uint64_t evicted_site_full = 0;  ///< Closed for a new one, as the site had all that it may have.
  std::uint64_t evicted_peer_full = 0;  ///< Closed for a new one of the same peer.
  std::uint64_t timed_out = 0;          ///< Closed since the peer sent, or took, nothing in time.
  std::size_t open = 0;                 ///< Now.
};

/// Checks "host:port" as SiteOptions::address has it. Throws std::invalid_argument, which says what is
/// expected.
EVENKEEL_API void check_address(std::string_view address);

/// Listens on any number of addresses, its sites, each with routes of its own. One thread serves them all,
/// HTTP/1.1 with keep-alive; without a connection it sleeps.
/// Thread safety: all members may be called concurrently, but for start(), which comes after the last
/// add_site() and is called once. Lifetime: destruction stops.
class EVENKEEL_API Server {
 public:
  explicit Server(ServerOptions options = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Returns the site's number. Throws std::invalid_argument for an address or files that make no sense.
  std::size_t add_site(SiteOptions options);
  /// Has `handler` answer for `path`; one that ends in "/" also for all paths below it. The longest route
  /// that fits takes a request. Replaces the handler that the path had.
  void route(std::size_t site, std::string path, Handler handler, RouteOptions options = {});

  /// Listens. Throws Error, which names the address or the file that is wrong.
  void start();
  /// Cuts all connections and joins the thread. Idempotent; not from a handler.
  void stop() noexcept;

  /// Of a site that listens.
  std::uint16_t port(std::size_t site) const;
  /// "http://127.0.0.1:8080": where a program on this machine finds it.
  std::string url(std::size_t site) const;
  /// Connections of all sites that are open now.
  std::size_t connections() const;
  ConnectionCounts connection_counts(std::size_t site) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
