// SPDX-License-Identifier: Apache-2.0
#include "serve/session.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <utility>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>

#include "serve/wire.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

namespace wire = boost::beast::http;

// Up to this size one copy is cheaper than a second buffer.
constexpr std::size_t joined_size = 16u << 10;
constexpr Duration close_timeout = std::chrono::seconds{2};
// Fields of a head. Each takes some hundred bytes, however short it is.
constexpr std::ptrdiff_t max_fields = 256;

std::string chunk_head(std::size_t size) {
  char text[24];
  const int length = std::snprintf(text, sizeof text, "%zx\r\n", size);
  return std::string(text, static_cast<std::size_t>(length));
}

// Returns the reason to refuse a request whose end is uncertain: where two servers disagree about it, the
// rest of one request becomes another one.
// Source: RFC 9112, sections 6.1 and 6.3; net/http/transfer.go, parseTransferEncoding.
std::optional<Refusal> framing_problem(const wire::request_header<>& head) {
  const std::size_t codings = head.count(wire::field::transfer_encoding);
  if (codings == 0) return std::nullopt;
  if (codings > 1 || head.version() < 11 || head.count(wire::field::content_length) > 0)
    return Refusal::malformed;
  const bool chunked = boost::beast::iequals(head[wire::field::transfer_encoding], "chunked");
  return chunked ? std::nullopt : std::optional(Refusal::unknown_coding);
}

}  // namespace

Session::Session(asio::io_context& context, std::unique_ptr<ByteStream> stream, const SessionLimits& limits,
                 std::unique_ptr<SessionHandler> handler)
    : stream_(std::move(stream)),
      limits_(limits),
      handler_(std::move(handler)),
      timer_(context),
      input_(limits.max_header + 3 * limits.read_size) {}

void Session::start() {
  expect_within(limits_.first_byte_timeout);
  stream_->start([self = shared_from_this()](ErrorCode error, std::size_t) {
    if (self->closed()) return;
    if (error) return self->close();
    self->handler_->on_connected(*self->stream_);
    self->next_request(self->limits_.first_byte_timeout);
  });
}

void Session::expect_within(Duration time) {
  deadline_ = deadline_after(Steady::now(), time);
  arm_timer();
}

// A timer that fires before the deadline is left running, so that a request does not cost a timer.
void Session::arm_timer() {
  if (armed_ && timer_.expiry() <= deadline_) return;
  armed_ = true;
  timer_.expires_at(deadline_);
  timer_.async_wait([self = shared_from_this()](ErrorCode stopped) {
    if (stopped || self->closed()) return;
    self->armed_ = false;
    if (self->deadline_ <= Steady::now()) return self->close(true);
    if (self->deadline_ != Steady::time_point::max()) self->arm_timer();
  });
}

void Session::next_request(Duration patience) {
  phase_ = Phase::idle;
  expect_within(patience);
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(limits_.max_header));
  parser_->body_limit(limits_.max_body);
  head_seen_ = false;
  feed();
}

void Session::read_more() {
  if (std::exchange(reading_, true)) return;
  if (!arrived_) arrived_ = std::make_unique_for_overwrite<char[]>(limits_.read_size);
  stream_->read_some(
      asio::buffer(arrived_.get(), limits_.read_size),
      [self = shared_from_this()](ErrorCode error, std::size_t size) { self->on_read(error, size); });
}

void Session::on_read(ErrorCode error, std::size_t size) {
  reading_ = false;
  if (closed()) return;
  if (error) return close();  // also a client that sends no more: kube-apiserver ends its watch, too
  input_.commit(asio::buffer_copy(input_.prepare(size), asio::buffer(arrived_.get(), size)));
  switch (phase_) {
    case Phase::idle:
    case Phase::request:
      return feed();
    case Phase::linger:
    case Phase::silent:
      input_.clear();
      return read_more();
    default:  // a request is being handled: the bytes belong to the next one, and wait
      if (input_.size() < limits_.read_size) read_more();
  }
}

