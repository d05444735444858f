// SPDX-License-Identifier: Apache-2.0
#include "client/client_state.hpp"

#include <algorithm>

#include <evenkeel/http/client_certificate.hpp>
#include <evenkeel/http/curl_transport.hpp>

#include "client/credential_check.hpp"
#include "http/wire_check.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t most_warnings = 1000;  // maximum remembered; further ones may repeat

std::shared_ptr<http::Transport> transport_for(const Config& config, const ClientOptions& options) {
  if (options.transport) return options.transport;
  return http::make_curl_transport({.server = config.server,
                                    .tls = config.tls,
                                    .proxy = config.proxy,
                                    .user_agent = options.user_agent,
                                    .credentials_in_clear = config.credentials_in_clear});
}

Config checked(Config config) {
  check_credentials(config);
  if (!config.exec.empty()) config.tls.client_certificate = std::make_shared<http::ClientCertificate>();
  return config;
}

// Returns "10.0.0.1:6443" for "https://10.0.0.1:6443/path".
std::string host_of(const std::string& server) {
  const std::size_t scheme = server.find("://");
  const std::size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
  return server.substr(begin, server.find('/', begin) - begin);
}

std::uint64_t first_seed(const Clock& clock, const void* self) {
  return static_cast<std::uint64_t>(clock.now().time_since_epoch().count()) ^
         reinterpret_cast<std::uintptr_t>(self);
}

/// Returns the unescaped text of `299 - "text"`; "" if it is not a warning of the API server.
std::string warning_text(std::string_view value) {
  if (!value.starts_with("299 ")) return {};
  const auto open = value.find('"');
  if (open == std::string_view::npos) return {};
  std::string text;
  for (std::size_t i = open + 1; i < value.size() && value[i] != '"'; ++i) {
    if (value[i] == '\\' && i + 1 < value.size()) ++i;
    text += value[i];
  }
  return text;
}

}  // namespace

ClientState::ClientState(Config config_, ClientOptions options)
    : config(checked(std::move(config_))),
      clock(options.clock ? options.clock : real_clock()),
      log(options.log),
      field_owner(options.field_owner),
      timeout(options.timeout),
      retry(options.retry),
      transport(transport_for(config, options)),
      meter(std::make_shared<RequestMeter>(host_of(config.server))),
      writes(std::make_shared<WriteLog>()),
      credentials(config, clock),
      delayer(clock),
      seed_(options.seed.value_or(first_seed(*clock, this))) {}

namespace {

http::Request without_credentials(const RestRequest& request, const std::string& target,
                                  std::optional<TimePoint> deadline) {
  http::Request out{
      .method = request.method, .target = target, .deadline = deadline, .idle_timeout = request.idle_timeout};
  out.headers.add("Accept", request.accept.empty() ? "application/json" : request.accept);
  if (!request.content_type.empty()) out.headers.add("Content-Type", request.content_type);
  out.body = request.body;
  return out;
}

}  // namespace

http::Request ClientState::prepare(const RestRequest& request, const std::string& target,
                                   std::optional<TimePoint> deadline, const TokenWait& wait) {
  http::Request out = without_credentials(request, target, deadline);
  credentials.add_to(out.headers, wait);
  http::detail::check_request(out);
  return out;
}

std::optional<http::Request> ClientState::try_prepare(const RestRequest& request, const std::string& target,
                                                      std::optional<TimePoint> deadline) {
  http::Request out = without_credentials(request, target, deadline);
  if (!credentials.try_add_to(out.headers)) return std::nullopt;
  http::detail::check_request(out);
  return out;
}

void ClientState::note_warnings(const http::Headers& headers, const std::string& call) {
  if (headers.find("Warning") == nullptr) return;
  for (const auto& [name, value] : headers) {
    if (name.size() != 7 || (name != "Warning" && name != "warning")) continue;
    const std::string text = warning_text(value);
    if (text.empty()) continue;
    {
      MutexLock lock(mutex_);
      if (warnings_.size() >= most_warnings) warnings_.clear();
      if (!warnings_.insert(text).second) continue;
    }
    log.warn("the server warns", {{"call", call}, {"warning", text}});
  }
}

CallPlan::CallPlan(const ClientState& state, const RestRequest& request_, const CallOptions& options,
                   std::uint64_t seed)
    : request(request_),
      target(target_of(request_)),
      deadline(deadline_after(state.clock->now(), options.timeout.value_or(state.timeout))),
      retry(
          [&] {
            RetryOptions limits = state.retry;
            if (options.max_retries) limits.max_retries = *options.max_retries;
            return limits;
          }(),
          request_.method, seed),
      guard(options.write_guard),
      writer(options.writer.value_or(0)),
      pending(state.writes, request, writer) {
  if (options.deadline) deadline = std::min(deadline, *options.deadline);
}

