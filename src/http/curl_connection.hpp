// SPDX-License-Identifier: Apache-2.0
// A connection that libcurl makes, with name resolution, proxy and TLS, and then leaves to its user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <stop_token>
#include <string>

#include <curl/curl.h>

#include "http/curl_exchange.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Bytes to and from the server of a transport. Thread safety: one thread at a time, that blocks SIGPIPE.
class CurlConnection {
 public:
  enum class State : std::uint8_t {
    done,     ///< Some bytes were transferred.
    blocked,  ///< None can be now: wait for the socket.
    ended,    ///< The server has ended the connection.
    failed,   ///< See error().
  };
  struct Transfer {
    State state;
    std::size_t bytes = 0;
  };

  /// Connects; blocks. Throws TransportError, also when `closing` is requested, and Cancelled when `stop` is.
  /// The request is the one that its user will send: it names the connection in errors, and has the deadline
  /// and the guard.
  CurlConnection(const CurlTransportOptions& options, TlsFiles& tls, Request request,
                 const std::stop_token& stop, const std::stop_token& closing);
  /// Uses the connection that `exchange`, of a loop, has opened; not after the end of the exchange.
  CurlConnection(const CurlTransportOptions& options, std::shared_ptr<CurlExchange> exchange, int socket);
  ~CurlConnection();
  CurlConnection(const CurlConnection&) = delete;
  CurlConnection& operator=(const CurlConnection&) = delete;

  int socket() const { return socket_; }
  Transfer receive(char* into, std::size_t size);
  /// A blocked call must be repeated with the same bytes.
  Transfer send(const char* bytes, std::size_t size);

  const Endpoint& endpoint() const { return endpoint_; }
  /// Returns "GET https://host/path: reason".
  std::string describe(std::string_view reason) const { return exchange_->describe(endpoint_.base, reason); }
  /// Returns the next time at which overdue() must be checked while the request is answered.
  TimePoint next_look() const { return exchange_->next_look(now()); }
  std::exception_ptr overdue() const { return exchange_->overdue(now(), endpoint_.base); }
  std::exception_ptr refusal() const { return exchange_->refusal(); }
  /// Returns the error of the last transfer; once.
  std::exception_ptr error() const { return exchange_->error_of(failure_, endpoint_.base); }

 private:
  void connect(TlsFiles& tls, const std::stop_token& stop, const std::stop_token& closing);
  CURLcode perform(const std::stop_token& stop, const std::stop_token& closing);
  std::exception_ptr why_ended(const std::stop_token& stop, const std::stop_token& closing) const;
  void release() noexcept;
  Transfer result(CURLcode code, std::size_t bytes);

  const CurlTransportOptions options_;  // referred to by the handle
  const Endpoint endpoint_;
  const std::shared_ptr<CurlExchange> exchange_;
  CURLM* multi_ = nullptr;
  int socket_ = -1;
  CURLcode failure_ = CURLE_OK;
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
