// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/core_session.hpp"

#include <string>
#include <utility>

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
  return ending == FaultEnding::silence ? Ending::silence : Ending::farewell;
}

}  // namespace

void CoreSession::on_connected(const ByteStream& stream) {
  if (X509* known = stream.peer_certificate()) peer_ = named_by(known);
}

void CoreSession::on_request(Session& session, http::Request request, bool head) {
  if (head) return session.refuse(Refusal::unknown_method);
  request_ = std::move(request);
  authenticated_ = owner_.host().authenticate(request_, peer_);
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
  const bool compressed = accepts_gzip(request_);
  request_ = {};
  if (reply.dropped) {
    const Ending how = ending_of(reply.ending);
    return session.drop(how == Ending::farewell ? Ending::close : how);
  }
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

http::Response CoreSession::refusal(Refusal why) {
  switch (why) {
    case Refusal::body_too_large:
      return status_answer(413, "",
                           "Request entity too large: limit is " + std::to_string(owner_.options().max_body));
    case Refusal::header_too_large:
      return plain_answer(431, "431 Request Header Fields Too Large");
    case Refusal::unknown_method:
      return status_answer(405, "", "the server does not allow this method on the requested resource");
    case Refusal::malformed:
      break;
  }
  return plain_answer(400, "400 Bad Request");
}

StreamPiece CoreSession::next_piece(Session&) {
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
