// SPDX-License-Identifier: Apache-2.0
// Small HTTP server for a program's own endpoints: metrics, probes, explanations.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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

/// Path and query of a request target, decoded.
struct Target {
  std::string path = {};
  std::vector<std::pair<std::string, std::string>> query = {};  ///< In order; "?verbose" has an empty value.

  /// Returns the first value of `name`, or nullptr.
  const std::string* find(std::string_view name) const noexcept {
    for (const auto& [key, value] : query) {
      if (key == name) return &value;
    }
    return nullptr;
  }
};
/// Parses a target such as "/healthz/ping?exclude=a&verbose". Invalid escapes are kept as they are.
EVENKEEL_API Target parse_target(std::string_view target);

/// A request for a route. Valid during the call of its handler.
struct ServerCall {
  const Request& request;
  const Target& target;
  std::string_view rest;  ///< The path after the route: "ping" of "/healthz/ping" for "/healthz/".
};

/// Handles one request. Called on the server's thread, one request at a time over all sites: while it runs,
/// all other requests wait. With ServerOptions::workers it is called concurrently, on their threads. An
/// exception becomes a 500 response and a line in the log.
using Handler = std::function<Response(const ServerCall& call)>;

/// Clients that may use a route.
enum class RouteAccess : std::uint8_t {
  anyone,
  token,  ///< Clients that send the site's token. On a site without a token: anyone.
  /// Clients that send the site's token. On a site without a token, clients on this machine (such as `kubectl
  /// port-forward`): those that connect from a loopback address, with a loopback Host, without an Origin
  /// of another host, and without a proxy header ("Forwarded", "X-Forwarded-...", "Via", "X-Real-IP"). A
  /// proxy on this machine that adds no such header counts as a local client: give the site a token if there
  /// is one.
  trusted,
};

struct RouteOptions {
  RouteAccess access = RouteAccess::token;
  std::vector<Method> methods = {Method::get};  ///< Others get 405. HEAD is allowed if GET is.
  bool reserved = false;  ///< Handled by ServerOptions::reserved_workers, if there are some.
  /// Called on the server's thread for each request that gets 503 because ServerOptions::max_waiting others
  /// wait. Must not block.
  std::function<void()> on_overload = {};
};

/// A request whose client a review accepts or refuses.
struct AccessQuestion {
  std::string token = {};  ///< From "Authorization: Bearer ..."; empty: none was sent.
  std::string verb = {};   ///< Method in lower case: "get". HEAD is "get".
  std::string path = {};   ///< Decoded, without the query: "/metrics".
};
/// Takes the response that refuses the request, or nullopt, which lets the route's handler answer. May be
/// called on any thread, once, also when server and client are gone.
using AccessDecided = std::function<void(std::optional<Response> refusal)>;
/// Decides who may use a route. Called on the server's thread; it must not block, and calls `decided` now or
/// later. Meanwhile the server answers other connections.
using AccessReview = std::function<void(const AccessQuestion& question, AccessDecided decided)>;

struct SiteOptions {
  /// "host:port": "127.0.0.1:8080", "[::1]:8080", "localhost:8080"; ":8080" for all addresses of the machine.
  /// Port 0 selects a free port.
  std::string address = "127.0.0.1:0";
  TlsFiles tls = {};            ///< TLS 1.2 and up.
  TlsPair tls_pair = {};        ///< Instead of files; Server::set_certificate() replaces it.
  std::string token = {};       ///< Expected in "Authorization: Bearer". Empty: see token_file.
  std::string token_file = {};  ///< File with the token, reread when it changes. Empty: no token.
  /// Reviews the clients of all routes but those for RouteAccess::anyone, local clients included, in place of
  /// a token. Null: no review.
  AccessReview access_review = {};
};

/// Defaults of ServerOptions, which suffice for a kubelet and a few scrapers.
inline constexpr std::size_t default_max_connections = 128;
inline constexpr std::size_t default_max_connections_of_peer = 32;
inline constexpr Duration default_first_byte_timeout = std::chrono::seconds{5};

