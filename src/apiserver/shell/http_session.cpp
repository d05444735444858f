// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/http_session.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include "apiserver/shell/peer_name.hpp"
#include "apiserver/shell/status_answer.hpp"
#include "serve/wire.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {
namespace {

namespace wire = boost::beast::http;
using http::detail::head_of;
using http::detail::headers_of;
using http::detail::method_of;
using http::detail::plain_answer;
using http::detail::text_of;

constexpr std::size_t read_size = 64u << 10;
// Up to here one copy is cheaper than a second buffer.
constexpr std::size_t joined_size = 16u << 10;
constexpr Duration farewell_time = std::chrono::seconds{2};

std::string chunk_head(std::size_t size) {
  char text[24];
  const int length = std::snprintf(text, sizeof text, "%zx\r\n", size);
  return std::string(text, static_cast<std::size_t>(length));
}

}  // namespace

HttpSession::Parting HttpSession::parting_of(FaultEnding ending) {
  if (ending == FaultEnding::reset) return Parting::reset;
  return ending == FaultEnding::silence ? Parting::silence : Parting::farewell;
}

HttpSession::HttpSession(SessionOwner& owner, std::unique_ptr<ByteStream> stream)
    : owner_(owner), stream_(std::move(stream)), delay_(owner.context()) {}

void HttpSession::start() {
  expect_within(owner_.options().idle_timeout);
  stream_->start([self = shared_from_this()](ErrorCode error, std::size_t) {
    if (self->phase_ == Phase::closed) return;
    if (error) return self->close();
    if (X509* known = self->stream_->peer_certificate()) self->peer_ = named_by(known);
    self->next_request();
  });
}

void HttpSession::next_request() {
  phase_ = Phase::idle;
  expect_within(owner_.options().idle_timeout);
  parser_.emplace();
  parser_->eager(true);
  parser_->header_limit(static_cast<std::uint32_t>(owner_.options().max_header));
  parser_->body_limit(owner_.options().max_body);
  head_seen_ = false;
  feed();
}

void HttpSession::read_more() {
  if (reading_) return;
  reading_ = true;
  stream_->read_some(
      input_.prepare(read_size),
      [self = shared_from_this()](ErrorCode error, std::size_t size) { self->on_read(error, size); });
}

void HttpSession::on_read(ErrorCode error, std::size_t size) {
  reading_ = false;
  if (phase_ == Phase::closed) return;
  if (error) return close();  // also a client that sends no more: the real server ends its watch, too
  input_.commit(size);
  switch (phase_) {
    case Phase::idle:
    case Phase::request:
      return feed();
    case Phase::farewell:
    case Phase::silent:
      input_.clear();
      return read_more();
    default:  // a watch: what comes now is the next request, and waits
      if (input_.size() < read_size) read_more();
  }
}

// Gives the parser what there is of a request.
void HttpSession::feed() {
  ErrorCode error;
  while (input_.size() > 0 && !parser_->is_done() && !error) {
    if (phase_ == Phase::idle) {
      phase_ = Phase::request;
      expect_within(owner_.options().head_timeout);
    }
    const std::size_t taken = parser_->put(input_.data(), error);
    input_.consume(taken);
    if (taken == 0) break;
  }
  if (error && error != wire::error::need_more) return refuse(error);
  after_feeding();
}

void HttpSession::after_feeding() {
  if (parser_->is_done()) return serve();
  if (!head_seen_ && parser_->is_header_done()) {
    head_seen_ = true;
    expect_within(owner_.options().body_timeout);
    if (boost::beast::iequals(parser_->get()[wire::field::expect], "100-continue")) {
      head_ = "HTTP/1.1 100 Continue\r\n\r\n";
      body_.clear();
      return send();  // after which the body is read
    }
  }
  read_more();
}

void HttpSession::refuse(const ErrorCode& error) {
  if (error == wire::error::body_limit)
    return answer_and_leave(status_answer(
        413, "", "Request entity too large: limit is " + std::to_string(owner_.options().max_body)));
  if (error == wire::error::header_limit)
    return answer_and_leave(plain_answer(431, "431 Request Header Fields Too Large"));
  answer_and_leave(plain_answer(400, "400 Bad Request"));
}

void HttpSession::serve() {
  phase_ = Phase::busy;
  deadline_ = Steady::time_point::max();
  auto message = parser_->release();
  keep_alive_ = message.keep_alive();
  chunked_ = message.version() >= 11;
  const std::optional<http::Method> method = method_of(message.method());
  if (!method) {
    http::Response answer =
        status_answer(405, "", "the server does not allow this method on the requested resource");
    if (message.method() == wire::verb::head) answer.body.clear();
    return answer_and_leave(std::move(answer));
  }
  request_ = {.method = *method, .target = text_of(message.target()), .headers = headers_of(message)};
  request_.body = std::move(message.body());
  if (!request_.target.starts_with('/')) return answer_and_leave(plain_answer(400, "400 Bad Request"));
  authenticated_ = owner_.host().authenticate(request_, peer_);
  if (authenticated_.plan.delay == Duration::zero()) return execute();
  delay_.expires_after(authenticated_.plan.delay);
  delay_.async_wait([self = shared_from_this()](ErrorCode error) {
    if (!error && self->phase_ != Phase::closed) self->execute();
  });
}

