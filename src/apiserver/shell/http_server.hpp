// SPDX-License-Identifier: Apache-2.0
// An HTTP/1.1 server on one thread for a core: keep-alive, pipelining, watches as chunked streams, optional
// TLS. Shared with floors above.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <evenkeel/apiserver/kubelet.hpp>
#include <evenkeel/base/time.hpp>

#include "apiserver/shell/core_host.hpp"
#include "apiserver/shell/tls_certificates.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: a free one.
  bool tls = false;
  CertifiedKey certificate = {};       ///< The server's certificate, for TLS.
  std::string client_authority = {};   ///< PEM; client certificates that it signed identify the caller.
  std::size_t max_body = 3u << 20;     ///< Larger request bodies get 413.
  std::size_t max_header = 64u << 10;  ///< Larger request heads get 431.
  Duration head_timeout = std::chrono::seconds{32};   ///< From a request's first byte to the end of its head.
  Duration body_timeout = std::chrono::seconds{120};  ///< From the end of its head to the end of its body.
  Duration idle_timeout = std::chrono::seconds{180};  ///< Between two requests, and for the TLS handshake.
  Duration write_timeout = std::chrono::seconds{60};  ///< Limit of the time in which a client reads no byte.
  Kubelet kubelet = {};
};

/// Listens from construction; its thread ends in stop().
/// Thread safety: all members may be called concurrently.
class HttpServer {
 public:
  /// Throws Error if the address cannot be listened on.
  HttpServer(std::shared_ptr<CoreHost> host, HttpServerOptions options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  /// Returns the number of open connections.
  std::size_t connections() const;
  /// Closes all connections, watches included, and joins the thread. Idempotent.
  void stop() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