struct ServerOptions {
  Log log = {};
  std::string thread_name = "http";
  /// Threads that call the handlers, so that a slow one does not hold up the others; with all of them busy,
  /// requests wait. A request whose client has closed the connection, or its sending side, meanwhile is not
  /// handled. 0: the server's own thread.
  std::size_t workers = 0;
  /// Further threads, which call only the handlers of routes with RouteOptions::reserved: these do not wait
  /// for those of others, which may depend on them.
  std::size_t reserved_workers = 0;
  /// Maximum requests that wait for a worker of either kind; further ones get 503. At least 1.
  std::size_t max_waiting = 256;
  /// Called first on the server's thread, with the thread's name.
  std::function<void(std::string_view thread)> on_thread_start = {};
  /// Maximum connections of a site, but not more than a quarter of the process's limit on descriptors for all
  /// sites together. When it is reached, or no descriptor is left, a new one evicts the one whose opening or
  /// last complete response is the longest ago.
  std::size_t max_connections = default_max_connections;
  /// Maximum connections of a site from one peer address; another one evicts, by the same rule, one
  /// of that peer's own.
  std::size_t max_connections_of_peer = default_max_connections_of_peer;
  /// Larger request bodies get 413. Of those above 64 KiB a server keeps at most 64 MiB until they are
  /// answered; beyond it, the one that began to arrive the longest ago gets 503.
  std::size_t max_body = 1u << 20;
  /// Larger request heads, and lines or trailers of chunked bodies, get 431.
  std::size_t max_header = 64u << 10;
  /// Limit from the opening of a connection to the end of its TLS handshake, and from there to the first byte
  /// of its first request.
  Duration first_byte_timeout = default_first_byte_timeout;
  Duration request_timeout = std::chrono::seconds{32};  ///< Limit from a request's first byte to its last.
  Duration idle_timeout = std::chrono::seconds{90};     ///< Limit between two requests of a connection.
  /// A client that reads nothing for this long is disconnected.
  Duration write_timeout = std::chrono::seconds{30};
  /// Limit of Server::stop() for the responses to requests that workers have, or that are being sent.
  Duration drain_timeout = std::chrono::seconds{10};
};

/// Connections of one site since start().
struct ConnectionCounts {
  std::uint64_t accepted = 0;
  std::uint64_t evicted_site_full = 0;  ///< Closed for a new connection because the site was full.
  std::uint64_t evicted_peer_full = 0;  ///< Closed for a new connection of the same peer.
  std::uint64_t timed_out = 0;          ///< Closed because the peer sent, or read, nothing in time.
  std::size_t open = 0;                 ///< Currently open.
};

/// Validates "host:port" as in SiteOptions::address. Throws std::invalid_argument that states the expected
/// form.
EVENKEEL_API void check_address(std::string_view address);

/// Returns true if only programs of this machine can connect to `address`, "localhost:8080" or one of a
/// loopback address. Throws like check_address().
EVENKEEL_API bool is_loopback_address(std::string_view address);

/// Listens on any number of addresses, called sites, each with its own routes. One thread serves them all,
/// with HTTP/1.1 and keep-alive; it sleeps while nothing happens. ServerOptions::workers adds threads for the
/// handlers.
/// Thread safety: all members may be called concurrently, except start(), which must be called once, after
/// the last add_site(). Lifetime: destruction calls stop().
/// Exceptions of handlers are answers. Others, of AccessReview or because memory is exhausted, end the
/// program: a server that cannot answer is better restarted.
class EVENKEEL_API Server {
 public:
  /// Throws std::invalid_argument for options that break their bounds.
  explicit Server(ServerOptions options = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Returns the site's number. Throws std::invalid_argument for an invalid address or invalid TLS files.
  std::size_t add_site(SiteOptions options);
  /// Makes `handler` serve `path`; a path that ends in "/" also covers all paths below it. The longest
  /// matching route wins. Replaces the previous handler of the path.
  void route(std::size_t site, std::string path, Handler handler, RouteOptions options = {});

  /// Replaces the certificate of a site with SiteOptions::tls_pair, before start() or later; open connections
  /// keep theirs. Throws Error if it cannot be used; the old one then stays.
  void set_certificate(std::size_t site, const TlsPair& pair);

  /// Starts listening. Throws Error with the address or file that failed, and std::invalid_argument after
  /// start() or stop().
  void start();
  /// Closes the listening sockets and the connections without a complete request. Requests that are being
  /// handled or wait for a worker are answered, with "Connection: close", for up to
  /// ServerOptions::drain_timeout; those whose access is still being reviewed are not. Then closes the other
  /// connections and joins the threads, after running handlers have returned. Idempotent; must not be called
  /// from a handler.
  void stop() noexcept;

  /// Returns the port of a listening site.
  std::uint16_t port(std::size_t site) const;
  /// Returns "http://127.0.0.1:8080": the URL of the site for programs on this machine.
  std::string url(std::size_t site) const;
  /// Number of open connections of all sites.
  std::size_t connections() const;
  ConnectionCounts connection_counts(std::size_t site) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
