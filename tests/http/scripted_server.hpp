// SPDX-License-Identifier: Apache-2.0
// A server on loopback that follows a test's script, right or wrong: truncated bodies, silence, huge headers.
// One thread per connection; plain or TLS.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <evenkeel/http/message.hpp>

struct ssl_st;
struct ssl_ctx_st;

namespace evenkeel::tests {

/// One accepted connection, as seen by the script.
class Connection {
 public:
  Connection(int socket, ssl_st* ssl) : socket_(socket), ssl_(ssl) {}

  /// Returns the next request with its body; nullopt when the peer has closed the connection.
  std::optional<http::Request> read_request();
  /// Returns exactly `count` bytes; nullopt when the peer has closed the connection.
  std::optional<std::string> read_exactly(std::size_t count);
  /// Returns bytes to the buffer, to be read again.
  void unread(std::string_view bytes) { buffer_.insert(0, bytes); }
  /// Returns false when the peer has closed the connection.
  bool write(std::string_view bytes);
  /// Sends a complete response with Content-Length.
  bool respond(int status, std::string_view body, std::string_view extra_headers = "");
  /// Sends the headers of a chunked response, and its pieces; an empty piece ends it.
  bool start_chunked(int status, std::string_view extra_headers = "");
  bool chunk(std::string_view piece);
  /// Blocks until the peer closes, or the server stops.
  void wait_until_closed();
  /// Makes the connection end with a reset.
  void reset_at_end();
  /// Returns the common name of the peer's certificate, or "".
  std::string peer_name() const;

 private:
  long receive(char* data, std::size_t size);

  int socket_;
  ssl_st* ssl_;
  std::string buffer_;
};

struct ScriptedServerOptions {
  std::string cert = {};  ///< If set, the server uses TLS.
  std::string key = {};
  std::string client_ca = {};  ///< Requests a client certificate of this authority.
  bool http2 = false;          ///< Offers h2 by ALPN.
  int highest_tls = 0;         ///< Such as TLS1_1_VERSION, at a security level that permits it; 0: any.
};

class ScriptedServer {
 public:
  using Script = std::function<void(Connection&)>;

  explicit ScriptedServer(Script script, ScriptedServerOptions options = {});
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  int port() const { return port_; }
  std::string url(const std::string& host = "127.0.0.1") const;
  int connections() const { return connections_.load(); }
  /// Refuses new connections from now on.
  void stop_listening();

 private:
  void accept_loop();
  void serve(int socket);

  Script script_;
  ScriptedServerOptions options_;
  ssl_ctx_st* tls_ = nullptr;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_{0};
  std::mutex mutex_;
  bool stopping_ = false;
  std::vector<int> sockets_;
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

/// Returns a port on which nothing listens.
int unused_port();

/// Serves a minimum of HTTP/2 on a connection: answers each request with 200 and "stream <id>, <n> bytes",
/// but none before `hold` requests are open at once. Counts into `streams`. `settings` is the payload of its
/// SETTINGS frame.
void serve_http2(Connection& connection, int hold, std::atomic<int>& streams, std::string_view settings = "");

}  // namespace evenkeel::tests
