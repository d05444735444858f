// SPDX-License-Identifier: Apache-2.0
// Common interface of plain and TLS connections, so that the HTTP session is compiled once.
// Shared with floors above.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <openssl/x509.h>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;

/// A connection. Thread safety: one thread at a time. Lifetime: a handler may be called after close(), with
/// an error.
class ByteStream {
 public:
  using Done = std::function<void(ErrorCode, std::size_t)>;
  using Pieces = std::array<asio::const_buffer, 2>;

  virtual ~ByteStream() = default;
  virtual void start(Done done) = 0;  ///< Performs the TLS handshake; completes immediately without TLS.
  virtual void read_some(asio::mutable_buffer into, Done done) = 0;
  virtual void write_some(const Pieces& pieces, Done done) = 0;
  /// Returns the client certificate; null if there is none. Valid while the stream exists.
  virtual X509* peer_certificate() const = 0;
  /// Signals that no more data will be sent.
  virtual void shut_down_sending() = 0;
  virtual void close() = 0;
  /// Closes with RST: the peer's next read or write fails.
  virtual void reset() = 0;
};

EVENKEEL_API std::unique_ptr<ByteStream> make_plain_stream(Tcp::socket socket);
EVENKEEL_API std::unique_ptr<ByteStream> make_tls_stream(Tcp::socket socket, asio::ssl::context& context);

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
