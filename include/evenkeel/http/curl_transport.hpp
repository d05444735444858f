// SPDX-License-Identifier: Apache-2.0
// The transport of production: libcurl, one thread, one HTTP/2 connection for requests and a connection
// of its own for each stream.
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
namespace http {

struct CurlTransportOptions {
  /// Where requests go: "https://host:6443", with a path if the server lives below one.
  std::string server = {};
  TlsOptions tls = {};
  /// URL of a proxy; unset: HTTPS_PROXY, NO_PROXY and so on from the environment; empty: none.
  std::optional<std::string> proxy = {};
  std::string user_agent = "evenkeel";
  Duration request_timeout = std::chrono::seconds{60};  ///< For requests without a deadline.
  Duration idle_timeout = std::chrono::seconds{150};    ///< For streams without their own; 0: none.
  Duration connect_timeout = std::chrono::seconds{30};  ///< Name, connection and TLS handshake together.
  Duration dead_peer_timeout =
      std::chrono::seconds{60};                    ///< A peer that acknowledges nothing is gone after it.
  Duration tls_reload = std::chrono::seconds{60};  ///< How often certificate files are read again.
  /// Requests in flight; more wait without owning a connection. Over HTTP/1.1, where each needs one.
  std::size_t max_in_flight = 100;
  std::size_t max_in_flight_http1 = 16;
  std::size_t max_header_bytes = 256 * 1024;         ///< Of one answer; longer is a `protocol` error.
  std::size_t max_body_bytes = 512UL * 1024 * 1024;  ///< Of one collected answer; streams have no limit.
  /// Send an Authorization header also over plain http to another machine, or through a proxy; unset, such a
  /// request is refused.
  bool credentials_in_clear = false;
};

/// Starts a transport on libcurl. Requests share an HTTP/2 connection where the server speaks it over TLS,
/// else a few of HTTP/1.1; each stream has an HTTP/1.1 connection of its own. Redirects are not followed:
/// they are answers. Nothing is asked for compressed. It blocks every signal on its thread and installs
/// no handler.
/// A POST or PATCH whose connection broke is never sent twice, not even on a connection that was idle.
/// Throws std::invalid_argument if `server` is no http or https URL or an option is out of bounds. send() and
/// stream() throw it for a target or a header that cannot be sent as it is (control bytes, see RFC 9110), and
/// for credentials in the clear. Without `proxy`, a server on a loopback address is reached directly whatever
/// the environment says, as in Go's net/http.
/// Lifetime: if the last handle is dropped on the transport's own thread, that thread ends by itself.
EVENKEEL_API std::shared_ptr<Transport> make_curl_transport(CurlTransportOptions options);

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