std::exception_ptr CallPlan::classify(const http::Response& response, TimePoint now, Duration& delay) {
  Status status = Status::decode(response);
  const auto wait = retry.on_refused(status);
  if (wait && deadline_after(now, *wait) < deadline) {
    delay = *wait;
    return nullptr;
  }
  return std::make_exception_ptr(ApiError(describe(request), std::move(status)));
}

std::exception_ptr CallPlan::classify(std::exception_ptr error, TimePoint now, Duration& delay) {
  try {
    std::rethrow_exception(error);
  } catch (const TransportError& broken) {
    const auto wait = retry.on_broken(broken.code());
    if (!wait || deadline_after(now, *wait) >= deadline) return error;
    delay = *wait;
    return nullptr;
  } catch (const Cancelled&) {
    return std::make_exception_ptr(cancelled());
  } catch (...) {
    return error;
  }
}

namespace {

/// One asynchronous call with all its attempts. Each step holds a reference, so it lives until `done`. Its
/// reference to the client ends before that: the callee of `done` may drop the client, and the transport's
/// thread must not hold the last reference then.
class AsyncCall final : public http::Call, public std::enable_shared_from_this<AsyncCall> {
 public:
  AsyncCall(std::shared_ptr<ClientState> state, CallPlan plan, std::stop_token stop, http::Completion done)
      : state_(std::move(state)), plan_(std::move(plan)), stop_(std::move(stop)), done_(std::move(done)) {}

  void start() {
    // Before anything runs, and not under the mutex: on a stopped token it calls back immediately.
    if (stop_.stop_possible()) waker_.emplace(stop_, Cancel{weak_from_this()});
    send();
  }

  void cancel() noexcept override {
    std::shared_ptr<http::Call> running;
    std::shared_ptr<ClientState> state;
    std::uint64_t waiting = 0;
    {
      MutexLock lock(mutex_);
      if (cancelled_ || finished_) return;
      cancelled_ = true;
      running = running_;
      waiting = std::exchange(waiting_, 0);
      if (waiting != 0) state = state_;
    }
    fetching_.request_stop();  // not under the mutex: it may end a program
    if (running) running->cancel();
    if (waiting != 0) state->delayer.drop(waiting);
  }

 private:
  struct Cancel {
    std::weak_ptr<AsyncCall> call;
    void operator()() const noexcept {
      if (const auto self = call.lock()) self->cancel();
    }
  };

  void send() {
    if (is_cancelled()) return finish(std::make_exception_ptr(plan_.cancelled()));
    std::optional<http::Request> request;
    try {
      request = state_->try_prepare(plan_.request, plan_.target, plan_.deadline);
    } catch (...) {
      return finish(std::current_exception());
    }
    if (request) return send(std::move(*request));
    // Fetching a token may take long, so it must not run on the caller's thread.
    later(state_->clock->now(), [self = shared_from_this()] { self->fetch_token(); });
  }

  void fetch_token() {
    http::Request request;
    try {
      request = state_->prepare(plan_.request, plan_.target, plan_.deadline, token_wait());
    } catch (...) {
      return finish(is_cancelled() ? std::make_exception_ptr(plan_.cancelled()) : std::current_exception());
    }
    send(std::move(request));
  }

  TokenWait token_wait() const { return {.stop = fetching_.get_token(), .deadline = plan_.deadline}; }

  void send(http::Request request) {
    const std::shared_ptr<ClientState> state = state_;  // the completion may run before this returns
    try {
      plan_.attach_guard(request);
    } catch (...) {
      return finish(std::current_exception());
    }
    sent_headers_ = request.headers;
    sent_bytes_ = request.body.size();
    sent_at_ = state->clock->now();
    std::uint64_t mine = 0;
    {
      MutexLock lock(mutex_);
      mine = ++tries_;
      in_flight_ = true;
    }
    std::shared_ptr<http::Call> call;
    try {
      call = state->transport->send(std::move(request),
                                    [self = shared_from_this()](Outcome<http::Response> outcome) {
                                      self->on_response(std::move(outcome));
                                    });
    } catch (...) {  // rejected by the transport, perhaps on the delayer's thread
      return finish(std::current_exception());
    }
    bool late = false;
    {
      MutexLock lock(mutex_);
      // The completion may have run before send() returned, and another attempt may be in flight.
      if (in_flight_ && tries_ == mine) running_ = call;
      late = cancelled_;
    }
    if (late) call->cancel();
  }

