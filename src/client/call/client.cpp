// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/base/suspender.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/resource_client.hpp>

#include "client/call/async_call.hpp"
#include "client/call/call_flow.hpp"
#include "client/call/call_plan.hpp"
#include "client/call/stream_call.hpp"
#include "client/request/client_state.hpp"
#include "client/request/socket_call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

Outcome<http::Response> fetch(http::Transport& transport, http::Request request, std::stop_token stop) {
  try {
    return transport.fetch(std::move(request), std::move(stop));
  } catch (const Error&) {
    return std::current_exception();
  }
}

}  // namespace

Client::Client(Config config, ClientOptions options)
    : state_(std::make_shared<detail::ClientState>(std::move(config), std::move(options))) {}

Client::Client(std::shared_ptr<detail::ClientState> state, CallOptions call)
    : state_(std::move(state)), call_(std::move(call)) {}

Client Client::with(CallOptions options) const {
  CallOptions merged = call_;
  const auto take = [](auto& into, auto& from) {
    if (from) into = std::move(from);
  };
  take(merged.stop, options.stop);
  take(merged.timeout, options.timeout);
  take(merged.deadline, options.deadline);
  take(merged.field_owner, options.field_owner);
  take(merged.dry_run, options.dry_run);
  take(merged.field_validation, options.field_validation);
  take(merged.max_retries, options.max_retries);
  take(merged.metadata_only, options.metadata_only);
  take(merged.without_flow_control, options.without_flow_control);
  take(merged.write_guard, options.write_guard);
  take(merged.writer, options.writer);
  take(merged.trace_parent, options.trace_parent);
  return Client(state_, std::move(merged));
}

const Config& Client::config() const noexcept {
  return state_->config;
}
const std::shared_ptr<const Clock>& Client::clock() const noexcept {
  return state_->clock;
}
const std::shared_ptr<http::Transport>& Client::transport() const noexcept {
  return state_->transport;
}
const std::shared_ptr<EventLoop>& Client::event_loop() const noexcept {
  return state_->event_loop;
}
const Log& Client::log() const noexcept {
  return state_->log;
}
const std::shared_ptr<RequestMeter>& Client::meter() const noexcept {
  return state_->meter;
}
const std::shared_ptr<detail::WriteLog>& Client::writes() const noexcept {
  return state_->writes;
}
const std::shared_ptr<detail::WriteObservers>& Client::write_observers() const noexcept {
  return state_->observers;
}
const std::shared_ptr<Tracer>& Client::tracer() const noexcept {
  return state_->tracer;
}
const std::shared_ptr<detail::WriteSpans>& Client::write_spans() const noexcept {
  return state_->write_spans;
}
ResourceClient Client::resource(ResourceId id) const {
  return ResourceClient(*this, std::move(id));
}

// ---- Any call ----

void Client::drive(detail::CallCore& core) const {
  const Client bounded(state_, detail::within_one_deadline(*state_, call_));
  while (const std::optional<RestRequest> request = core.next_request()) {
    std::optional<http::Response> response;
    try {
      response = bounded.raw(*request);
    } catch (const Error&) {
      if (!core.on_error(std::current_exception())) throw;
    }
    if (response) core.on_response(std::move(*response));
  }
}

std::shared_ptr<http::Call> Client::start_core(std::shared_ptr<detail::CallCore> core,
                                               std::function<void(const std::exception_ptr&)> done) const {
  return detail::start_flow(state_, call_, std::move(core), std::move(done));
}

// ---- Untyped calls ----

// Blocks the fiber, and no thread.
http::Response Client::raw_on_fiber(const RestRequest& request) const {
  Mutex mutex;
  CondVar ended;
  std::optional<Outcome<http::Response>> outcome;
  const auto call = detail::start_call(state_, request, call_, [&](Outcome<http::Response> result) {
    MutexLock lock(mutex);
    outcome.emplace(std::move(result));
    ended.notify_all();
  });
  MutexLock lock(mutex);
  while (!outcome) ended.wait(lock);
  return std::move(*outcome).value();
}

