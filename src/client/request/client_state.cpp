// SPDX-License-Identifier: Apache-2.0
#include "client/request/client_state.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/suspender.hpp>
#include <evenkeel/client/access_recorder.hpp>
#include <evenkeel/http/client_certificate.hpp>
#include <evenkeel/http/curl_transport.hpp>

#include "base/seed_of.hpp"
#include "base/shown_url.hpp"
#include "client/config/credential_check.hpp"
#include "http/wire_check.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr Duration long_turn = std::chrono::seconds{1};  // of a wait for the flow control
constexpr std::size_t most_warnings = 1000;              // maximum remembered; further ones may repeat

std::shared_ptr<http::Transport> plain_transport(const Config& config, const ClientOptions& options) {
  if (options.transport) return options.transport;
  return http::make_curl_transport({.server = config.server,
                                    .tls = config.tls,
                                    .proxy = config.proxy,
                                    .user_agent = options.user_agent,
                                    .compression = config.compression,
                                    .credentials_in_clear = config.credentials_in_clear,
                                    .event_loop = options.event_loop});
}

std::shared_ptr<http::Transport> transport_for(const Config& config, const ClientOptions& options) {
  auto transport = plain_transport(config, options);
  if (options.wrap_transport) transport = options.wrap_transport(std::move(transport));
  if (!options.access_recorder) return transport;
  return recording_transport(std::move(transport), options.access_recorder);
}

Config checked(Config config) {
  check_credentials(config);
  if (!config.exec.empty()) config.tls.client_certificate = std::make_shared<http::ClientCertificate>();
  return config;
}

// Returns "10.0.0.1:6443" for "https://10.0.0.1:6443/path".
std::string host_of(const std::string& url) {
  const std::string server = shown_url(url);
  const std::size_t scheme = server.find("://");
  const std::size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
  return server.substr(begin, server.find('/', begin) - begin);
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
      flow_control(options.flow_control),
      event_loop(options.event_loop),
      transport(transport_for(config, options)),
      meter(std::make_shared<RequestMeter>(host_of(config.server))),
      writes(std::make_shared<WriteLog>()),
      observers(std::make_shared<WriteObservers>()),
      tracer(options.tracer),
      write_spans(tracer ? std::make_shared<WriteSpans>() : nullptr),
      credentials(config, clock),
      delayer(clock, event_loop),
      seed_(options.seed.value_or(detail::seed_of(*clock, this))) {}

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
  add_credentials(out.headers, wait);
  http::detail::check_request(out);
  return out;
}

// On a fiber, another thread reads the file or runs the program.
void ClientState::add_credentials(http::Headers& headers, const TokenWait& wait) {
  if (Suspender::current() == nullptr) return credentials.add_to(headers, wait);
  if (credentials.try_add_to(headers)) return;
  Mutex mutex;
  CondVar ended;
  bool is_over = false;
  std::exception_ptr error;
  const auto fetch = [&] {
    try {
      credentials.add_to(headers, wait);
    } catch (...) {
      error = std::current_exception();
    }
  };
  delayer.block(fetch, [&](Delayer::Reason) {
    MutexLock lock(mutex);
    is_over = true;
    ended.notify_all();
  });
  MutexLock lock(mutex);
  while (!is_over) ended.wait(lock);
  if (error) std::rethrow_exception(std::move(error));
}

std::optional<http::Request> ClientState::try_prepare(const RestRequest& request, const std::string& target,
                                                      std::optional<TimePoint> deadline) {
  http::Request out = without_credentials(request, target, deadline);
  if (!credentials.try_add_to(out.headers)) return std::nullopt;
  http::detail::check_request(out);
  return out;
}

void ClientState::note_turn(Duration wait, const std::string& call, TimePoint now) {
  if (wait < long_turn) return;
  {
    MutexLock lock(mutex_);
    if (turn_noted_ != TimePoint::min() && now - turn_noted_ < std::chrono::seconds{1}) return;
    turn_noted_ = now;
  }
  log.info("a request waits for the client-side flow control",
           {{"call", call}, {"seconds", std::chrono::duration<double>(wait).count()}});
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

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
