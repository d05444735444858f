// SPDX-License-Identifier: Apache-2.0
// The handler behind each connection of the embedded server: asks the core, and streams its watches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <boost/asio/steady_timer.hpp>

#include <evenkeel/http/message.hpp>

#include "apiserver/shell/core_host.hpp"
#include "apiserver/shell/http_server.hpp"
#include "apiserver/shell/node_desk.hpp"
#include "serve/byte_stream.hpp"
#include "serve/session.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {

namespace asio = boost::asio;
using http::detail::ByteStream;
using http::detail::ErrorCode;
using http::detail::Tcp;

/// State that sessions share: the server.
class SessionOwner {
 public:
  virtual CoreHost& host() = 0;
  virtual Front* front() = 0;
  virtual NodeDesk& nodes() = 0;
  virtual const HttpServerOptions& options() const = 0;
  virtual asio::io_context& context() = 0;
  virtual void watch_started(WatchId id, http::detail::Session& session) = 0;
  virtual void watch_ended(WatchId id) = 0;
  virtual void session_ended(http::detail::Session& session) = 0;

 protected:
  ~SessionOwner() = default;
};

/// Thread safety: one thread at a time (the server's). Lifetime: the owner outlives it.
class CoreSession final : public http::detail::SessionHandler {
 public:
  explicit CoreSession(SessionOwner& owner) : owner_(owner), delay_(owner.context()) {}

  void on_connected(const ByteStream& stream) override;
  void on_request(http::detail::Session& session, http::Request request, bool head) override;
  http::Response refusal(http::detail::Refusal why) override;
  http::detail::StreamPiece next_piece(http::detail::Session& session) override;
  void on_closed(http::detail::Session& session, bool timed_out) override;

 private:
  void execute(http::detail::Session& session, const WebhookProgress& progress = {});
  void serve_node(http::detail::Session& session, const http::Request& request, const NodeAction& action);
  void begin_log(http::detail::Session& session, const http::Request& request, const NodeAction& action);
  void log_ready(http::detail::Session& session);
  http::detail::StreamPiece next_log_piece();

  SessionOwner& owner_;
  asio::steady_timer delay_;
  std::optional<Caller> peer_;
  http::Request request_;
  AuthenticatedRequest authenticated_;
  bool unanswered_ = false;  // the request waits for its rule's delay or for a webhook
  std::optional<WatchId> watch_;
  std::shared_ptr<PodSocket> socket_;
  std::shared_ptr<PodChannel> log_;
  std::uint64_t logs_ = 0;  // begun on this connection
  bool log_begun_ = false;  // the head of its answer was sent
};

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
