// SPDX-License-Identifier: Apache-2.0
#include "client/request/request_span.hpp"

#include <new>
#include <string>
#include <utility>

#include "client/request/request_verb.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// "list pods", "patch demos/status", "get /apis".
std::string name_of(const RestRequest& request) {
  if (!request.path.empty()) return "get " + request.path;
  std::string name(request_verb(request.method, !request.name.empty(), false));
  name += " " + request.resource.plural;
  if (!request.subresource.empty()) name += "/" + request.subresource;
  return name;
}

void describe_object(Span& span, const RestRequest& request) {
  if (!request.path.empty()) return;
  span.set_attribute("k8s.resource", request.resource.plural);
  if (!request.resource.group.empty()) span.set_attribute("k8s.resource.group", request.resource.group);
  if (!request.namespace_.empty()) span.set_attribute("k8s.namespace.name", request.namespace_);
  if (!request.name.empty()) span.set_attribute("k8s.object.name", request.name);
}

}  // namespace

RequestSpan::RequestSpan(const std::shared_ptr<Tracer>& tracer, const RestRequest& request,
                         const std::optional<SpanContext>& parent) {
  if (!tracer) return;
  span_ =
      tracer->start(name_of(request), {.kind = SpanKind::client, .parent = parent.value_or(SpanContext())});
  if (!span_.is_recording()) return;
  span_.set_attribute("http.request.method", std::string(http::method_name(request.method)));
  describe_object(span_, request);
}

void RequestSpan::on_sending(http::Request& wire) {
  if (!span_.context().is_valid()) return;
  wire.headers.set("traceparent", span_.context().traceparent());
  if (attempts_++ > 0) span_.set_attribute("http.request.resend_count", attempts_ - 1);
  status_ = 0;
  failure_.reset();
}

void RequestSpan::on_error(std::string_view type, std::string_view message) {
  if (span_.is_recording()) failure_ = Failure{std::string(type), std::string(message)};
}

void RequestSpan::end() noexcept {
  try {
    add_outcome();
  } catch (const std::bad_alloc&) {  // a span without its outcome is better than no answer
  }
  span_.end();
}

void RequestSpan::add_outcome() {
  if (status_ != 0) span_.set_attribute("http.response.status_code", std::int64_t{status_});
  if (!failure_) return;
  span_.set_attribute("error.type", std::move(failure_->type));
  span_.set_status(SpanStatus::error, std::move(failure_->message));
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
