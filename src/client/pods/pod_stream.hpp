// SPDX-License-Identifier: Apache-2.0
// A WebSocket to a Pod's subresource, within the limits that are bound to a client.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/client/client.hpp>
#include <evenkeel/client/rest_request.hpp>

#include "client/request/bound_limits.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Thread safety: one thread may receive and one send at the same time.
class PodStream {
 public:
  /// Throws like Client::open_web_socket(), and TransportError if the server speaks none of `protocols`.
  PodStream(const Client& client, const RestRequest& request, const std::vector<std::string>& protocols);

  /// Names the call in errors.
  const std::string& call() const noexcept { return call_; }
  http::WebSocket& socket() const noexcept { return *socket_; }
  /// Returns the next message; nullopt at the end.
  std::optional<std::string> receive(const std::stop_token& stop);
  /// Sends `bytes` in pieces, each in a message that `message` makes of it. Returns when all are out.
  void send(std::string_view bytes, const std::function<std::string(std::string_view)>& message,
            const std::stop_token& stop);
  /// Sends one message. What is sent after the end is dropped.
  void send(const std::string& message, const std::stop_token& stop);
  /// Waits within the client's limits, and throws when one is reached; also if nothing has to be waited for,
  /// so that a peer that never pauses cannot keep the caller.
  void wait(unsigned wanted, const std::stop_token& stop);
  /// Closes, and waits at most until `until` for the peer to agree; what it sends is discarded.
  void close(TimePoint until, const std::stop_token& stop);

 private:
  const Client client_;  // keeps the transport
  const std::string call_;
  const BoundLimits limits_;
  std::unique_ptr<http::WebSocket> socket_;
};

/// Longest piece of a stream in one message: as long as those of kubectl.
inline constexpr std::size_t longest_piece = std::size_t{32} << 10;

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
