// SPDX-License-Identifier: Apache-2.0
#include "client/config/credentials.hpp"

#include <algorithm>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/http/transport.hpp>

#include "base/files.hpp"
#include "client/config/credential_check.hpp"
#include "http/wire_check.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr Duration token_file_period = std::chrono::seconds{60};
// Calls within this time get the same error, so that queued calls do not each run a broken program.
constexpr Duration pause_after_failure = std::chrono::seconds{1};
// A program gets this time to replace what expires.
constexpr std::chrono::seconds renewal_before_expiry{60};
// A request arrives within this time, and before its credential expires.
constexpr std::chrono::seconds longest_transit{10};
// A request that was prepared before a rotation fails within this time.
constexpr Duration rotation_age = std::chrono::seconds{1};

std::string fixed_header(const Config& config) {
  if (!config.token_file.empty()) return {};
  if (!config.token.empty()) return "Bearer " + config.token;
  if (!config.username.empty()) return "Basic " + Bytes(config.username + ":" + config.password).base64();
  return {};
}

/// Returns the program unless other credentials take precedence, as in client-go's UpdateTransportConfig.
ExecPlugin program_of(const Config& config) {
  const bool has_token = !config.token.empty() || !config.token_file.empty();
  const bool has_cert = !config.tls.cert_data.empty() || !config.tls.cert_file.empty();
  return has_token || has_cert || !config.username.empty() ? ExecPlugin() : config.exec;
}

std::string trimmed(std::string_view text) {
  const auto blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  return std::string(text);
}

http::Headers impersonation_headers(const Impersonation& who) {
  http::Headers headers;
  if (!who.user.empty()) headers.add("Impersonate-User", who.user);
  if (!who.uid.empty()) headers.add("Impersonate-Uid", who.uid);
  for (const std::string& group : who.groups) headers.add("Impersonate-Group", group);
  for (const auto& [name, values] : who.extra) {
    for (const std::string& value : values) {
      headers.add("Impersonate-Extra-" + http::detail::escape_header_name(name), value);
    }
  }
  return headers;
}

}  // namespace

Credentials::Credentials(const Config& config, std::shared_ptr<const Clock> clock)
    : clock_(std::move(clock)),
      token_file_(config.token_file),
      exec_(program_of(config)),
      cluster_{.server = config.server, .proxy = config.proxy.value_or(""), .tls = config.tls},
      fixed_(fixed_header(config)),
      impersonate_(impersonation_headers(config.impersonate)),
      token_(config.token) {}

void Credentials::add_to(http::Headers& headers, const TokenWait& wait) {
  if (try_add_to(headers)) return;
  std::string header;
  {
    const StopWaker waker(wait.stop, mutex_, changed_);
    MutexLock lock(mutex_);
    header = authorization(lock, wait);
  }
  for (const auto& [name, value] : impersonate_) headers.add(name, value);
  if (!header.empty()) headers.set("Authorization", header);
}

bool Credentials::try_add_to(http::Headers& headers) {
  std::string header = fixed_;
  if (header.empty()) {
    MutexLock lock(mutex_);
    if (must_wait()) return false;
    if (clock_->now() >= fresh_until_) start_program();
    header = this->header();
  }
  for (const auto& [name, value] : impersonate_) headers.add(name, value);
  if (!header.empty()) headers.set("Authorization", header);
  return true;
}

bool Credentials::refresh(const http::Headers& headers, const TokenWait& wait) {
  if (!refreshable()) return false;
  const StopWaker waker(wait.stop, mutex_, changed_);
  MutexLock lock(mutex_);
  const std::string* used = headers.find("Authorization");
  const std::string before = used != nullptr ? *used : "";
  // Another thread may have fetched a new token since the rejected request was prepared.
  if (authorization(lock, wait) != before || is_recent()) return true;
  discard();
  return authorization(lock, wait) != before || is_recent();
}

bool Credentials::is_recent() const {
  return rotated_at_ != TimePoint::min() && clock_->now() - rotated_at_ < rotation_age;
}

void Credentials::expire(const http::Headers& headers) {
  MutexLock lock(mutex_);
  const std::string* used = headers.find("Authorization");
  if ((used != nullptr ? *used : "") == header() && !is_recent()) discard();
}

std::string Credentials::header() const {
  return token_.empty() ? std::string() : "Bearer " + token_;
}

// Returns true if there is no credential that can be used.
bool Credentials::must_wait() const {
  return refreshable() && clock_->now() >= std::max(fresh_until_, valid_until_);
}