void HttpSession::execute() {
  Reply reply = owner_.host().execute(request_, authenticated_, owner_.front());
  request_ = {};
  if (reply.dropped) {
    const Parting how = parting_of(reply.ending);
    return how == Parting::farewell ? close() : part(how);
  }
  if (reply.watch) return begin_watch(std::move(reply));
  answer(std::move(reply));
}

void HttpSession::answer(Reply reply) {
  parting_ = keep_alive_ ? Parting::none : Parting::farewell;
  if (reply.cut_after) parting_ = parting_of(reply.ending);
  head_ = head_of(reply.response) + "Content-Length: " + std::to_string(reply.response.body.size()) + "\r\n";
  head_ += keep_alive_ ? "\r\n" : "Connection: close\r\n\r\n";
  body_ = std::move(reply.response.body);
  if (reply.cut_after) body_.resize(*reply.cut_after);
  send();
}

void HttpSession::answer_and_leave(http::Response response) {
  phase_ = Phase::busy;
  keep_alive_ = false;
  answer({.response = std::move(response)});
}

void HttpSession::begin_watch(Reply reply) {
  phase_ = Phase::watch;
  watch_ = *reply.watch;
  owner_.watch_started(*watch_, *this);
  if (!chunked_) keep_alive_ = false;
  head_ = head_of(reply.response);
  if (chunked_) head_ += "Transfer-Encoding: chunked\r\n";
  head_ += keep_alive_ ? "\r\n" : "Connection: close\r\n\r\n";
  body_.clear();
  read_watch();
  if (!writing_) send();
  read_more();  // to notice that the client goes
}

// Sends what the watch has to say, after what is in head_ already.
void HttpSession::read_watch() {
  if (writing_) {
    more_ = true;
    return;
  }
  WatchPiece piece = owner_.host().read(*watch_);
  if (piece.bytes.empty() && !piece.ended) return;
  const bool framed = chunked_ && !piece.bytes.empty();
  if (framed) head_ += chunk_head(piece.bytes.size() + (piece.cut ? 1 : 0));  // a cut chunk is never whole
  body_ = std::move(piece.bytes);
  if (framed && !piece.cut) body_ += "\r\n";
  if (piece.ended) {
    owner_.watch_ended(*watch_);
    watch_.reset();
    watch_over_ = true;
    parting_ = keep_alive_ ? Parting::none : Parting::farewell;
    if (piece.cut) parting_ = parting_of(piece.ending);
    if (chunked_ && !piece.cut) body_ += "0\r\n\r\n";
  }
  send();
}

void HttpSession::watch_ready() {
  if (watch_) read_watch();
}

void HttpSession::send() {
  if (body_.size() <= joined_size) {
    head_ += body_;
    body_.clear();
  }
  unsent_ = {asio::buffer(std::as_const(head_)), asio::buffer(std::as_const(body_))};
  writing_ = true;
  expect_within(owner_.options().write_timeout);
  write_rest();
}

void HttpSession::write_rest() {
  stream_->write_some(unsent_, [self = shared_from_this()](ErrorCode error, std::size_t size) {
    self->on_written(error, size);
  });
}

void HttpSession::on_written(ErrorCode error, std::size_t size) {
  if (phase_ == Phase::closed) return;
  if (error) return close();
  for (asio::const_buffer& piece : unsent_) {
    const std::size_t taken = std::min(size, piece.size());
    piece += taken;
    size -= taken;
  }
  expect_within(owner_.options().write_timeout);
  if (asio::buffer_size(unsent_) > 0) return write_rest();
  head_.clear();
  body_.clear();
  writing_ = false;
  after_writing();
}

void HttpSession::after_writing() {
  if (parting_ != Parting::none) return part(parting_);
  switch (phase_) {
    case Phase::request:  // that was 100 Continue
      expect_within(owner_.options().body_timeout);
      return feed();
    case Phase::watch:
      deadline_ = Steady::time_point::max();
      if (std::exchange(watch_over_, false)) return next_request();
      if (std::exchange(more_, false)) read_watch();
      return;
    default:
      next_request();
  }
}

// Sends no more. A farewell lets the client read to the end: closing at once with input unread would make
// the kernel reset the connection and throw away what the client did not read yet.
void HttpSession::part(Parting how) {
  if (how == Parting::reset) {
    stream_->reset();
    return close();
  }
  phase_ = how == Parting::silence ? Phase::silent : Phase::farewell;
  deadline_ = Steady::time_point::max();
  if (how == Parting::farewell) {
    expect_within(farewell_time);
    stream_->shut_down_sending();
  }
  input_.clear();
  read_more();
}

void HttpSession::check_deadline(Steady::time_point now) {
  if (now >= deadline_) close();
}

void HttpSession::close() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  delay_.cancel();
  if (watch_) {
    owner_.host().close(*watch_);
    owner_.watch_ended(*watch_);
    watch_.reset();
  }
  stream_->close();
  owner_.session_ended(*this);
}

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
