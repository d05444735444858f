// SPDX-License-Identifier: Apache-2.0
#include "http/started_web_socket.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

#include <evenkeel/base/mutex.hpp>

#include "http/connection_user.hpp"
#include "http/curl_connection.hpp"
#include "http/curl_loop.hpp"
#include "http/curl_web_socket.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

// Bytes that a WebSocket receives before others of its loop have their turn.
constexpr std::size_t most_at_once = std::size_t{1} << 20;

/// Messages of a program to a WebSocket, and what else it wants of it.
/// Thread safety: all members may be called concurrently.
class Outgoing {
 public:
  void send(std::string message) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (ended_ || closing_) return;
    unsent_ += message.size();
    messages_.push_back(std::move(message));
  }
  void close() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  void set_paused(bool paused) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    paused_ = paused;
  }
  std::size_t unsent() const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return unsent_;
  }
  bool paused() const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return paused_;
  }
  /// Nothing more is taken.
  void end() EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    ended_ = true;
    messages_.clear();
    unsent_ = 0;
  }

  enum class Next : std::uint8_t { none, sent, drained, closed };
  /// Passes the next message to `socket`, to which the one before is out. Called on the loop's thread.
  Next push(WebSocket& socket) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    unsent_ -= std::min(unsent_, std::exchange(leaving_, 0));
    if (!messages_.empty()) {
      leaving_ = messages_.front().size();
      socket.send(std::move(messages_.front()));
      messages_.pop_front();
      is_drained_ = false;
      return Next::sent;
    }
    if (closing_ && !std::exchange(close_passed_, true)) {
      socket.close();
      return Next::closed;
    }
    return std::exchange(is_drained_, true) ? Next::none : Next::drained;
  }

 private:
  mutable Mutex mutex_;
  std::deque<std::string> messages_ EVENKEEL_GUARDED_BY(mutex_);
  std::size_t unsent_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::size_t leaving_ EVENKEEL_GUARDED_BY(mutex_) = 0;  // bytes of the message that is being written
  bool is_drained_ EVENKEEL_GUARDED_BY(mutex_) = true;   // the handler knows it
  bool closing_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool close_passed_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool paused_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool ended_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

/// Thread safety: the loop's thread, except outgoing().
class StartedWebSocket final : public ConnectionUser {
 public:
  StartedWebSocket(const CurlTransportOptions& options, Request request, std::vector<std::string> protocols,
                   std::shared_ptr<WebSocketHandler> handler)
      : options_(options),
        request_(std::move(request)),
        protocols_(std::move(protocols)),
        handler_(std::move(handler)) {}

  Outgoing& outgoing() { return outgoing_; }

  void on_connected(const std::shared_ptr<CurlExchange>& exchange, int socket) override {
    auto connection = std::make_unique<CurlConnection>(options_, exchange, socket);
    connection_ = connection.get();
    socket_ = make_driven_web_socket(std::move(connection), options_.dead_peer_timeout);
    socket_->begin(request_, options_, protocols_);
  }

  std::optional<std::exception_ptr> proceed() noexcept override {
    try {
      return step() ? std::optional<std::exception_ptr>() : nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }
  unsigned interest() const override { return socket_->interest(); }
  TimePoint next_due() const override {
    if (is_unfinished_) return now();
    return is_open_ ? std::min(socket_->next_due(), deadline_) : connection_->next_look();
  }

  void on_response(int, const Headers&) override {}
  void on_data(std::string_view) override {}
  void on_disconnecting() noexcept override { socket_.reset(); }
  void on_end(std::exception_ptr error) override {
    outgoing_.end();
    const auto handler = std::exchange(handler_, nullptr);
    if (error) return handler->on_end(Outcome<WebSocketClose>(std::move(error)));
    handler->on_end(Outcome<WebSocketClose>(close_));
  }

 private:
  /// Does what can be done, up to `most_at_once` and a message; returns false at the end.
  bool step() {
    is_unfinished_ = false;
    if (is_open_ && now() >= deadline_)
      throw TransportError(TransportErrorCode::timeout, connection_->describe("deadline exceeded"));
    std::size_t taken = 0;
    for (bool progress = true; progress;) {
      if (taken >= most_at_once) return is_unfinished_ = true;
      socket_->proceed();
      if (!is_open_ && !open()) return !is_refused_;
      progress = false;
      while (!outgoing_.paused()) {
        auto message = socket_->receive();
        if (!message) break;
        progress = true;
        taken += message->size();
        handler_->on_message(std::move(*message));
      }
      if (const auto close = socket_->closed(); close && !outgoing_.paused()) {
        close_ = *close;
        return false;
      }
      progress = push() || progress;
    }
    return true;
  }

  /// Returns true if the WebSocket is open.
  bool open() {
    const std::optional<Response> answer = socket_->answer();
    if (!answer) {
      if (const auto error = connection_->overdue()) std::rethrow_exception(error);
      return false;
    }
    is_open_ = answer->status == 101;
    is_refused_ = !is_open_;
    deadline_ = handler_->deadline();
    handler_->on_response(*answer);
    return is_open_;
  }

  /// Returns true if there is something to send.
  bool push() {
    if (!socket_->may_send()) return false;
    switch (outgoing_.push(*socket_)) {
      case Outgoing::Next::none:
        return false;
      case Outgoing::Next::drained:
        handler_->on_drained();
        return true;
      case Outgoing::Next::sent:
      case Outgoing::Next::closed:
        break;
    }
    return true;
  }

  const CurlTransportOptions& options_;
  const Request request_;
  const std::vector<std::string> protocols_;
  std::shared_ptr<WebSocketHandler> handler_;
  Outgoing outgoing_;
  CurlConnection* connection_ = nullptr;  // of socket_
  std::unique_ptr<DrivenWebSocket> socket_;
  WebSocketClose close_;
  TimePoint deadline_ = TimePoint::max();  // once it is open
  bool is_open_ = false;
  bool is_refused_ = false;
  bool is_unfinished_ = false;  // there was more to do at once
};

/// The program's end. Thread safety: all members may be called concurrently.
class Handle final : public WebSocketCall {
 public:
  Handle(std::shared_ptr<CurlExchange> exchange, std::shared_ptr<StartedWebSocket> socket)
      : exchange_(std::move(exchange)), socket_(std::move(socket)) {}

  void cancel() noexcept override { exchange_->cancel(); }
  void pause() noexcept override { socket_->outgoing().set_paused(true); }
  void resume() noexcept override {
    socket_->outgoing().set_paused(false);
    exchange_->poke();
  }
  void send(std::string message) override {
    socket_->outgoing().send(std::move(message));
    exchange_->poke();
  }
  std::size_t unsent() const override { return socket_->outgoing().unsent(); }
  void close() override {
    socket_->outgoing().close();
    exchange_->poke();
  }

 private:
  const std::shared_ptr<CurlExchange> exchange_;
  const std::shared_ptr<StartedWebSocket> socket_;
};

}  // namespace

std::shared_ptr<WebSocketCall> start_curl_web_socket(const std::shared_ptr<CurlLoop>& loop, Request request,
                                                     std::vector<std::string> protocols,
                                                     std::shared_ptr<WebSocketHandler> handler) {
  request.idle_timeout = Duration::zero();  // pings find a dead peer
  auto socket =
      std::make_shared<StartedWebSocket>(loop->options(), request, std::move(protocols), std::move(handler));
  auto exchange = std::make_shared<CurlExchange>(loop, std::move(request), socket);
  loop->post(CurlLoop::Command::start, exchange);
  return std::make_shared<Handle>(std::move(exchange), std::move(socket));
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
