// SPDX-License-Identifier: Apache-2.0
// WebSockets to a server; Transport::open_web_socket() opens them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/http/message.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http {

/// End of a WebSocket that both sides closed (RFC 6455, 7).
struct WebSocketClose {
  int code = 0;             ///< 1000: normal; 1005: the peer gave none.
  std::string reason = {};  ///< The peer's text.
};

/// An open WebSocket (RFC 6455). Messages are binary. It has no thread: bytes are sent and received only
/// while a thread is in wait(), also those of the other threads; pings are answered, and sent, then too.
/// Thread safety: all members may be called concurrently; usually one thread reads and one writes.
/// Lifetime: the destructor breaks the connection; no call may be in progress.
class EVENKEEL_API WebSocket {
 public:
  static constexpr unsigned readable = 1;  ///< receive() returns a message, or the WebSocket has ended.
  static constexpr unsigned writable = 2;  ///< send() accepts a message: all earlier ones have left.

  virtual ~WebSocket() = default;

  /// Returns the subprotocol that the server chose, or "".
  virtual const std::string& protocol() const noexcept = 0;
  /// Blocks until one of `wanted` holds, or until `until`; returns those that hold. Throws Cancelled when
  /// `stop` is requested. After the end, both hold.
  virtual unsigned wait(unsigned wanted, TimePoint until, const std::stop_token& stop) = 0;
  /// Returns the next message; nullopt if none has arrived, or if there will be none, see closed(). Throws
  /// TransportError if the connection broke, after the messages before. Does not block.
  virtual std::optional<std::string> receive() = 0;
  /// Returns true if it took the message: a later wait() sends it, or drops it if the WebSocket was closed.
  /// Throws TransportError if the connection broke. Does not block.
  virtual bool send(std::string message) = 0;
  /// Announces the end to the peer, behind what was sent; messages that arrive later are dropped. closed() is
  /// set when the peer has agreed.
  virtual void close() = 0;
  /// Returns the end; nullopt while messages may come, and if the connection broke.
  virtual std::optional<WebSocketClose> closed() const = 0;
};

/// The answer to a request for a WebSocket.
struct WebSocketAnswer {
  Response response = {};                  ///< Status 101, or a refusal with its body.
  std::unique_ptr<WebSocket> socket = {};  ///< Null if it was refused.
};

/// Receives a WebSocket that a transport drives. Members are called one at a time, in order, on the
/// transport's thread; they must neither block nor throw. on_end is called exactly once, last.
class EVENKEEL_API WebSocketHandler {
 public:
  virtual ~WebSocketHandler() = default;
  /// Receives the answer: status 101, in whose headers is the subprotocol, or a refusal with its body.
  virtual void on_response(const Response& response) = 0;
  virtual void on_message(std::string message) = 0;
  /// All sent messages have left the transport.
  virtual void on_drained() {}
  /// Returns the time at which an open WebSocket fails with a timeout; called once.
  virtual TimePoint deadline() const { return TimePoint::max(); }
  /// Receives the end that both sides have agreed on (code 0: it was refused), or a TransportError or
  /// Cancelled.
  virtual void on_end(Outcome<WebSocketClose> end) = 0;
};

/// A WebSocket that a transport drives. Dropping the handle does not end it. pause() keeps messages from the
/// handler, and after 1 MiB the peer from sending. Thread safety: all members may be called concurrently.
class EVENKEEL_API WebSocketCall : public Call {
 public:
  /// Sends a message when the WebSocket is open and what was sent before is out. Dropped after the end.
  virtual void send(std::string message) = 0;
  /// Returns the bytes of messages that are not out; 0 when WebSocketHandler::on_drained() is called.
  virtual std::size_t unsent() const = 0;
  /// Announces the end to the peer, behind what was sent; what is sent later is dropped.
  virtual void close() = 0;
};

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
