// SPDX-License-Identifier: Apache-2.0
#include "serve/byte_stream.hpp"

#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

void reset_socket(Tcp::socket& socket) {
  ErrorCode ignored;
  socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

class PlainStream final : public ByteStream {
 public:
  explicit PlainStream(Tcp::socket socket) : socket_(std::move(socket)) {}

  void start(Done done) override {
    asio::post(socket_.get_executor(), [done = std::move(done)] { done({}, 0); });
  }
  void read_some(asio::mutable_buffer into, Done done) override {
    socket_.async_read_some(into, std::move(done));
  }
  void write_some(const Pieces& pieces, Done done) override {
    socket_.async_write_some(pieces, std::move(done));
  }
  X509* peer_certificate() const override { return nullptr; }
  void shut_down_sending() override {
    ErrorCode ignored;
    socket_.shutdown(Tcp::socket::shutdown_send, ignored);
  }
  void close() override {
    ErrorCode ignored;
    socket_.close(ignored);
  }
  void reset() override { reset_socket(socket_); }

 private:
  Tcp::socket socket_;
};

class TlsStream final : public ByteStream {
 public:
  TlsStream(Tcp::socket socket, asio::ssl::context& context) : stream_(std::move(socket), context) {}

  void start(Done done) override {
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [done = std::move(done)](ErrorCode error) { done(error, 0); });
  }
  void read_some(asio::mutable_buffer into, Done done) override {
    stream_.async_read_some(into, std::move(done));
  }
  void write_some(const Pieces& pieces, Done done) override {
    stream_.async_write_some(pieces, std::move(done));
  }
  X509* peer_certificate() const override {
    return SSL_get0_peer_certificate(const_cast<TlsStream*>(this)->stream_.native_handle());
  }
  // Closes the connection below TLS without close_notify: the length of every body is known without it.
  void shut_down_sending() override {
    ErrorCode ignored;
    stream_.next_layer().shutdown(Tcp::socket::shutdown_send, ignored);
  }
  void close() override {
    ErrorCode ignored;
    stream_.next_layer().close(ignored);
  }
  void reset() override { reset_socket(stream_.next_layer()); }

 private:
  asio::ssl::stream<Tcp::socket> stream_;
};

}  // namespace

std::unique_ptr<ByteStream> make_plain_stream(Tcp::socket socket) {
  return std::make_unique<PlainStream>(std::move(socket));
}

std::unique_ptr<ByteStream> make_tls_stream(Tcp::socket socket, asio::ssl::context& context) {
  return std::make_unique<TlsStream>(std::move(socket), context);
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
