// SPDX-License-Identifier: Apache-2.0
// One connection of the embedded server: reads requests, has them answered, writes answers and watches.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <evenkeel/http/message.hpp>

#include "apiserver/shell/core_host.hpp"
#include "apiserver/shell/http_server.hpp"
#include "serve/byte_stream.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {

namespace asio = boost::asio;
using http::detail::ByteStream;
using http::detail::ErrorCode;
using http::detail::Tcp;

class HttpSession;

/// What sessions share: the server.
class SessionOwner {
 public:
  virtual CoreHost& host() = 0;
  virtual Front* front() = 0;
  virtual const HttpServerOptions& options() const = 0;
  virtual asio::io_context& context() = 0;
  virtual void watch_started(WatchId id, HttpSession& session) = 0;
  virtual void watch_ended(WatchId id) = 0;
  virtual void session_ended(HttpSession& session) = 0;

 protected:
  ~SessionOwner() = default;
};

/// A request is read only when the one before it is answered: what a client pipelines waits in the socket.
/// Thread safety: one thread at a time (the server's). Lifetime: keeps itself alive while an operation
/// runs; the owner outlives it.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  using Steady = std::chrono::steady_clock;

  HttpSession(SessionOwner& owner, std::unique_ptr<ByteStream> stream);

  void start();
  /// The session's watch can be read.
  void watch_ready();
  /// Ends the connection if it has been waiting for its client for too long.
  void check_deadline(Steady::time_point now);
  void close();

 private:
  enum class Phase { handshake, idle, request, busy, watch, farewell, silent, closed };
  /// What follows when everything is written.
  enum class Parting { none, farewell, reset, silence };
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  void expect_within(Duration time) { deadline_ = Steady::now() + time; }
  void next_request();
  void read_more();
  void on_read(ErrorCode error, std::size_t size);
  void feed();
  void after_feeding();
  void refuse(const ErrorCode& error);
  void serve();
  void execute();
  void answer(Reply reply);
  void answer_and_leave(http::Response response);
  void begin_watch(Reply reply);
  void read_watch();
  void end_watch();
  void send();
  void write_rest();
  void on_written(ErrorCode error, std::size_t size);
  void after_writing();
  static Parting parting_of(FaultEnding ending);
  void part(Parting how);

  SessionOwner& owner_;
  std::unique_ptr<ByteStream> stream_;
  asio::steady_timer delay_;
  Phase phase_ = Phase::handshake;
  std::optional<Caller> peer_;
  Steady::time_point deadline_ = Steady::time_point::max();

  boost::beast::flat_buffer input_;
  bool reading_ = false;
  std::optional<Parser> parser_;
  bool head_seen_ = false;  // of the request being read
  bool keep_alive_ = true;
  bool chunked_ = true;  // the client understands chunks (HTTP/1.1)

  http::Request request_;
  AuthenticatedRequest authenticated_;
  std::optional<WatchId> watch_;
  bool watch_over_ = false;  // its last bytes are being written
  bool more_ = false;        // the watch got something while a write was running

  std::string head_;
  std::string body_;
  ByteStream::Pieces unsent_;
  bool writing_ = false;
  Parting parting_ = Parting::none;
};

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
