// SPDX-License-Identifier: Apache-2.0
#include "serve/listener.hpp"

#include <chrono>
#include <fcntl.h>
#include <utility>

#include <boost/asio/ip/v6_only.hpp>

#include <evenkeel/base/error.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr std::chrono::milliseconds accept_pause{50};

Tcp::endpoint endpoint_of(asio::io_context& context, const std::string& host, std::uint16_t port,
                          ErrorCode& error) {
  const auto address = asio::ip::make_address(host, error);
  if (!error) return {address, port};
  // RFC 6761, 6.3: needs no entry in /etc/hosts, which a minimal root lacks; libcurl does the same.
  if (host == "localhost") {
    error.clear();
    return {asio::ip::address_v4::loopback(), port};
  }
  Tcp::resolver resolver(context);
  const auto found = resolver.resolve(host, "", error);
  if (error) return {};
  return {found.begin()->endpoint().address(), port};
}

// Asio has no option for this when a socket is created or accepted.
void close_on_exec(int socket) {
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
}

void open(Tcp::acceptor& acceptor, const Tcp::endpoint& where, ErrorCode& error) {
  acceptor.open(where.protocol(), error);
  if (!error) close_on_exec(acceptor.native_handle());
  if (!error && where.address().is_v6() && where.address().is_unspecified()) {
    acceptor.set_option(asio::ip::v6_only(false), error);
  }
  if (!error) acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(where, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
}

}  // namespace

Listener::Listener(asio::io_context& context, const std::string& host, std::uint16_t port)
    : acceptor_(context), pause_(context) {
  ErrorCode error;
  if (host.empty()) {
    open(acceptor_, {Tcp::v6(), port}, error);
    if (error == asio::error::address_family_not_supported) open(acceptor_, {Tcp::v4(), port}, error);
  } else {
    const Tcp::endpoint where = endpoint_of(context, host, port, error);
    if (!error) open(acceptor_, where, error);
  }
  if (error) {
    const bool bare_v6 = host.find(':') != std::string::npos;
    throw Error("cannot listen on " + (bare_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port) +
                ": " + error.message());
  }
  port_ = acceptor_.local_endpoint().port();
}

void Listener::accept(std::function<void(Tcp::socket)> on_connection,
                      std::function<bool(const ErrorCode& error)> on_problem) {
  on_connection_ = std::move(on_connection);
  on_problem_ = std::move(on_problem);
  accept_next();
}

void Listener::accept_next() {
  acceptor_.async_accept([this](ErrorCode error, Tcp::socket socket) {
    if (!acceptor_.is_open()) return;
    if (error) return on_failure(error);
    if (std::exchange(failing_, false) && on_problem_) on_problem_({});
    close_on_exec(socket.native_handle());
    ErrorCode ignored;
    socket.set_option(Tcp::no_delay(true), ignored);
    on_connection_(std::move(socket));
    accept_next();
  });
}

// Most likely the process is out of file descriptors. accept() then fails also while no client waits.
void Listener::on_failure(ErrorCode error) {
  failing_ = true;
  acceptor_.async_wait(Tcp::acceptor::wait_read, [this, error](ErrorCode) {
    if (!acceptor_.is_open()) return;
    if (on_problem_ && on_problem_(error)) return accept_next();
    pause_.expires_after(accept_pause);
    pause_.async_wait([this](ErrorCode stopped) {
      if (!stopped) accept_next();
    });
  });
}

void Listener::close() {
  ErrorCode ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