http::Response Client::raw(const RestRequest& request) const {
  using detail::CallPlan;
  if (detail::Suspender::current() != nullptr) return raw_on_fiber(request);
  const std::stop_token stop = call_.stop.value_or(std::stop_token());
  CallPlan plan(*state_, request, call_);
  for (;;) {
    const TimePoint begun = state_->clock->now();
    if (const Duration turn = plan.on_attempt(*state_, begun);
        turn > Duration::zero() && !sleep_until(*state_->clock, deadline_after(begun, turn), stop))
      throw plan.cancelled();
    const detail::TokenWait wait{.stop = stop, .deadline = plan.deadline()};
    http::Request wire = state_->prepare(plan.request(), plan.target(), plan.deadline(), wait);
    plan.on_sending(wire, state_->clock->now());
    Outcome<http::Response> outcome = fetch(*state_->transport, std::move(wire), stop);
    const TimePoint now = state_->clock->now();
    switch (plan.on_outcome(*state_, outcome, now)) {
      case CallPlan::Next::end:
        return std::move(outcome).value();
      case CallPlan::Next::wait:
        if (!sleep_until(*state_->clock, deadline_after(now, plan.delay()), stop)) throw plan.cancelled();
        break;
      case CallPlan::Next::refresh:
        if (state_->credentials.refresh(plan.sent(), wait)) break;
        plan.on_not_refreshed(outcome);
        return std::move(outcome).value();
    }
  }
}

std::shared_ptr<http::Call> Client::stream(const RestRequest& request,
                                           std::shared_ptr<http::StreamHandler> handler) const {
  return detail::open_stream(state_, call_, request, std::move(handler));
}

std::unique_ptr<http::WebSocket> Client::open_web_socket(const RestRequest& request,
                                                         const std::vector<std::string>& protocols) const {
  const TimePoint limit = deadline_after(state_->clock->now(), call_.timeout.value_or(state_->timeout));
  const detail::TokenWait wait{.stop = call_.stop.value_or(std::stop_token()),
                               .deadline = std::min(limit, call_.deadline.value_or(TimePoint::max()))};
  for (bool refreshed = false;; refreshed = true) {
    http::Request wire = state_->prepare(request, target_of(request), wait.deadline, wait);
    wire.guard = call_.write_guard;
    const http::Headers sent = wire.headers;
    int status = 0;
    http::WebSocketAnswer answer;
    try {
      answer = state_->transport->open_web_socket(std::move(wire), protocols, wait.stop);
      status = answer.response.status;
    } catch (...) {
      state_->meter->streamed(request.method, 0);
      throw;
    }
    state_->meter->streamed(request.method, status);
    state_->note_warnings(answer.response.headers, describe(request));
    if (answer.socket) return std::move(answer.socket);
    const bool may_refresh = status == 401 && !refreshed && state_->credentials.refreshable();
    if (!may_refresh || !state_->credentials.refresh(sent, wait))
      throw ApiError(describe(request), Status::decode(answer.response));
  }
}

std::shared_ptr<http::WebSocketCall> Client::start_web_socket(
    const RestRequest& request, const std::vector<std::string>& protocols,
    std::shared_ptr<http::WebSocketHandler> handler) const {
  return detail::start_socket(state_, call_, request, protocols, std::move(handler));
}

void Client::pause(Duration delay, double jitter) const {
  std::uint64_t random = state_->next_seed();
  const TimePoint now = state_->clock->now();
  const TimePoint when = deadline_after(now, detail::jittered(delay, jitter, random));
  if (call_.deadline && when >= *call_.deadline) {
    throw TransportError(TransportErrorCode::timeout, "deadline exceeded while waiting to try again");
  }
  if (!sleep_until(*state_->clock, when, call_.stop.value_or(std::stop_token()))) {
    throw Cancelled("cancelled while waiting to try again");
  }
}

}  // namespace v0
}  // namespace evenkeel