// Releases the lock while a token is fetched or waited for.
std::string Credentials::authorization(MutexLock& lock, const TokenWait& wait) {
  while (must_wait()) {
    if (wait.stop.stop_requested()) throw Cancelled("cancelled before a token was there");
    if (clock_->now() >= wait.deadline) {
      throw TransportError(TransportErrorCode::timeout, "deadline exceeded while waiting for a token");
    }
    if (token_file_.empty())
      fetch_from_program(lock, wait);
    else if (is_fetching_)
      wait_for_other(lock, wait);
    else
      fetch_file(lock);
  }
  return header();
}

void Credentials::wait_for_other(MutexLock& lock, const TokenWait& wait) {
  while (is_fetching_ && !wait.stop.stop_requested() && clock_->now() < wait.deadline) {
    clock_->wait_until(changed_, lock, wait.deadline);
  }
}

void Credentials::fetch_file(MutexLock& lock) {
  is_fetching_ = true;
  const std::string last = token_;
  lock.unlock();
  Token token;
  std::exception_ptr failure;
  try {
    token = read_token(last);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  is_fetching_ = false;
  changed_.notify_all();
  if (failure) std::rethrow_exception(failure);
  take(std::move(token));
}

void Credentials::fetch_from_program(MutexLock& lock, const TokenWait& wait) {
  const std::uint64_t before = runs_;
  start_program();
  wait_for_other(lock, wait);
  const bool failed_now = runs_ != before || (!is_fetching_ && clock_->now() < failed_until_);
  if (failure_ && failed_now) std::rethrow_exception(failure_);
}

// Begins a run, unless there is one, or the last one has just failed.
void Credentials::start_program() {
  if (exec_.empty() || is_fetching_ || (failure_ && clock_->now() < failed_until_)) return;
  is_fetching_ = true;
  try {
    program_ = std::jthread([this](const std::stop_token& stop) { run_program(stop); });
  } catch (...) {  // there may be no more threads
    is_fetching_ = false;
    failure_ = std::current_exception();
    failed_until_ = deadline_after(clock_->now(), pause_after_failure);
  }
}

void Credentials::run_program(const std::stop_token& stop) noexcept {
  Token token;
  std::exception_ptr failure;
  try {
    token = run_plugin(stop);
  } catch (...) {
    failure = std::current_exception();
  }
  MutexLock lock(mutex_);
  is_fetching_ = false;
  ++runs_;
  failure_ = failure;
  if (failure)
    failed_until_ = deadline_after(clock_->now(), pause_after_failure);
  else
    take(std::move(token));
  changed_.notify_all();
}

// The transport gets the certificate before any caller that waits for it goes on.
void Credentials::take(Token token) {
  token_ = std::move(token.text);
  fresh_until_ = token.fresh_until;
  valid_until_ = token.valid_until;
  if (!cluster_.tls.client_certificate || exec_.empty()) return;
  const auto before = cluster_.tls.client_certificate->get();
  if (before && token.certificate && *before == *token.certificate) return;
  if (!before && !token.certificate) return;
  cluster_.tls.client_certificate->set(std::move(token.certificate));
  rotated_at_ = clock_->now();
}

Credentials::Token Credentials::read_token(const std::string& last) const {
  const TimePoint fresh_until = deadline_after(clock_->now(), token_file_period);
  std::string problem;
  auto text = read_file(token_file_, problem);
  if (text) *text = trimmed(*text);
  if (!text) {
    problem = "the token file cannot be read: " + problem;
  } else {
    problem = text->empty() ? "the token file is empty" : token_problem(*text);
  }
  if (problem.empty()) return {std::move(*text), fresh_until, fresh_until};
  if (!last.empty()) return {last, fresh_until, fresh_until};  // keep using the last valid one
  throw ConfigError(token_file_, "", "", problem);
}

Credentials::Token Credentials::run_plugin(const std::stop_token& stop) const {
  const TimePoint now = clock_->now();
  const ExecCredential credential = run_exec_plugin(exec_, cluster_, {.stop = stop});
  if (const std::string problem = token_problem(credential.token); !problem.empty())
    throw ConfigError("credential program " + exec_.command, "", "", problem);
  Token token{.text = credential.token,
              .fresh_until = TimePoint::max(),
              .valid_until = TimePoint::max(),
              .certificate = credential.certificate};
  if (!credential.expires) return token;
  // Clamped before it becomes a Duration, which cannot represent the time until the year 9999.
  const auto in = [now](WallTime::duration left) {
    constexpr WallTime::duration least = std::chrono::seconds{1}, most = std::chrono::hours{24 * 365};
    return deadline_after(now, std::clamp(left, least, most));
  };
  const WallTime::duration left = *credential.expires - clock_->wall_now();
  token.fresh_until = in(left - renewal_before_expiry);
  token.valid_until = in(left - longest_transit);
  return token;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
