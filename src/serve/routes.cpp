// SPDX-License-Identifier: Apache-2.0
#include "serve/routes.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "serve/wire.hpp"

namespace evenkeel::inline v0::http::detail {
namespace {

constexpr std::string_view bearer = "Bearer ";

bool is_loopback_name(std::string_view host) {
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

Response method_refused(const RouteOptions& options) {
  Response refused = plain_answer(405, "405 method not allowed\n");
  std::string allowed;
  for (const Method method : options.methods) {
    allowed += (allowed.empty() ? "" : ", ") + std::string(method_name(method));
  }
  refused.headers.set("Allow", allowed);
  return refused;
}

}  // namespace

HostPort parse_address(std::string_view address) {
  const auto refuse = [&] {
    throw std::invalid_argument(
        "\"" + std::string(address) +
        "\" is no address; write :8080, 127.0.0.1:8080, [::1]:8080 or localhost:8080");
  };
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) refuse();
  std::string_view host = address.substr(0, colon);
  const std::string_view digits = address.substr(colon + 1);
  HostPort parsed;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed.port);
  if (digits.empty() || failure != std::errc() || end != digits.data() + digits.size()) refuse();
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (host.empty()) refuse();
  } else if (host.find_first_of(":[]/ ") != std::string_view::npos) {
    refuse();
  }
  parsed.host = host;
  return parsed;
}

std::optional<Routes::Found> Routes::find(std::string_view path) const {
  if (const auto exact = entries_.find(path); exact != entries_.end()) return Found{&exact->second, {}};
  for (std::size_t slash = path.rfind('/'); slash != std::string_view::npos;
       slash = slash == 0 ? std::string_view::npos : path.rfind('/', slash - 1)) {
    const auto above = entries_.find(path.substr(0, slash + 1));
    if (above != entries_.end()) return Found{&above->second, path.substr(slash + 1)};
  }
  return std::nullopt;
}

bool from_this_machine(const Headers& headers, bool peer_is_loopback) {
  if (!peer_is_loopback) return false;
  if (headers.find("Forwarded") != nullptr || headers.find("X-Forwarded-For") != nullptr) return false;
  const std::string* host = headers.find("Host");
  if (host == nullptr) return false;
  const std::string_view name(*host);
  const std::size_t colon = name.rfind(':');
  const bool with_port = colon != std::string_view::npos && name.find(']', colon) == std::string_view::npos;
  return is_loopback_name(with_port ? name.substr(0, colon) : name);
}

bool carries_token(const Headers& headers, std::string_view token) {
  const std::string* given = headers.find("Authorization");
  if (given == nullptr || !given->starts_with(bearer)) return false;
  const std::string_view word = std::string_view(*given).substr(bearer.size());
  unsigned difference = word.size() == token.size() ? 0 : 1;
  for (std::size_t at = 0; at < word.size(); ++at) {
    difference |= static_cast<unsigned char>(word[at]) ^ static_cast<unsigned char>(token[at % token.size()]);
  }
  return difference == 0;
}

std::optional<Response> refusal(const RouteOptions& options, const Request& request, bool peer_is_loopback,
                                std::string_view token) {
  const bool known = !token.empty() && carries_token(request.headers, token);
  const bool local =
      options.access == Access::trusted && from_this_machine(request.headers, peer_is_loopback);
  const bool open = options.access == Access::anyone || (options.access == Access::token && token.empty());
  if (!known && !local && !open) {
    if (token.empty()) return plain_answer(403, "403 only from this machine itself\n");
    Response refused = plain_answer(401, "401 a bearer token is needed\n");
    refused.headers.set("WWW-Authenticate", "Bearer");
    return refused;
  }
  if (std::find(options.methods.begin(), options.methods.end(), request.method) == options.methods.end()) {
    return method_refused(options);
  }
  return std::nullopt;
}

}  // namespace evenkeel::inline v0::http::detail

namespace evenkeel::inline v0::http {

void check_address(std::string_view address) {
  detail::parse_address(address);
}

}  // namespace evenkeel::inline v0::http
