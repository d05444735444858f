// SPDX-License-Identifier: Apache-2.0
// Connections to the ports of a Pod through the API server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/client/client.hpp>

namespace evenkeel {
inline namespace v0 {

/// A connection to a TCP port in a Pod, over a dedicated WebSocket. The port is on the Pod's loopback
/// interface and need not be declared. The connection has no thread: the threads that call its members send
/// and receive. Both directions end together, because the protocol cannot close one of them.
///
/// Deadline: that of the client (Client::with()) ends every member with a TransportError; the stop token that
/// is bound applies, too. The client's timeout covers only the constructor.
/// Permissions: "get" and "create" on pods/portforward.
/// Thread safety: one thread may read and one write at the same time.
/// Lifetime: the destructor breaks the connection. No member may be running.
class EVENKEEL_API PodConnection {
 public:
  /// Throws ApiError (no such Pod, not permitted), TransportError, Cancelled, and std::invalid_argument for
  /// port 0. A port on which nothing listens is reported by read().
  PodConnection(const Client& client, const ObjectKey& pod, std::uint16_t port);
  ~PodConnection();
  PodConnection(PodConnection&&) noexcept;
  PodConnection& operator=(PodConnection&&) noexcept;

  /// Returns the next bytes, at least one; nullopt after the end of the connection. If the bytes are not
  /// read, the peer is slowed down after 1 MiB has been read ahead. Throws Error if the node could not
  /// connect to the port, and TransportError if the WebSocket broke.
  std::optional<std::string> read(const std::stop_token& stop = {});
  /// Returns when the operating system has accepted all bytes. If the peer sends much while it receives,
  /// another thread must read at the same time. Bytes written after the end of the connection are discarded.
  void write(std::string_view bytes, const std::stop_token& stop = {});
  /// Ends the connection once the peer has got what was written; received bytes are discarded. Waits for at
  /// most 5 s.
  void close(const std::stop_token& stop = {});

 private:
  class State;
  std::unique_ptr<State> state_;
};

struct PortForwardOptions {
  std::string address = "127.0.0.1";  ///< Local IP address on which it listens.
  std::uint16_t local_port = 0;       ///< 0: a free one.
  std::size_t max_connections = 64;   ///< At the same time; further clients wait to be accepted.
  /// Receives the error of each connection that failed; other connections continue. Called on the threads of
  /// the PortForward; must not throw.
  std::function<void(std::exception_ptr)> on_error = {};
};

/// Listens on a local port and forwards each connection to a port of a Pod, like `kubectl port-forward`. A
/// client that ends its direction ends the connection. The stop token and the deadline that are bound to the
/// client end all connections, and further ones are refused. Threads: one, and two for each connection.
/// Thread safety: all members may be called concurrently.
/// Lifetime: the destructor ends all connections and joins the threads.
class EVENKEEL_API PortForward {
 public:
  /// Throws Error if the local port cannot be opened. No request for the Pod is sent until a client connects.
  PortForward(const Client& client, const ObjectKey& pod, std::uint16_t port,
              PortForwardOptions options = {});
  ~PortForward();
  PortForward(const PortForward&) = delete;
  PortForward& operator=(const PortForward&) = delete;

  std::uint16_t local_port() const noexcept;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace v0
}  // namespace evenkeel
