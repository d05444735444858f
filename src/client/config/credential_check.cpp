// SPDX-License-Identifier: Apache-2.0
#include "client/config/credential_check.hpp"

#include "http/plain_http.hpp"
#include "http/wire_check.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

/// Returns the name of the first credential that would be sent, or "".
std::string_view first_credential(const Config& config) {
  if (!config.token_file.empty()) return "token_file";
  if (!config.exec.empty()) return "exec";
  if (!config.token.empty()) return "token";
  if (!config.username.empty()) return "password";
  return {};
}

void check_values(const Config& config) {
  const std::string where = config.origin.empty() ? "Config" : config.origin;
  const auto check = [&where](const std::string& field, std::string_view value) {
    const std::string problem = http::detail::header_value_problem(value);
    if (!problem.empty()) throw ConfigError(where, "", field, problem);
  };
  check("token", config.token);
  check("username", config.username);
  check("password", config.password);
  // In the encoded form the first colon ends the user name (RFC 7617).
  if (config.username.find(':') != std::string::npos)
    throw ConfigError(where, "", "username", "must not hold a colon");
  const Impersonation& who = config.impersonate;
  check("impersonate.user", who.user);
  check("impersonate.uid", who.uid);
  for (std::size_t i = 0; i < who.groups.size(); ++i)
    check("impersonate.groups[" + std::to_string(i) + "]", who.groups[i]);
  for (const auto& [name, values] : who.extra) {
    if (name.empty()) throw ConfigError(where, "", "impersonate.extra", "a key is empty");
    for (const std::string& value : values)
      check("impersonate.extra[" + http::detail::escape_header_name(name) + "]", value);
  }
}

}  // namespace

std::string token_problem(std::string_view token) {
  const std::string problem = http::detail::header_value_problem(token);
  return problem.empty() ? problem : "the token " + problem;
}

bool has_credentials(const Config& config) {
  return !first_credential(config).empty() || !config.tls.cert_data.empty() || !config.tls.cert_file.empty();
}

void check_credentials(const Config& config) {
  check_values(config);
  const std::string_view credential = first_credential(config);
  if (credential.empty() || config.credentials_in_clear) return;
  const bool through_proxy = config.proxy && !config.proxy->empty() && config.server.starts_with("http://");
  if (!through_proxy && !http::detail::is_exposed(config.server)) return;
  throw ConfigError(config.origin.empty() ? "Config" : config.origin, "", std::string(credential),
                    http::detail::exposed_text(config.server, "it") +
                        (through_proxy ? " through a proxy" : "") +
                        "; use https, or set Config.credentials_in_clear");
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
