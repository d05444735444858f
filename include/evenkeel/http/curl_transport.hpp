// SPDX-License-Identifier: Apache-2.0
// The production transport: libcurl, one thread, one HTTP/2 connection for asynchronous requests, a dedicated
// connection per stream, and a pool of connections for blocking calls.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/http/tls.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {

class EventLoop;

namespace http {

struct CurlTransportOptions {
  /// Base URL: "https://host:6443", with a path if the server is below one.
  std::string server = {};
  TlsOptions tls = {};
  /// URL of a proxy; unset: from HTTPS_PROXY, NO_PROXY and so on in the environment; empty: none.
  std::optional<std::string> proxy = {};
  std::string user_agent = "evenkeel";
  Duration request_timeout = std::chrono::seconds{60};  ///< For requests without a deadline.
  Duration idle_timeout = std::chrono::seconds{150};    ///< For streams without their own timeout; 0: none.
  /// Covers name resolution, connection and TLS handshake.
  Duration connect_timeout = std::chrono::seconds{30};
  /// Unacknowledged data for this long breaks a connection; on a WebSocket, also four pings without an
  /// answer, which are sent in that time, and a close without an answer.
  Duration dead_peer_timeout = std::chrono::seconds{60};
  Duration tls_reload = std::chrono::seconds{60};  ///< Interval of rereading certificate files.
  /// Maximum asynchronous requests in flight; others wait without a connection. Over HTTP/1.1 each needs its
  /// own connection. The second one is also the maximum of connections for blocking calls.
  std::size_t max_in_flight = 100;
  std::size_t max_in_flight_http1 = 16;
  std::size_t max_header_bytes = 256 * 1024;         ///< Limit per response; beyond it, a `protocol` error.
  std::size_t max_body_bytes = 512UL * 1024 * 1024;  ///< Limit per collected response; streams have none.
  /// Accepts gzip for responses other than streams, as Go's client does; API servers compress bodies above
  /// 128 KiB. Limits and errors apply to the expanded body. Unset: true, unless `server` is a loopback
  /// address, where a list of 10,000 generated Pods (40 MB, 1.75 MB compressed, TLS) took 1.5 times as long.
  std::optional<bool> compression = {};
  /// Sends an Authorization header also over plain http to another machine, or through a proxy; otherwise
  /// such a request is rejected.
  bool credentials_in_clear = false;
  /// Drives the transport instead of a dedicated thread. The environment's proxy is then not used, libcurl
  /// looks up names only for blocking calls, and these never share the connection of asynchronous ones.
  std::shared_ptr<EventLoop> event_loop = {};
};

/// Starts a transport on libcurl. Asynchronous requests share an HTTP/2 connection if the server supports it
/// over TLS, otherwise a few HTTP/1.1 connections; each stream has a dedicated HTTP/1.1 connection. A
/// blocking call is sent by its caller's thread, over a kept-alive HTTP/1.1 connection that no other call
/// uses at the time; if all are in use, it waits or, over TLS, is sent like an asynchronous one. Redirects
/// are returned as responses, not followed. The transport blocks all signals on its thread and installs no
/// signal handler.
///
/// A POST or PATCH whose connection broke is never resent, not even on a connection that was idle.
///
/// Throws std::invalid_argument if `server` is not an http or https URL or an option is out of bounds. send()
/// and stream() throw it for a target or header that contains control bytes (see RFC 9110), and for
/// credentials in clear text. If `proxy` is unset, servers on loopback addresses are always reached directly,
/// as in Go's net/http.
/// libcurl is initialized with curl_global_init(), which has no further effect if the program has called it.
/// Lifetime: if the last handle is dropped on the transport's own thread, that thread ends by itself.
EVENKEEL_API std::shared_ptr<Transport> make_curl_transport(CurlTransportOptions options);

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
