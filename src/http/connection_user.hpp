// SPDX-License-Identifier: Apache-2.0
// The user of a connection that an exchange only opens.
#pragma once

#include <exception>
#include <memory>
#include <optional>

#include <evenkeel/base/time.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

class CurlExchange;

/// Speaks a protocol of its own on a connection of the curl loop. All members are called on the loop's
/// thread; on_end() is the last one, also if there was no connection.
class ConnectionUser : public StreamHandler {
 public:
  /// The connection is open. It stays the exchange's.
  virtual void on_connected(const std::shared_ptr<CurlExchange>& exchange, int socket) = 0;
  /// Does what can be done without waiting: the socket is ready, next_due() has passed, or the exchange was
  /// poked. Returns the end, null or an error; nullopt while it goes on.
  virtual std::optional<std::exception_ptr> proceed() noexcept = 0;
  /// Returns what the socket must be ready for, as bits of SocketPoller.
  virtual unsigned interest() const = 0;
  virtual TimePoint next_due() const = 0;
  /// Drops what refers to the socket, which is closed next; on_end() follows. Called only after
  /// on_connected(), also if that threw.
  virtual void on_disconnecting() noexcept = 0;
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
