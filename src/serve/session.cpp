// SPDX-License-Identifier: Apache-2.0
#include "serve/session.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>

#include "serve/wire.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

namespace wire = boost::beast::http;

constexpr std::size_t read_size = 8u << 10;
constexpr Duration close_timeout = std::chrono::seconds{2};

}  // namespace

Session::Session(SessionOwner& owner, Site& site, std::unique_ptr<ByteStream> stream, bool peer_is_loopback)
    : owner_(owner),
      site_(site),
      stream_(std::move(stream)),
      peer_is_loopback_(peer_is_loopback),
      deadline_(owner.context()) {}

void Session::start() {
  expect_within(owner_.options().first_byte_timeout);
  stream_->start([self = shared_from_this()](ErrorCode error, std::size_t) {
    if (self->phase_ == Phase::closed) return;
    if (error) return self->close();
    self->next_request(self->owner_.options().first_byte_timeout);
  });
}

void Session::expect_within(Duration time) {
  deadline_.expires_after(time);
  deadline_.async_wait([self = shared_from_this()](ErrorCode stopped) {
    if (!stopped && self->deadline_.expiry() <= std::chrono::steady_clock::now()) self->close(true);
  });
}

void Session::next_request(Duration patience) {
  parser_.emplace();
  parser_->eager(true);
  parser_->header_limit(static_cast<std::uint32_t>(owner_.options().max_header));
  parser_->body_limit(owner_.options().max_body);
  head_seen_ = false;
  answered_ = false;
  expect_within(patience);
  feed();
}

void Session::read_more() {
  stream_->read_some(
      input_.prepare(read_size),
      [self = shared_from_this()](ErrorCode error, std::size_t size) { self->on_read(error, size); });
}

void Session::on_read(ErrorCode error, std::size_t size) {
  if (phase_ == Phase::closed) return;
  if (error) return close();
  input_.commit(size);
  if (phase_ == Phase::closing) {
    input_.clear();
    return read_more();
  }
  if (!parser_->got_some()) expect_within(owner_.options().request_timeout);
  feed();
}

// Passes the available part of a request to the parser.
void Session::feed() {
  ErrorCode error;
  while (input_.size() > 0 && !parser_->is_done() && !error) {
    const std::size_t taken = parser_->put(input_.data(), error);
    input_.consume(taken);
    if (taken == 0) break;
  }
  if (error && error != wire::error::need_more) return refuse(error);
  if (parser_->is_done()) return serve();
  if (!head_seen_ && parser_->is_header_done()) {
    head_seen_ = true;
    if (boost::beast::iequals(parser_->get()[wire::field::expect], "100-continue")) {
      head_ = "HTTP/1.1 100 Continue\r\n\r\n";
      return send();  // the body is read after it
    }
  }
  read_more();
}

void Session::refuse(const ErrorCode& error) {
  keep_alive_ = false;
  if (error == wire::error::body_limit) return answer(plain_answer(413, "413 request too large\n"), true);
  if (error == wire::error::header_limit)
    return answer(plain_answer(431, "431 request head too large\n"), true);
  answer(plain_answer(400, "400 bad request\n"), true);
}

void Session::serve() {
  auto message = parser_->release();
  keep_alive_ = message.keep_alive();
  const bool head_only = message.method() == wire::verb::head;
  const std::optional<Method> method = head_only ? Method::get : method_of(message.method());
  if (!method) return answer(plain_answer(405, "405 method not allowed\n"), true);
  Request request{.method = *method, .target = text_of(message.target()), .headers = headers_of(message)};
  if (!request.target.starts_with('/')) return answer(plain_answer(400, "400 bad request\n"), !head_only);
  request.body = std::move(message.body());
  answer(site_.answer(request, peer_is_loopback_), !head_only);
}

void Session::answer(Response response, bool with_body) {
  head_ = head_of(response) + "Content-Length: " + std::to_string(response.body.size()) + "\r\n";
  head_ += keep_alive_ ? "\r\n" : "Connection: close\r\n\r\n";
  if (with_body) body_ = std::move(response.body);
  answered_ = true;
  send();
}

void Session::send() {
  unsent_ = {asio::buffer(std::as_const(head_)), asio::buffer(std::as_const(body_))};
  expect_within(owner_.options().write_timeout);
  write_rest();
}

void Session::write_rest() {
  stream_->write_some(unsent_, [self = shared_from_this()](ErrorCode error, std::size_t size) {
    self->on_written(error, size);
  });
}

void Session::on_written(ErrorCode error, std::size_t size) {
  if (phase_ == Phase::closed) return;
  if (error) return close();
  for (asio::const_buffer& piece : unsent_) {
    const std::size_t taken = std::min(size, piece.size());
    piece += taken;
    size -= taken;
  }
  if (asio::buffer_size(unsent_) > 0) {
    expect_within(owner_.options().write_timeout);
    return write_rest();
  }
  head_.clear();
  body_.clear();
  if (!answered_) {
    expect_within(owner_.options().request_timeout);
    return feed();
  }
  owner_.session_answered(*this);
  if (!keep_alive_) return start_closing();
  next_request(owner_.options().idle_timeout);
}

// Stops sending, but lets the client read to the end: closing immediately with unread input would make the
// kernel reset the connection and discard data that the client has not read yet.
void Session::start_closing() {
  phase_ = Phase::closing;
  expect_within(close_timeout);
  stream_->shut_down_sending();
  input_.clear();
  read_more();
}

void Session::close(bool timed_out) {
  if (std::exchange(phase_, Phase::closed) == Phase::closed) return;
  deadline_.cancel();
  stream_->close();
  owner_.session_ended(*this, timed_out);
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
