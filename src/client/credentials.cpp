// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <http/files.hpp>
#include <http/wire_check.hpp>

#include <client/credential_check.hpp>
#include <client/credentials.hpp>
#include <client/exec_plugin.hpp>

#include <evenkeel/api/bytes.hpp>

namespace evenkeel::inline v0::detail {
namespace {

constexpr Duration token_file_period = std::chrono::seconds{60};

std::string fixed_header(const Config& config) {
  if (!config.token_file.empty() || !config.exec.empty()) return {};
  if (!config.token.empty()) return "Bearer " + config.token;
  if (!config.username.empty()) return "Basic " + Bytes(config.username + ":" + config.password).base64();
  return {};
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
      exec_(config.exec),
      server_(config.server),
      tls_(config.tls),
      fixed_(fixed_header(config)),
      impersonate_(impersonation_headers(config.impersonate)),
      token_(config.token) {}

void Credentials::dress(http::Headers& headers) {
  for (const auto& [name, value] : impersonate_) headers.add(name, value);
  if (!fixed_.empty()) {
    headers.set("Authorization", fixed_);
    return;
  }
  MutexLock lock(mutex_);
  const std::string header = authorization(clock_->now());
  if (!header.empty()) headers.set("Authorization", header);
}

bool Credentials::refresh(const http::Headers& headers) {
  if (!refreshable()) return false;
  MutexLock lock(mutex_);
  const std::string* used = headers.find("Authorization");
  const std::string before = used != nullptr ? *used : "";
  // Another thread may have fetched a new one since the refused call was dressed.
  if (authorization(clock_->now()) != before) return true;
  fresh_until_ = TimePoint::min();
  return authorization(clock_->now()) != before;
}

void Credentials::expire(const http::Headers& headers) {
  MutexLock lock(mutex_);
  const std::string* used = headers.find("Authorization");
  if (used != nullptr && *used == "Bearer " + token_) fresh_until_ = TimePoint::min();
}

std::string Credentials::authorization(TimePoint now) {
  if (now >= fresh_until_) {
    if (!token_file_.empty()) {
      read_token(now);
    } else if (!exec_.empty()) {
      run_plugin(now);
    }
  }
  return token_.empty() ? std::string() : "Bearer " + token_;
}

void Credentials::read_token(TimePoint now) {
  std::string problem;
  auto text = read_file(token_file_, problem);
  if (text) *text = trimmed(*text);
  if (!text) {
    problem = "the token file cannot be read: " + problem;
  } else {
    problem = text->empty() ? "the token file is empty" : token_problem(*text);
  }
  if (problem.empty()) {
    token_ = std::move(*text);
  } else if (token_.empty()) {
    throw ConfigError(token_file_, "", "", problem);
  }  // else the last good one serves
  fresh_until_ = deadline_after(now, token_file_period);
}

void Credentials::run_plugin(TimePoint now) {
  const ExecCredential credential = run_exec_plugin(exec_, server_, tls_);
  if (const std::string problem = token_problem(credential.token); !problem.empty())
    throw ConfigError("credential program " + exec_.command, "", "", problem);
  token_ = credential.token;
  fresh_until_ = TimePoint::max();
  if (credential.expires) {
    // A minute early, so that no call leaves with a token that expires on its way.
    // Bounded before it becomes a Duration, which cannot hold the way to the year 9999.
    const WallTime::duration left = *credential.expires - clock_->wall_now() - std::chrono::minutes{1};
    constexpr WallTime::duration least = std::chrono::seconds{1}, most = std::chrono::hours{24 * 365};
    fresh_until_ = deadline_after(now, std::clamp(left, least, most));
  }
}

}  // namespace evenkeel::inline v0::detail