  void on_response(Outcome<http::Response> outcome) {
    {
      MutexLock lock(mutex_);
      in_flight_ = false;
      running_.reset();
    }
    const TimePoint now = state_->clock->now();
    const http::Method method = plan_.request.method;
    Duration delay{};
    std::exception_ptr error;
    int status = 0;
    if (outcome.ok()) {
      http::Response& response = outcome.value();
      status = response.status;
      state_->meter->answered(method, status, now - sent_at_, sent_bytes_, response.body.size());
      state_->note_warnings(response.headers, describe(plan_.request));
      if (response.status >= 200 && response.status < 300) {
        state_->writes->on_answer(plan_.request, response.body, plan_.writer);
        return finish(std::move(outcome));
      }
      if (response.status == 401 && state_->credentials.refreshable() &&
          !std::exchange(plan_.refreshed, true)) {
        return later(
            now, [self = shared_from_this(), response = std::move(response)] { self->refused(response); });
      }
      error = plan_.classify(response, now, delay);
    } else {
      state_->meter->failed(method, now - sent_at_);
      error = plan_.classify(outcome.error(), now, delay);
    }
    if (error) return finish(std::move(error));
    state_->meter->retried(method, status);
    later(deadline_after(now, delay), [self = shared_from_this()] { self->send(); });
  }

  /// Handles a 401, off the transport's thread: getting a fresh token may block.
  void refused(const http::Response& response) {
    try {
      if (state_->credentials.refresh(sent_headers_, token_wait())) return send();
    } catch (...) {
      return finish(is_cancelled() ? std::make_exception_ptr(plan_.cancelled()) : std::current_exception());
    }
    finish(std::make_exception_ptr(ApiError(describe(plan_.request), Status::decode(response))));
  }

  void later(TimePoint when, std::function<void()> step) {
    MutexLock lock(mutex_);
    if (!cancelled_) {
      waiting_ = state_->delayer.at(
          when, [self = shared_from_this(), step = std::move(step)](Delayer::Reason reason) {
            {
              MutexLock inner(self->mutex_);
              self->waiting_ = 0;
            }
            if (reason == Delayer::Reason::due) return step();
            self->finish(std::make_exception_ptr(self->plan_.cancelled()));
          });
      return;
    }
    lock.unlock();
    finish(std::make_exception_ptr(plan_.cancelled()));
    lock.lock();
  }

  bool is_cancelled() {
    MutexLock lock(mutex_);
    return cancelled_;
  }

  void finish(Outcome<http::Response> outcome) {
    plan_.pending.end();
    std::shared_ptr<ClientState> state;
    {
      MutexLock lock(mutex_);
      if (std::exchange(finished_, true)) return;
      state.swap(state_);
    }
    waker_.reset();  // waits for a callback that runs on another thread, so not under the mutex
    plan_.guard.reset();
    state.reset();
    const http::Completion done = std::move(done_);
    done(std::move(outcome));
  }

  std::shared_ptr<ClientState> state_;  // swapped out under the mutex by the step that finishes
  CallPlan plan_;                       // used by one step at a time
  http::Headers sent_headers_;          // used by one step at a time
  std::size_t sent_bytes_ = 0;          // used by one step at a time
  TimePoint sent_at_{};                 // used by one step at a time
  const std::stop_token stop_;
  std::stop_source fetching_;  // requested when the call is cancelled
  http::Completion done_;
  Mutex mutex_;
  std::shared_ptr<http::Call> running_ EVENKEEL_GUARDED_BY(mutex_);
  std::uint64_t waiting_ EVENKEEL_GUARDED_BY(mutex_) = 0;  // its number at the delayer, or 0
  std::uint64_t tries_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  bool in_flight_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool cancelled_ EVENKEEL_GUARDED_BY(mutex_) = false;
  bool finished_ EVENKEEL_GUARDED_BY(mutex_) = false;
  // Set before the first attempt, reset by the step that finishes.
  std::optional<std::stop_callback<Cancel>> waker_;
};

}  // namespace

std::shared_ptr<http::Call> start_call(std::shared_ptr<ClientState> state, CallPlan plan,
                                       std::stop_token stop, http::Completion done) {
  auto call =
      std::make_shared<AsyncCall>(std::move(state), std::move(plan), std::move(stop), std::move(done));
  call->start();
  return call;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
