// SPDX-License-Identifier: Apache-2.0
// Connections to ports of a Pod, without a waiting thread: the asynchronous form of PodConnection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {

/// Receives the bytes from a port. The functions are called one at a time, on the transport's thread or by
/// EventLoop::poll(); they must neither block nor throw.
struct PodConnectionListener {
  std::function<void(std::string)> on_data = {};
  std::function<void()> on_drained = {};  ///< All written bytes have been sent.
  /// Called once, last: null at the end of the connection, otherwise an error of PodConnection.
  std::function<void(std::exception_ptr)> on_end = {};
};

/// A connection to a port of a Pod. pause() keeps data from the listener, and after 1 MiB slows the peer
/// down. Thread safety: all members may be called concurrently. Lifetime: dropping the handle ends nothing.
class EVENKEEL_API PodConnectionCall : public http::Call {
 public:
  /// Queues bytes; dropped after the end.
  virtual void write(std::string bytes) = 0;
  /// Ends the connection after the bytes that were written.
  virtual void close() = 0;
  /// Returns the bytes that are queued.
  virtual std::size_t unsent() const = 0;
};

/// Connects to a TCP port in a Pod. Deadline, stop token, timeout and permissions are those of PodConnection.
/// Throws std::invalid_argument for port 0. Blocks: while a token has to be fetched, unless the client has an
/// event loop.
EVENKEEL_API std::shared_ptr<PodConnectionCall> start_pod_connection(const Client& client,
                                                                     const ObjectKey& pod, std::uint16_t port,
                                                                     PodConnectionListener listener);

}  // namespace v0
}  // namespace evenkeel