// Passes the parser the bytes of a request that have arrived: the head first, and the body once the head is
// known to be sound. The parser leaves an incomplete head, line between chunks or trailer in `input_`, and
// bounds only the head.
void Session::feed() {
  ErrorCode error;
  while (input_.size() > 0 && !parser_->is_done() && !error) {
    if (phase_ == Phase::idle) {
      phase_ = Phase::request;
      expect_within(limits_.request_timeout);
    }
    const bool in_head = !parser_->is_header_done();
    const std::size_t taken = parser_->put(input_.data(), error);
    input_.consume(taken);
    if (in_head && std::distance(parser_->get().begin(), parser_->get().end()) > max_fields)
      return refuse(Refusal::header_too_large);
    if (in_head && parser_->is_header_done()) {
      if (const auto problem = framing_problem(parser_->get())) return refuse(*problem);
      headers_ = headers_of(parser_->get());
      parser_->eager(true);
    } else if (taken == 0) {
      break;
    }
  }
  if (error && error != wire::error::need_more) return refuse(error);
  if (const std::size_t size = parser_->get().body().size(); size > 0 && !handler_->on_body(*this, size))
    return refuse(Refusal::overloaded);
  if (parser_->is_done()) return pass_request();
  if (input_.size() > limits_.max_header) return refuse(Refusal::header_too_large);
  if (!head_seen_ && parser_->is_header_done()) return on_head();
  read_more();
}

void Session::on_head() {
  head_seen_ = true;
  if (limits_.body_timeout) expect_within(*limits_.body_timeout);
  if (!boost::beast::iequals(parser_->get()[wire::field::expect], "100-continue")) return read_more();
  head_ = "HTTP/1.1 100 Continue\r\n\r\n";
  send();  // after which the body is read
}

void Session::refuse(const ErrorCode& error) {
  if (error == wire::error::body_limit) return refuse(Refusal::body_too_large);
  refuse(error == wire::error::header_limit ? Refusal::header_too_large : Refusal::malformed);
}

void Session::refuse(Refusal why) {
  phase_ = Phase::busy;
  keep_alive_ = false;
  parser_.reset();
  answer(handler_->refusal(why));
}

void Session::shed() {
  if (phase_ != Phase::request) return;
  writing_ ? close() : refuse(Refusal::overloaded);  // what is being written is 100 Continue
}

void Session::pass_request() {
  phase_ = Phase::busy;
  expect_nothing();
  auto message = parser_->release();
  keep_alive_ = message.keep_alive();
  chunked_ = message.version() >= 11;
  head_only_ = message.method() == wire::verb::head;
  const std::optional<Method> method = head_only_ ? Method::get : method_of(message.method());
  if (!method) return refuse(Refusal::unknown_method);
  Request request{.method = *method, .target = text_of(message.target()), .headers = std::move(headers_)};
  if (!request.target.starts_with('/')) return refuse(Refusal::malformed);
  request.body = std::move(message.body());
  handler_->on_request(*this, std::move(request), head_only_);
}

void Session::answer(Response response, std::optional<Cut> cut) {
  if (!keep_alive_) end_ = Ending::linger;
  if (cut) end_ = cut->ending;
  head_ = head_of(response) + "Content-Length: " + std::to_string(response.body.size()) + "\r\n";
  head_ += keep_alive_ ? "\r\n" : "Connection: close\r\n\r\n";
  if (!std::exchange(head_only_, false)) body_ = std::move(response.body);
  if (cut) body_.resize(std::min(body_.size(), cut->size));
  send();
}

void Session::stream(const Response& response) {
  phase_ = Phase::streaming;
  if (!chunked_) keep_alive_ = false;
  head_ = head_of(response);
  if (chunked_) head_ += "Transfer-Encoding: chunked\r\n";
  head_ += keep_alive_ ? "\r\n" : "Connection: close\r\n\r\n";
  stream_ready();
  if (!writing_) send();
  read_more();  // to notice that the client goes
}

