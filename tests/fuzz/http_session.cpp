// SPDX-License-Identifier: Apache-2.0
// Bytes from a client to an operator's endpoint, over a real socket. The server answers or rejects, and
// closes the connection when the client has sent everything.
#include <algorithm>
#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <evenkeel/serve/server.hpp>

#include "fuzz.hpp"
#include "targets.hpp"

namespace evenkeel::fuzz {
namespace {

/// One server for all inputs.
class Endpoint {
 public:
  Endpoint() : server_({.max_body = 4096, .max_header = 4096}) {
    const std::size_t site = server_.add_site({.token = "s3cret"});
    const auto echo = [](const http::ServerCall& call) {
      return http::Response{.status = 200, .headers = {}, .body = std::string(call.rest) + call.request.body};
    };
    server_.route(site, "/metrics", echo);
    server_.route(site, "/healthz/", echo, {.access = http::RouteAccess::anyone});
    server_.route(site, "/debug/", echo,
                  {.access = http::RouteAccess::trusted, .methods = {http::Method::get, http::Method::put}});
    server_.start();
    address_.sin_family = AF_INET;
    address_.sin_port = htons(server_.port(site));
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  }

  int connect() const {
    const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    check(file >= 0 && ::setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
              ::connect(file, reinterpret_cast<const sockaddr*>(&address_), sizeof address_) == 0,
          "the server listens");
    return file;
  }

 private:
  http::Server server_;
  sockaddr_in address_ = {};
};

/// Returns all bytes until the server closes.
std::string answers(int file) {
  std::string text;
  char piece[4096];
  for (;;) {
    const ssize_t count = ::recv(file, piece, sizeof piece, 0);
    check(count >= 0 || errno == ECONNRESET, "the server closes a connection on which nothing more comes");
    if (count <= 0) return text;
    text.append(piece, static_cast<std::size_t>(count));
  }
}

}  // namespace

/// The first byte is the size of the pieces in which the rest is sent; 0 means all at once. In the rest, 0xff
/// and two bytes stand for the first of them, repeated as many KiB as the second one says: what does not end
/// is longer than inputs are.
void http_session(std::string_view input) {
  static const Endpoint endpoint;
  Reader compact(input);
  const std::size_t size = compact.byte();
  std::string text_sent;
  std::size_t longest = 0;
  while (!compact.done()) {
    const std::uint8_t byte = compact.byte();
    const char repeated = static_cast<char>(byte == 0xff ? compact.byte() : byte);
    const std::size_t count = byte == 0xff ? std::size_t{compact.byte()} << 10 : 1;
    text_sent.append(count, repeated);
    longest = std::max(longest, count);
  }
  Reader reader(text_sent);
  const int file = endpoint.connect();
  while (!reader.done()) {
    const std::string_view piece = reader.take(size == 0 ? std::string_view::npos : size);
    if (::send(file, piece.data(), piece.size(), MSG_NOSIGNAL) < 0) break;
  }
  ::shutdown(file, SHUT_WR);
  const std::string text = answers(file);
  ::close(file);
  check(text.empty() || text.starts_with("HTTP/1.1 "), "an answer begins with its status line");
  check(longest < (64u << 10) || !text.empty(), "what does not end is refused");
}

}  // namespace evenkeel::fuzz
