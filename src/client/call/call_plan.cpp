// SPDX-License-Identifier: Apache-2.0
#include "client/call/call_plan.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/flow_control.hpp>

#include "client/config/credential_check.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

std::string_view validation_word(FieldValidation validation) {
  switch (validation) {
    case FieldValidation::ignore:
      return "Ignore";
    case FieldValidation::warn:
      return "Warn";
    case FieldValidation::strict:
      return "Strict";
  }
  return "Warn";
}

RestRequest with_options(RestRequest request, const std::string& client_owner, const CallOptions& options) {
  if (request.may_be_partial && options.metadata_only.value_or(false))
    request.accept = accept_metadata(request.method == http::Method::get && request.name.empty());
  if (!request.with_write_options) return request;
  std::vector<std::pair<std::string, std::string>> query;
  if (request.method != http::Method::delete_) {
    const std::string& owner = options.field_owner ? *options.field_owner : client_owner;
    if (!owner.empty()) query.emplace_back("fieldManager", owner);
    if (options.field_validation)
      query.emplace_back("fieldValidation", validation_word(*options.field_validation));
  }
  if (options.dry_run.value_or(false)) query.emplace_back("dryRun", "All");
  request.query.insert(request.query.begin(), query.begin(), query.end());
  return request;
}

TimePoint deadline_of(const ClientState& state, const CallOptions& options) {
  const TimePoint deadline = deadline_after(state.clock->now(), options.timeout.value_or(state.timeout));
  return options.deadline ? std::min(deadline, *options.deadline) : deadline;
}

RetryOptions retries_of(const ClientState& state, const CallOptions& options) {
  RetryOptions limits = state.retry;
  if (options.max_retries) limits.max_retries = *options.max_retries;
  return limits;
}

/// Returns true if the server may have performed a request that ended with this error.
bool may_have_arrived(TransportErrorCode code) {
  return code != TransportErrorCode::resolve && code != TransportErrorCode::connect &&
         code != TransportErrorCode::tls;
}

}  // namespace

CallOptions within_one_deadline(const ClientState& state, CallOptions options) {
  options.deadline = deadline_of(state, options);
  return options;
}

CallPlan::CallPlan(ClientState& state, const RestRequest& request, const CallOptions& options)
    : request_(with_options(request, state.field_owner, options)),
      target_(target_of(request_)),
      deadline_(deadline_of(state, options)),
      writer_(options.writer.value_or(0)),
      waits_(state.flow_control && !options.without_flow_control.value_or(false)),
      retry_(retries_of(state, options), request.method, state.next_seed()),
      guard_(options.write_guard),
      pending_(state.writes, request_, writer_),
      span_(state.tracer, request_, options.trace_parent) {}

Duration CallPlan::on_attempt(ClientState& state, TimePoint now) {
  if (now >= deadline_)
    throw TransportError(TransportErrorCode::timeout, describe(request_) + ": deadline exceeded");
  if (!waits_) return Duration::zero();
  const std::optional<Duration> wait = state.flow_control->reserve(now, deadline_ - now);
  if (!wait) {
    throw TransportError(
        TransportErrorCode::timeout,
        describe(request_) + ": the client-side flow control has no token before the deadline");
  }
  state.note_turn(*wait, describe(request_), now);
  state.meter->waited(request_.method, *wait);
  return *wait;
}

void CallPlan::on_sending(http::Request& wire, TimePoint now) {
  if (guard_ && request_.method != http::Method::get) {
    guard_->check();
    wire.guard = guard_;  // the transport checks it again when bytes are about to be sent
  }
  span_.on_sending(wire);
  sent_ = wire.headers;
  sent_bytes_ = wire.body.size();
  sent_at_ = now;
}

CallPlan::Next CallPlan::on_outcome(ClientState& state, Outcome<http::Response>& outcome, TimePoint now) {
  if (!outcome.ok()) return on_broken(state, outcome, now);
  const http::Response& response = outcome.value();
  span_.on_status(response.status);
  state.meter->answered(request_.method, response.status, now - sent_at_, sent_bytes_, response.body.size());
  state.note_warnings(response.headers, describe(request_));
  if (response.status < 200 || response.status >= 300) return on_refused(state, outcome, now);
  state.writes->on_answer(request_, response.body, writer_);
  if (state.write_spans) state.write_spans->on_answer(request_, response.body, span_.context());
  state.observers->on_end(request_, response.status, response.body);
  return Next::end;
}

CallPlan::Next CallPlan::on_refused(ClientState& state, Outcome<http::Response>& outcome, TimePoint now) {
  const http::Response& response = outcome.value();
  if (response.status == 401 && state.credentials.refreshable() && !std::exchange(refreshed_, true))
    return Next::refresh;
  const int code = response.status;
  Status status = Status::decode(response);
  const Next next = after(state, retry_.on_refused(status), code, now);
  if (next == Next::end) state.observers->on_end(request_, code, response.body);
  if (next == Next::end) span_.on_error(status.reason, status.message);
  std::string call = describe(request_);
  if (code == 401 && !state.config.origin.empty() && !has_credentials(state.config))
    call += ", sent without credentials (" + state.config.origin + ")";
  outcome = Outcome<http::Response>(std::make_exception_ptr(ApiError(std::move(call), std::move(status))));
  return next;
}

CallPlan::Next CallPlan::on_broken(ClientState& state, Outcome<http::Response>& outcome, TimePoint now) {
  state.meter->failed(request_.method, now - sent_at_);
  try {
    std::rethrow_exception(outcome.error());
  } catch (const TransportError& broken) {
    if (may_have_arrived(broken.code())) state.observers->on_end(request_, 0, {});
    span_.on_error("transport", broken.what());
    return after(state, retry_.on_broken(broken.code()), 0, now);
  } catch (const Cancelled&) {
    state.observers->on_end(request_, 0, {});
    span_.on_error("cancelled", "cancelled");
    outcome = Outcome<http::Response>(std::make_exception_ptr(cancelled()));
  } catch (...) {  // the outcome as it is
  }
  return Next::end;
}

CallPlan::Next CallPlan::after(ClientState& state, std::optional<Duration> delay, int status, TimePoint now) {
  if (!delay || deadline_after(now, *delay) >= deadline_) return Next::end;
  delay_ = *delay;
  state.meter->retried(request_.method, status);
  return Next::wait;
}

void CallPlan::on_not_refreshed(Outcome<http::Response>& outcome) const {
  outcome = Outcome<http::Response>(
      std::make_exception_ptr(ApiError(describe(request_), Status::decode(outcome.value()))));
}

void CallPlan::on_end() {
  pending_.end();
  span_.end();
  guard_.reset();
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