// Sends the next piece, behind a head that is not sent yet.
void Session::stream_ready() {
  if (phase_ != Phase::streaming || stream_over_) return;
  if (writing_) {
    piece_waits_ = true;
    return;
  }
  StreamPiece piece = handler_->next_piece(*this);
  if (!piece.bytes.empty() || piece.ended) write_piece(std::move(piece));
}

void Session::write_piece(StreamPiece piece) {
  const bool framed = chunked_ && !piece.bytes.empty();
  if (framed) head_ += chunk_head(piece.bytes.size() + (piece.cut ? 1 : 0));  // a cut chunk is never whole
  body_ = std::move(piece.bytes);
  if (framed && !piece.cut) body_ += "\r\n";
  if (piece.ended) {
    stream_over_ = true;
    end_ = piece.cut;
    if (!keep_alive_ && !end_) end_ = Ending::linger;
    if (chunked_ && !piece.cut) body_ += "0\r\n\r\n";
  }
  send();
}

void Session::send() {
  if (body_.size() <= joined_size) {
    head_ += body_;
    body_.clear();
  }
  unsent_ = {asio::buffer(std::as_const(head_)), asio::buffer(std::as_const(body_))};
  writing_ = true;
  expect_within(limits_.write_timeout);
  write_rest();
}

void Session::write_rest() {
  stream_->write_some(unsent_, [self = shared_from_this()](ErrorCode error, std::size_t size) {
    self->on_written(error, size);
  });
}

void Session::on_written(ErrorCode error, std::size_t size) {
  if (closed()) return;
  if (error) return close();
  for (asio::const_buffer& piece : unsent_) {
    const std::size_t taken = std::min(size, piece.size());
    piece += taken;
    size -= taken;
  }
  expect_within(limits_.write_timeout);
  if (asio::buffer_size(unsent_) > 0) return write_rest();
  head_.clear();
  body_.clear();
  writing_ = false;
  on_sent();
}

void Session::on_sent() {
  if (phase_ == Phase::request) {  // that was 100 Continue
    expect_within(limits_.body_timeout.value_or(limits_.request_timeout));
    return feed();
  }
  if (phase_ == Phase::streaming && !stream_over_) {
    expect_nothing();
    if (std::exchange(piece_waits_, false)) stream_ready();
    return;
  }
  stream_over_ = false;
  piece_waits_ = false;
  handler_->on_answered(*this);
  if (end_) return drop(*end_);
  next_request(limits_.idle_timeout);
}

// Ending::linger stops sending, but lets the client read to the end: closing immediately with unread input
// would make the kernel reset the connection and discard data that the client has not read yet.
void Session::drop(Ending how) {
  if (how == Ending::reset) stream_->reset();
  if (how == Ending::reset || how == Ending::close) return close();
  phase_ = how == Ending::silence ? Phase::silent : Phase::linger;
  expect_nothing();
  if (how == Ending::linger) {
    expect_within(close_timeout);
    stream_->shut_down_sending();
  }
  input_.clear();
  read_more();
}

void Session::finish() {
  if (phase_ == Phase::linger) return;  // everything was sent; its own limit is short
  if (phase_ != Phase::busy) return close();
  keep_alive_ = false;
  if (writing_ && !end_) end_ = Ending::linger;
}

void Session::watch_client() {
  if (phase_ == Phase::busy) read_more();
}

ByteStream& Session::upgrade() {
  phase_ = Phase::upgraded;
  expect_nothing();
  return *stream_;
}

std::string Session::take_input() {
  std::string bytes(static_cast<const char*>(input_.data().data()), input_.size());
  input_.clear();
  return bytes;
}

void Session::close(bool timed_out) {
  if (std::exchange(phase_, Phase::closed) == Phase::closed) return;
  timer_.cancel();
  stream_->close();
  handler_->on_closed(*this, timed_out);
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
