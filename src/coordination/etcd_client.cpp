// SPDX-License-Identifier: Apache-2.0
#include "coordination/etcd_client.hpp"

#include <stdexcept>
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/http/curl_transport.hpp>

#include "base/limits.hpp"
#include "http/plain_http.hpp"
#include "http/wire_check.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {
namespace {

void require(bool fine, const char* what) {
  if (!fine) throw std::invalid_argument(std::string("EtcdStoreOptions: ") + what);
}

EtcdStoreOptions checked(EtcdStoreOptions options) {
  require(!options.endpoints.empty(), "endpoints must not be empty");
  require(options.request_timeout > Duration::zero(), "request_timeout must be positive");
  require(options.connect_timeout > Duration::zero(), "connect_timeout must be positive");
  require(options.watch_retry > Duration::zero(), "watch_retry must be positive");
  require(options.page_entries > 0, "page_entries must be positive");
  require(options.max_txn_ops >= 16, "max_txn_ops must be at least 16");
  require(options.max_request_bytes >= 64UL * 1024, "max_request_bytes must be at least 64 KiB");
  require(!options.revision_key.empty(), "revision_key must not be empty");
  require(options.user.empty() == options.password.empty(), "user and password must be set together");
  require(options.clock != nullptr, "clock must not be null");
  for (const std::string& endpoint : options.endpoints) {
    if (options.user.empty() || options.credentials_in_clear || !http::detail::is_exposed(endpoint)) continue;
    const std::string problem = http::detail::exposed_text(endpoint, "user and password");
    require(false, (problem + "; use etcds:// (https), or set credentials_in_clear").c_str());
  }
  return options;
}

std::vector<std::shared_ptr<http::Transport>> transports_of(const EtcdStoreOptions& options) {
  std::vector<std::shared_ptr<http::Transport>> out;
  for (const std::string& endpoint : options.endpoints) {
    out.push_back(options.transport
                      ? options.transport(endpoint)
                      : http::make_curl_transport({.server = endpoint,
                                                   .tls = options.tls,
                                                   .request_timeout = options.request_timeout,
                                                   .connect_timeout = options.connect_timeout,
                                                   .max_body_bytes = limits::etcd_answer,
                                                   .credentials_in_clear = options.credentials_in_clear}));
  }
  return out;
}

// Returns true if the request cannot have reached the server.
bool unsent(TransportErrorCode code) {
  return code == TransportErrorCode::resolve || code == TransportErrorCode::connect ||
         code == TransportErrorCode::tls;
}

}  // namespace

std::string strange_answer(const EtcdAnswer& answer, const DecodeError& error) {
  return answer.from + ": not a response of etcd (is this its client port?): " + error.what();
}

EtcdClient::EtcdClient(EtcdStoreOptions options)
    : options_(checked(std::move(options))), transports_(transports_of(options_)) {}

std::size_t EtcdClient::present() {
  MutexLock lock(mutex_);
  return present_;
}

void EtcdClient::leave(std::size_t failed) {
  MutexLock lock(mutex_);
  if (present_ == failed) present_ = (present_ + 1) % transports_.size();
}

http::Request EtcdClient::request(std::string_view path, std::string body, const std::string& token) const {
  http::Request request{.method = http::Method::post,
                        .target = std::string(path),
                        .headers = {{"Content-Type", "application/json"}},
                        .body = std::move(body)};
  if (!token.empty()) request.headers.set("Authorization", token);
  return request;
}

