// SPDX-License-Identifier: Apache-2.0
// The HTTP/1.1 engine of a connection: reads requests, passes them to a handler, writes answers and streams.
// Shared with floors above.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/http/message.hpp>

#include "serve/byte_stream.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {

class Session;

struct SessionLimits {
  /// Larger request heads are refused, and so are larger lines between chunks and trailers.
  std::size_t max_header = 64u << 10;
  std::size_t max_body = 1u << 20;   ///< Larger request bodies are refused.
  std::size_t read_size = 8u << 10;  ///< Bytes read at once.
  Duration first_byte_timeout = {};  ///< For the TLS handshake, and then for the first byte of a request.
  Duration request_timeout = {};     ///< From a request's first byte to its last one.
  /// If set, the request timeout ends with the head, and this is the time from there to the last byte.
  std::optional<Duration> body_timeout = {};
  Duration idle_timeout = {};   ///< Between two requests.
  Duration write_timeout = {};  ///< For each piece that the client takes.
};

/// Reason why the engine refuses a request by itself.
enum class Refusal : std::uint8_t {
  malformed,
  header_too_large,
  body_too_large,
  unknown_method,
  unknown_coding,  ///< A Transfer-Encoding other than "chunked".
  overloaded,      ///< See SessionHandler::on_body() and Session::shed().
};

/// End of a connection.
enum class Ending : std::uint8_t {
  close,    ///< At once.
  linger,   ///< After the client has read to the end; nothing more is sent.
  reset,    ///< With RST.
  silence,  ///< It stays open, but nothing is sent any more until the client or close() ends it.
};

/// Next bytes of a stream. Empty and not ended: there are none yet; Session::stream_ready() asks again.
struct StreamPiece {
  std::string bytes = {};
  bool ended = false;
  std::optional<Ending> cut = {};  ///< With ended: the connection ends so, inside the last chunk.
};

/// The application behind a session. Called on the session's thread, never after on_closed.
class EVENKEEL_API SessionHandler {
 public:
  virtual ~SessionHandler() = default;
  /// The TLS handshake, if there is one, is complete.
  virtual void on_connected(const ByteStream&) {}
  /// `size` bytes of the body of a request have arrived. Returns false to refuse the request as overloaded.
  virtual bool on_body(Session&, std::size_t /*size*/) { return true; }
  /// A whole request; of a HEAD request the method is get and `head` true. The handler calls one of answer(),
  /// stream(), refuse() and drop(), now or later.
  virtual void on_request(Session& session, Request request, bool head) = 0;
  /// Returns the answer to a request that is refused.
  virtual Response refusal(Refusal why) = 0;
  /// Called after stream() when the bytes before are written.
  virtual StreamPiece next_piece(Session&) { return {.ended = true}; }
  /// An answer was sent to its end.
  virtual void on_answered(Session&) {}
  /// The connection is closed.
  virtual void on_closed(Session& session, bool timed_out) = 0;
};

/// A request is parsed only when the one before it is answered: what a client pipelines waits.
/// Thread safety: one thread at a time (that of the context). Lifetime: keeps itself alive while an operation
/// runs; the context outlives it.
class EVENKEEL_API Session : public std::enable_shared_from_this<Session> {
 public:
  Session(asio::io_context& context, std::unique_ptr<ByteStream> stream, const SessionLimits& limits,
          std::unique_ptr<SessionHandler> handler);

  void start();
  void close() { close(false); }
  /// Ends the connection, after the answer to its request if one is being handled or sent. A stream is cut.
  void finish();
  /// Reads on while the handler of a request takes its time, so that a client that leaves closes the session.
  /// Not before upgrade().
  void watch_client();
  bool closed() const { return phase_ == Phase::closed; }

  /// A body that is cut short, and the end of the connection that follows.
  struct Cut {
    std::size_t size = 0;
    Ending ending = Ending::linger;
  };
  /// Sends a whole answer; no body of one to HEAD.
  void answer(Response response, std::optional<Cut> cut = {});
  /// Sends the refusal and ends the connection.
  void refuse(Refusal why);
  /// Refuses the request that is arriving as overloaded, and frees its body. No effect on a complete one.
  void shed();
  /// Sends the head of `response`, then the pieces that the handler returns, as chunks if the client knows
  /// them.
  void stream(const Response& response);
  /// The handler of a running stream has a next piece.
  void stream_ready();
  /// Ends the connection without an answer.
  void drop(Ending how);
  /// Leaves the connection of a running request to the handler, which speaks another protocol on it until
  /// close(). Valid while the session exists.
  ByteStream& upgrade();
  /// Returns and removes the bytes that were received behind the request.
  std::string take_input();

 private:
  enum class Phase : std::uint8_t {
    handshake,
    idle,
    request,
    busy,
    streaming,
    upgraded,
    linger,
    silent,
    closed
  };
  using Steady = std::chrono::steady_clock;
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  void expect_within(Duration time);
  void expect_nothing() { deadline_ = Steady::time_point::max(); }
  void arm_timer();
  void next_request(Duration patience);
  void read_more();
  void on_read(ErrorCode error, std::size_t size);
  void feed();
  void on_head();
  void refuse(const ErrorCode& error);
  void pass_request();
  void write_piece(StreamPiece piece);
  void send();
  void write_rest();
  void on_written(ErrorCode error, std::size_t size);
  void on_sent();
  void close(bool timed_out);

  const std::unique_ptr<ByteStream> stream_;
  const SessionLimits limits_;
  const std::unique_ptr<SessionHandler> handler_;
  asio::steady_timer timer_;
  bool armed_ = false;  // the timer runs; it may fire before the deadline, and is then armed again
  Steady::time_point deadline_ = Steady::time_point::max();
  Phase phase_ = Phase::handshake;

  // A read may be pending while the parser consumes `input_`, so it has a buffer of its own.
  std::unique_ptr<char[]> arrived_;
  boost::beast::flat_buffer input_;  // limited, as a second fence behind feed()
  bool reading_ = false;
  std::optional<Parser> parser_;
  Headers headers_;         // of the request being read; fields of a trailer are not among them
  bool head_seen_ = false;  // of the request being read
  bool head_only_ = false;
  bool keep_alive_ = true;
  bool chunked_ = true;  // the client knows chunks (HTTP/1.1)

  bool stream_over_ = false;   // its last bytes are being written
  bool piece_waits_ = false;   // stream_ready() was called while a write was running
  std::optional<Ending> end_;  // when everything is written

  std::string head_;
  std::string body_;
  ByteStream::Pieces unsent_;
  bool writing_ = false;
};

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
