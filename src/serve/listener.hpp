// SPDX-License-Identifier: Apache-2.0
// One address that connections are taken from.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

/// Listens from the constructor on. Thread safety: one thread at a time (the context's).
/// Lifetime: the context stops before this ends.
class EVENKEEL_API Listener {
 public:
  using Tcp = boost::asio::ip::tcp;

  /// `host` is an address or a name; empty: all addresses of the machine, IPv6 and IPv4. Throws Error, which
  /// names both.
  Listener(boost::asio::io_context& context, const std::string& host, std::uint16_t port);

  /// Not 0, though 0 may have been asked for.
  std::uint16_t port() const { return port_; }
  /// Gives each connection to `welcome`, until close(). When connections cannot be accepted, as without file
  /// descriptors, `problem` is called once with the reason, and once with "" when they can be again.
  void accept(std::function<void(Tcp::socket)> welcome,
              std::function<void(const std::string& problem)> problem = {});
  void close();

 private:
  void accept_next();

  Tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::uint16_t port_ = 0;
  std::function<void(Tcp::socket)> welcome_;
  std::function<void(const std::string& problem)> problem_;
  bool failing_ = false;
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
