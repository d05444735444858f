// SPDX-License-Identifier: Apache-2.0
#include "scripted_server.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <map>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

namespace evenkeel::tests {
namespace {

int bound_socket(int& port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (listener < 0 || bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("cannot bind a socket on loopback");
  }
  port = ntohs(address.sin_port);
  return listener;
}

template <class Read>
auto from_pem(const std::string& pem, Read read) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  auto* result = read(bio);
  BIO_free(bio);
  if (result == nullptr) throw std::runtime_error("bad PEM");
  return result;
}

int choose_http2(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                 unsigned int in_size, void*) {
  static constexpr unsigned char wanted[] = "\x02h2";
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, wanted, 3, in, in_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

SSL_CTX* make_context(const ScriptedServerOptions& options) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  X509* cert =
      from_pem(options.cert, [](BIO* bio) { return PEM_read_bio_X509(bio, nullptr, nullptr, nullptr); });
  EVP_PKEY* key =
      from_pem(options.key, [](BIO* bio) { return PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr); });
  SSL_CTX_use_certificate(context, cert);
  SSL_CTX_use_PrivateKey(context, key);
  X509_free(cert);
  EVP_PKEY_free(key);
  if (!options.client_ca.empty()) {
    X509* ca = from_pem(options.client_ca,
                        [](BIO* bio) { return PEM_read_bio_X509(bio, nullptr, nullptr, nullptr); });
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), ca);
    X509_free(ca);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  if (options.highest_tls != 0) {
    SSL_CTX_set_cipher_list(context, "DEFAULT:@SECLEVEL=0");
    SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context, options.highest_tls);
  }
  if (options.http2) SSL_CTX_set_alpn_select_cb(context, choose_http2, nullptr);
  return context;
}

}  // namespace

long Connection::receive(char* data, std::size_t size) {
  if (ssl_ != nullptr) return SSL_read(ssl_, data, static_cast<int>(size));
  return recv(socket_, data, size, 0);
}

bool Connection::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const long sent = ssl_ != nullptr ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                                      : send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::optional<std::string> Connection::read_exactly(std::size_t count) {
  char piece[16384];
  while (buffer_.size() < count) {
    const long got = receive(piece, sizeof(piece));
    if (got <= 0) return std::nullopt;
    buffer_.append(piece, static_cast<std::size_t>(got));
  }
  std::string result = buffer_.substr(0, count);
  buffer_.erase(0, count);
  return result;
}

std::optional<http::Request> Connection::read_request() {
  char piece[16384];
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    const long got = receive(piece, sizeof(piece));
    if (got <= 0) return std::nullopt;
    buffer_.append(piece, static_cast<std::size_t>(got));
  }
  const std::string head = buffer_.substr(0, end + 2);
  buffer_.erase(0, end + 4);
  http::Request request;
  std::size_t at = head.find("\r\n");
  const std::string line = head.substr(0, at);
  const std::size_t first = line.find(' ');
  const std::size_t second = line.rfind(' ');
  for (const http::Method method : {http::Method::get, http::Method::post, http::Method::put,
                                    http::Method::patch, http::Method::delete_}) {
    if (line.substr(0, first) == http::method_name(method)) request.method = method;
  }
  request.target = line.substr(first + 1, second - first - 1);
  for (at += 2; at < head.size();) {
    const std::size_t next = head.find("\r\n", at);
    const std::string header = head.substr(at, next - at);
    const std::size_t colon = header.find(':');
    const std::size_t value = header.find_first_not_of(' ', colon + 1);
    request.headers.add(header.substr(0, colon), value == std::string::npos ? "" : header.substr(value));
    at = next + 2;
  }
  if (const std::string* length = request.headers.find("content-length")) {
    auto body = read_exactly(std::stoul(*length));
    if (!body) return std::nullopt;
    request.body = std::move(*body);
  }
  return request;
}

bool Connection::respond(int status, std::string_view body, std::string_view extra_headers) {
  return write("HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: " + std::to_string(body.size()) +
               "\r\n" + std::string(extra_headers) + "\r\n" + std::string(body));
}

bool Connection::start_chunked(int status, std::string_view extra_headers) {
  return write("HTTP/1.1 " + std::to_string(status) + " X\r\nTransfer-Encoding: chunked\r\n" +
               std::string(extra_headers) + "\r\n");
}

bool Connection::chunk(std::string_view piece) {
  char size[32];
  snprintf(size, sizeof(size), "%zx\r\n", piece.size());
  return write(size + std::string(piece) + "\r\n");
}

