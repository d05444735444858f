// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/core_session.hpp"

#include <string>
#include <utility>

#include "apiserver/query/rest_path.hpp"
#include "apiserver/shell/gzip_answer.hpp"
#include "apiserver/shell/peer_name.hpp"
#include "apiserver/shell/status_answer.hpp"
#include "serve/wire.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::detail {

namespace {

using http::detail::Ending;
using http::detail::plain_answer;
using http::detail::Refusal;
using http::detail::Session;
using http::detail::StreamPiece;

Ending ending_of(FaultEnding ending) {
  if (ending == FaultEnding::reset) return Ending::reset;
  return ending == FaultEnding::silence ? Ending::silence : Ending::linger;
}

}  // namespace

void CoreSession::on_connected(const ByteStream& stream) {
  if (X509* known = stream.peer_certificate()) peer_ = named_by(known);
}

void CoreSession::on_request(Session& session, http::Request request, bool head) {
  if (head) return session.refuse(Refusal::unknown_method);
  request_ = std::move(request);
  authenticated_ = owner_.host().authenticate(request_, peer_);
  unanswered_ = true;
  if (authenticated_.plan.delay == Duration::zero()) return execute(session);
  delay_.expires_after(authenticated_.plan.delay);
  delay_.async_wait([this, self = session.shared_from_this()](ErrorCode error) {
    if (!error && !self->closed()) execute(*self);
  });
}

void CoreSession::execute(Session& session, const WebhookProgress& progress) {
  Reply reply = owner_.host().execute(request_, authenticated_, owner_.front(), progress);
  if (reply.call)
    return owner_.host().call_webhook(
        std::move(reply), owner_.front(),
        [this, weak = session.weak_from_this()](const WebhookProgress& answered) {
          if (const auto self = weak.lock(); self && !self->closed()) execute(*self, answered);
        });
  unanswered_ = false;
  const bool compressed = accepts_gzip(request_);
  const http::Request request = std::exchange(request_, {});
  if (reply.dropped) {
    const Ending how = ending_of(reply.ending);
    return session.drop(how == Ending::linger ? Ending::close : how);
  }
  if (reply.node) return serve_node(session, request, *reply.node);
  if (reply.watch) {
    watch_ = *reply.watch;
    owner_.watch_started(*watch_, session);
    return session.stream(reply.response);
  }
  std::optional<Session::Cut> cut;
  if (reply.cut_after)
    cut = {*reply.cut_after, ending_of(reply.ending)};  // a number of bytes of the plain body
  if (compressed && !cut) compress(reply.response);
  session.answer(std::move(reply.response), cut);
}

void CoreSession::serve_node(Session& session, const http::Request& request, const NodeAction& action) {
  if (action.name == "log") return begin_log(session, request, action);
  socket_ = owner_.nodes().open(session, request, action);
}

void CoreSession::begin_log(Session& session, const http::Request& request, const NodeAction& action) {
  log_begun_ = false;
  const auto on_ready = [this, weak = session.weak_from_this(), number = ++logs_] {
    const auto alive = weak.lock();
    if (alive && !alive->closed() && log_ && number == logs_) log_ready(*alive);
  };
  log_ = owner_.nodes().read_log(request, action, on_ready);
  if (Query(request_query(request)).flag("follow")) log_ready(session);
}

// A log that fails before it has a byte is an error; the head of one that is followed does not wait.
void CoreSession::log_ready(Session& session) {
  if (std::exchange(log_begun_, true)) return session.stream_ready();
  const auto failure = log_->failure();
  if (failure && log_->ended()) {
    log_.reset();
    return session.answer(status_answer(500, "", *failure));
  }
  session.stream({.status = 200, .headers = {{"Content-Type", "text/plain"}}});
}

StreamPiece CoreSession::next_log_piece() {
  constexpr std::size_t longest = 64u << 10;
  StreamPiece next;
  while (next.bytes.size() < longest) {
    auto piece = log_->next();
    if (!piece) break;
    next.bytes += *piece;
  }
  next.ended = log_->ended();
  if (!next.ended) return next;
  if (log_->failure()) next.cut = Ending::reset;
  log_.reset();
  return next;
}

http::Response CoreSession::refusal(Refusal why) {
  switch (why) {
    case Refusal::body_too_large:
      return status_answer(413, "",
                           "Request entity too large: limit is " + std::to_string(owner_.options().max_body));
    case Refusal::header_too_large:
      return plain_answer(431, "431 Request Header Fields Too Large");
    case Refusal::unknown_method:
      return status_answer(405, "", "the server does not allow this method on the requested resource");
    case Refusal::unknown_coding:
      return plain_answer(501, "501 Not Implemented: unsupported transfer encoding");
    case Refusal::overloaded:
    case Refusal::malformed:
      break;
  }
  return plain_answer(400, "400 Bad Request");
}

StreamPiece CoreSession::next_piece(Session&) {
  if (log_) return next_log_piece();
  WatchPiece piece = owner_.host().read(*watch_);
  StreamPiece next{.bytes = std::move(piece.bytes), .ended = piece.ended};
  if (!piece.ended) return next;
  if (piece.cut) next.cut = ending_of(piece.ending);
  owner_.watch_ended(*watch_);
  watch_.reset();
  return next;
}

void CoreSession::on_closed(Session& session, bool) {
  delay_.cancel();
  if (std::exchange(unanswered_, false)) owner_.host().abandon(authenticated_);
  if (log_) std::exchange(log_, nullptr)->on_gone();
  if (socket_) std::exchange(socket_, nullptr)->on_closed();
  if (watch_) {
    owner_.host().close(*watch_);
    owner_.watch_ended(*watch_);
    watch_.reset();
  }
  owner_.session_ended(session);
}

}  // namespace apiserver::detail
}  // namespace v0
}  // namespace evenkeel
