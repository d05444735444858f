// SPDX-License-Identifier: Apache-2.0
// A listening address. Shared with floors above.
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

/// Accepts connections on one address; listens from construction on. Thread safety: one thread at a time (the
/// context's).
/// Lifetime: the context must stop before this is destroyed.
class EVENKEEL_API Listener {
 public:
  using Tcp = boost::asio::ip::tcp;

  /// `host` is an address or a name; empty: all addresses of the machine, IPv6 and IPv4. Throws Error with
  /// host and port.
  Listener(boost::asio::io_context& context, const std::string& host, std::uint16_t port);

  /// The actual port, even if port 0 was requested.
  std::uint16_t port() const { return port_; }
  using ErrorCode = boost::system::error_code;

  /// Passes each connection to `on_connection`, until close(). Calls `on_problem` whenever a client waits and
  /// cannot be accepted, for lack of file descriptors for example, and once without an error when it can be
  /// again. If it returns true, it has made room, and the next attempt follows at once.
  void accept(std::function<void(Tcp::socket)> on_connection,
              std::function<bool(const ErrorCode& error)> on_problem = {});
  void close();

 private:
  void accept_next();
  void on_failure(ErrorCode error);

  Tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::uint16_t port_ = 0;
  std::function<void(Tcp::socket)> on_connection_;
  std::function<bool(const ErrorCode& error)> on_problem_;
  bool failing_ = false;
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