void Connection::wait_until_closed() {
  char piece[1024];
  while (receive(piece, sizeof(piece)) > 0) {
  }
}

void Connection::reset_at_end() {
  const linger none{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

std::string Connection::peer_name() const {
  X509* cert = ssl_ != nullptr ? SSL_get1_peer_certificate(ssl_) : nullptr;
  if (cert == nullptr) return {};
  char name[256] = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, name, sizeof(name));
  X509_free(cert);
  return name;
}

ScriptedServer::ScriptedServer(Script script, ScriptedServerOptions options)
    : script_(std::move(script)), options_(std::move(options)) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets that the peer has closed
  if (!options_.cert.empty()) tls_ = make_context(options_);
  listener_ = bound_socket(port_);
  listen(listener_, 512);
  acceptor_ = std::thread([this] { accept_loop(); });
}

ScriptedServer::~ScriptedServer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
  }
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  for (std::thread& thread : threads_) thread.join();
  SSL_CTX_free(tls_);
}

void ScriptedServer::stop_listening() {
  shutdown(listener_, SHUT_RDWR);
}

std::string ScriptedServer::url(const std::string& host) const {
  return (tls_ != nullptr ? "https://" : "http://") + host + ":" + std::to_string(port_);
}

void ScriptedServer::accept_loop() {
  for (;;) {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      close(socket);
      return;
    }
    sockets_.push_back(socket);
    threads_.emplace_back([this, socket] { serve(socket); });
  }
}

void ScriptedServer::serve(int socket) {
  SSL* ssl = nullptr;
  bool ready = true;
  if (tls_ != nullptr) {
    ssl = SSL_new(tls_);
    SSL_set_fd(ssl, socket);
    ready = SSL_accept(ssl) == 1;
  }
  if (ready) {
    ++connections_;
    Connection connection(socket, ssl);
    script_(connection);
    if (ssl != nullptr) SSL_shutdown(ssl);
  }
  SSL_free(ssl);
  const std::lock_guard lock(mutex_);
  sockets_.erase(std::find(sockets_.begin(), sockets_.end(), socket));
  close(socket);
}

int unused_port() {
  int port = 0;
  close(bound_socket(port));
  return port;
}

namespace {

std::string frame(int type, int flags, unsigned stream, std::string_view payload) {
  std::string out;
  out += static_cast<char>(payload.size() >> 16);
  out += static_cast<char>(payload.size() >> 8);
  out += static_cast<char>(payload.size());
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(stream >> shift);
  return out + std::string(payload);
}

std::string number(std::size_t value) {
  std::string out;
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(value >> shift);
  return out;
}

}  // namespace

void serve_http2(Connection& connection, int hold, std::atomic<int>& streams,
                 std::string_view settings_payload) {
  constexpr int data = 0, headers = 1, settings = 4, ping = 6, window_update = 8;
  constexpr int ack = 1, end_stream = 1, end_headers = 4;
  if (!connection.read_exactly(24)) return;  // the client's preface
  if (!connection.write(frame(settings, 0, 0, settings_payload))) return;
  std::map<unsigned, std::size_t> open;  // from stream id to the size of its body
  while (const auto head = connection.read_exactly(9)) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>((*head)[i]); };
    const std::size_t size = (std::size_t{byte(0)} << 16) | (std::size_t{byte(1)} << 8) | byte(2);
    const unsigned stream =
        (unsigned{byte(5)} << 24) | (unsigned{byte(6)} << 16) | (unsigned{byte(7)} << 8) | byte(8);
    const auto payload = connection.read_exactly(size);
    if (!payload) return;
    const int type = byte(3);
    const int flags = byte(4);
    if (type == settings && (flags & ack) == 0) connection.write(frame(settings, ack, 0, ""));
    if (type == ping && (flags & ack) == 0) connection.write(frame(ping, ack, 0, *payload));
    if (type == headers) open[stream] = 0;
    if (type == data && size > 0) {
      open[stream] += size;
      for (const unsigned window : {0U, stream})
        connection.write(frame(window_update, 0, window, number(size)));
    }
    if ((type != headers && type != data) || (flags & end_stream) == 0 || ++streams < hold) continue;
    for (const auto& [id, bytes] : open) {
      connection.write(frame(headers, end_headers, id, "\x88"));  // ":status: 200" of the static table
      connection.write(frame(data, end_stream, id,
                             "stream " + std::to_string(id) + ", " + std::to_string(bytes) + " bytes"));
    }
    open.clear();
  }
}

}  // namespace evenkeel::tests