EtcdAnswer EtcdClient::exchange(std::string_view path, const std::string& body, const std::string& token,
                                const std::stop_token& stop) {
  if (stop.stop_requested()) throw Cancelled("etcd " + std::string(path) + ": cancelled");
  const std::size_t to = present();
  EtcdAnswer answer{.sent = true};
  try {
    http::Request post = request(path, body, token);
    post.deadline = deadline_after(options_.clock->now(), options_.request_timeout);
    http::Response response = transports_.at(to)->fetch(std::move(post), stop);
    answer.verdict = verdict_of(response);
    answer.from = options_.endpoints.at(to) + std::string(path);
    if (answer.verdict == EtcdVerdict::ok) {
      answer.body = std::move(response.body);
    } else {
      answer.why = answer.from + ": " + etcd_error_text(response);
    }
  } catch (const TransportError& error) {
    answer = {.why = error.what(), .sent = !unsent(error.code())};
    answer.verdict = answer.sent ? EtcdVerdict::unknown : EtcdVerdict::refused;
  } catch (const Cancelled& error) {
    return {.verdict = EtcdVerdict::unknown, .why = error.what(), .sent = true};
  }
  // This member may be the cause: gone, stopping, or cut off from the others.
  if (answer.verdict == EtcdVerdict::refused || answer.verdict == EtcdVerdict::unknown) leave(to);
  return answer;
}

std::string EtcdClient::token(const std::stop_token& stop) {
  if (options_.user.empty()) return {};
  {
    MutexLock lock(mutex_);
    if (token_) return *token_;
  }
  const EtcdAnswer answer =
      exchange(etcd_login_path, login_request(options_.user, options_.password), {}, stop);
  if (answer.verdict != EtcdVerdict::ok && answer.verdict != EtcdVerdict::no_login)
    throw StoreUnavailable("user " + options_.user + " cannot log in: " + answer.why);
  std::string got;
  if (answer.verdict == EtcdVerdict::ok) {
    try {
      got = login_answer(answer.body);
    } catch (const DecodeError& error) {
      throw StoreUnavailable(strange_answer(answer, error));
    }
    if (const std::string problem = http::detail::header_value_problem(got); !problem.empty())
      throw StoreUnavailable(answer.from + ": its token " + problem);
  }
  MutexLock lock(mutex_);
  token_ = got;
  return got;
}

void EtcdClient::forget_token(const std::string& used) {
  MutexLock lock(mutex_);
  if (token_ == used) token_.reset();
}

EtcdAnswer EtcdClient::ask(std::string_view path, const std::string& body, const std::stop_token& stop) {
  try {
    const std::string used = token(stop);
    EtcdAnswer answer = exchange(path, body, used, stop);
    if (answer.verdict != EtcdVerdict::token || options_.user.empty()) return answer;
    forget_token(used);
    return exchange(path, body, token(stop), stop);
  } catch (const StoreUnavailable& error) {
    return {.verdict = EtcdVerdict::refused, .why = error.what()};
  }
}

EtcdAnswer EtcdClient::read(std::string_view path, const std::string& body, const std::stop_token& stop) {
  EtcdAnswer answer;
  // One more try than there are endpoints: the first one may have used a stale connection.
  for (std::size_t tries = 0; tries <= transports_.size(); ++tries) {
    answer = ask(path, body, stop);
    if (answer.verdict == EtcdVerdict::ok) return answer;
    if (stop.stop_requested()) throw Cancelled(answer.why);
    if (answer.verdict == EtcdVerdict::expired) throw SnapshotExpired(answer.why);
  }
  throw StoreUnavailable(answer.why);
}

EtcdAnswer EtcdClient::write(std::string_view path, const std::string& body, const std::stop_token& stop) {
  EtcdAnswer answer;
  try {
    for (std::size_t tries = 0; tries < transports_.size(); ++tries) {
      answer = ask(path, body, stop);
      if (answer.sent || answer.verdict == EtcdVerdict::ok) break;
    }
  } catch (const Cancelled& error) {
    return {.verdict = EtcdVerdict::refused, .why = error.what()};
  }
  return answer;
}

EtcdStream EtcdClient::stream(std::string_view path, std::string body,
                              std::shared_ptr<http::StreamHandler> handler, const std::stop_token& stop) {
  EtcdStream stream{.token = token(stop)};
  stream.endpoint = present();
  stream.call = transports_.at(stream.endpoint)
                    ->stream(request(path, std::move(body), stream.token), std::move(handler));
  return stream;
}

void EtcdClient::distrust(const EtcdStream& ended) {
  leave(ended.endpoint);
  forget_token(ended.token);
}

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
