// SPDX-License-Identifier: Apache-2.0
// One connection of a server: reads requests and writes responses, in turn.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <evenkeel/serve/server.hpp>

#include "serve/byte_stream.hpp"
#include "serve/site.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

class Session;

/// Interface of the server to its sessions.
class SessionOwner {
 public:
  virtual const ServerOptions& options() const = 0;
  virtual asio::io_context& context() = 0;
  /// Called when a response was sent completely.
  virtual void session_answered(Session& session) = 0;
  virtual void session_ended(Session& session, bool timed_out) = 0;

 protected:
  ~SessionOwner() = default;
};

/// HTTP session. A request is read only after the previous one is answered, so pipelined requests wait in the
/// socket.
/// Thread safety: one thread at a time (the server's). Lifetime: keeps itself alive while an operation
/// runs; owner and site outlive it.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(SessionOwner& owner, Site& site, std::unique_ptr<ByteStream> stream, bool peer_is_loopback);

  void start();
  void close(bool timed_out = false);

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class Phase { open, closing, closed };

  void expect_within(Duration time);
  void next_request(Duration patience);
  void read_more();
  void on_read(ErrorCode error, std::size_t size);
  void feed();
  void refuse(const ErrorCode& error);
  void serve();
  void answer(Response response, bool with_body);
  void send();
  void write_rest();
  void on_written(ErrorCode error, std::size_t size);
  void start_closing();

  SessionOwner& owner_;
  Site& site_;
  const std::unique_ptr<ByteStream> stream_;
  const bool peer_is_loopback_;
  asio::steady_timer deadline_;
  Phase phase_ = Phase::open;

  boost::beast::flat_buffer input_;
  std::optional<Parser> parser_;
  bool head_seen_ = false;  // of the request being read
  bool keep_alive_ = true;

  std::string head_;
  std::string body_;
  ByteStream::Pieces unsent_;
  bool answered_ = false;  // a response is being written, not 100 Continue
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
