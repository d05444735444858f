// SPDX-License-Identifier: Apache-2.0
#include "serve/routes.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>

#include "serve/wire.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

constexpr std::string_view bearer = "Bearer ";

bool equal_ignoring_case(std::string_view left, std::string_view right) {
  const auto lower = [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

// Returns `Host` without its port; empty if it is not "name", "name:port", "[v6]" or "[v6]:port".
std::string_view without_port(std::string_view host) {
  const std::size_t end = host.starts_with('[') ? host.find(']') + 1 : std::min(host.find(':'), host.size());
  if (end == 0) return {};
  const std::string_view port = host.substr(end);
  if (port.empty()) return host.substr(0, end);
  std::uint16_t number = 0;
  const auto [stopped, failure] = std::from_chars(port.data() + 1, port.data() + port.size(), number);
  const bool valid = port.front() == ':' && failure == std::errc() && stopped == port.data() + port.size();
  return valid ? host.substr(0, end) : std::string_view();
}

// Returns true for a name of this machine: a loopback address in its usual form, or localhost, which browsers
// do not resolve by DNS (RFC 6761, section 6.3).
bool is_loopback_name(std::string_view host) {
  const bool rooted = host.ends_with('.');
  if (equal_ignoring_case(rooted ? host.substr(0, host.size() - 1) : host, "localhost")) return true;
  boost::system::error_code error;
  if (host.starts_with('[')) {
    const std::string text(host.substr(1, host.size() - 2));
    const auto address = boost::asio::ip::make_address_v6(text, error);
    if (error) return false;
    return address.is_loopback() ||
           (address.is_v4_mapped() &&
            boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address).is_loopback());
  }
  const auto address = boost::asio::ip::make_address_v4(std::string(host), error);
  return !error && address.is_loopback();
}

// Checks for headers of proxies: RFC 7239, those that nginx, Envoy, Traefik and HAProxy set by convention,
// and Via of RFC 9110.
bool is_forwarded(const Headers& headers) {
  for (const auto& [name, value] : headers) {
    for (const std::string_view header : {"Forwarded", "Via", "X-Real-IP", "X-Client-IP", "True-Client-IP"}) {
      if (equal_ignoring_case(name, header)) return true;
    }
    constexpr std::string_view prefix = "X-Forwarded-";
    if (equal_ignoring_case(std::string_view(name).substr(0, prefix.size()), prefix)) return true;
  }
  return false;
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
        "\" is not an address such as :8080, 127.0.0.1:8080, [::1]:8080 or localhost:8080");
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

bool is_loopback_origin(std::string_view origin) {
  const std::size_t scheme = origin.find("://");
  return scheme != std::string_view::npos && is_loopback_name(without_port(origin.substr(scheme + 3)));
}

bool from_this_machine(const Headers& headers, bool peer_is_loopback) {
  if (!peer_is_loopback) return false;
  if (is_forwarded(headers)) return false;
  // A web page that posts through a forwarded port.
  const std::string* const origin = headers.find("Origin");
  if (origin != nullptr && !is_loopback_origin(*origin)) return false;
  const std::string* host = nullptr;
  for (const auto& [name, value] : headers) {
    if (!equal_ignoring_case(name, "Host")) continue;
    if (host != nullptr) return false;  // ambiguous: trust neither
    host = &value;
  }
  return host != nullptr && is_loopback_name(without_port(*host));
}

std::string_view bearer_token(const Headers& headers) {
  const std::string* given = headers.find("Authorization");
  if (given == nullptr || !given->starts_with(bearer)) return {};
  return std::string_view(*given).substr(bearer.size());
}

bool carries_token(const Headers& headers, std::string_view token) {
  const std::string_view word = bearer_token(headers);
  unsigned difference = word.size() == token.size() ? 0 : 1;
  for (std::size_t at = 0; at < word.size(); ++at) {
    difference |= static_cast<unsigned char>(word[at]) ^ static_cast<unsigned char>(token[at % token.size()]);
  }
  return difference == 0;
}

std::optional<Response> refusal(const RouteOptions& options, const Request& request, bool peer_is_loopback,
                                std::string_view token) {
  const bool known = !token.empty() && carries_token(request.headers, token);
  const bool local = options.access == RouteAccess::trusted && token.empty() &&
                     from_this_machine(request.headers, peer_is_loopback);
  const bool open =
      options.access == RouteAccess::anyone || (options.access == RouteAccess::token && token.empty());
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

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel

namespace evenkeel {
inline namespace v0 {
namespace http {

void check_address(std::string_view address) {
  detail::parse_address(address);
}

bool is_loopback_address(std::string_view address) {
  check_address(address);
  return detail::is_loopback_name(detail::without_port(address));
}

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
