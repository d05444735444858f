// SPDX-License-Identifier: Apache-2.0
#include "http/proxy.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "base/ascii.hpp"
#include "base/shown_url.hpp"
#include "http/curl_exchange.hpp"
#include "http/url_part.hpp"

namespace evenkeel {
inline namespace v0 {
namespace http::detail {
namespace {

namespace ascii = evenkeel::detail::ascii;

/// An address; one of IPv4 in its IPv6-mapped form.
using Address = std::array<unsigned char, 16>;

constexpr Address mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_v4(const Address& address) {
  return std::equal(mapped.begin(), mapped.begin() + 12, address.begin());
}

std::optional<Address> parse_address(const std::string& text) {
  Address address = mapped;
  if (inet_pton(AF_INET, text.c_str(), &address[12]) == 1) return address;
  if (inet_pton(AF_INET6, text.c_str(), address.data()) == 1) return address;
  return std::nullopt;
}

/// Returns the text of an address without its brackets.
std::string_view unbracketed(std::string_view host) {
  const bool has_brackets = host.size() > 1 && host.front() == '[' && host.back() == ']';
  return has_brackets ? host.substr(1, host.size() - 2) : host;
}

/// Returns true if `entry` is a range of addresses; `contains` is then set.
bool is_range(std::string_view entry, const std::optional<Address>& address, bool& contains) {
  const std::size_t slash = entry.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string first(entry.substr(0, slash));
  const std::optional<Address> net = parse_address(first);
  unsigned bits = 0;
  const char* const end = entry.data() + entry.size();
  const auto read = std::from_chars(entry.data() + slash + 1, end, bits);
  const bool short_form = first.find(':') == std::string::npos;
  if (!net || read.ec != std::errc() || read.ptr != end || bits > (short_form ? 32U : 128U)) return false;
  if (short_form) bits += 96;
  contains = address && is_v4(*address) == is_v4(*net);
  for (unsigned bit = 0; contains && bit < bits; ++bit) {
    const unsigned differ = (*address)[bit / 8] ^ (*net)[bit / 8];
    contains = (differ >> (7 - bit % 8) & 1U) == 0;
  }
  return true;
}

/// A server, as NO_PROXY describes it.
struct Target {
  std::string host;  ///< In lower case, without brackets.
  std::string port;
  std::optional<Address> address;  ///< If `host` is one.

  /// Returns true if the entry covers the server: "10.0.0.0/8", "10.0.0.1:443", "[fd00::1]:443", "example",
  /// ".example", "*.example:443".
  bool is_in(std::string_view entry) const {
    bool contains = false;
    if (is_range(entry, address, contains)) return contains;
    const std::size_t colon = entry.rfind(':');
    const bool has_port = colon != std::string_view::npos &&
                          (entry.find(':') == colon || (entry.front() == '[' && entry[colon - 1] == ']'));
    std::string_view name = entry;
    if (has_port) {
      name = unbracketed(entry.substr(0, colon));
      const std::string_view wanted = entry.substr(colon + 1);
      if (name.empty() || (!wanted.empty() && wanted != port)) return false;
    }
    if (const auto other = parse_address(std::string(name))) return other == address;
    if (address) return false;
    if (name.starts_with("*.")) name.remove_prefix(1);
    if (name.front() != '.') return host == name || host.ends_with("." + std::string(name));
    return host.ends_with(name);
  }
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool excludes(const std::string& no_proxy, const Target& target) {
  for (std::size_t begin = 0; begin <= no_proxy.size();) {
    const std::size_t end = std::min(no_proxy.find(',', begin), no_proxy.size());
    const std::string entry = ascii::lower(trimmed(std::string_view(no_proxy).substr(begin, end - begin)));
    begin = end + 1;
    if (entry == "*" || (!entry.empty() && target.is_in(entry))) return true;
  }
  return false;
}

constexpr std::string_view schemes[] = {"http://", "https://", "socks5://", "socks5h://"};

std::string default_port(std::string_view scheme) {
  return scheme == "http" ? "80" : scheme == "https" ? "443" : "1080";
}

/// Returns a URL for libcurl, with a port; nullopt if `url` is not that of a proxy.
std::optional<std::string> parse_proxy(const std::string& url) {
  const std::size_t mark = std::min(url.find("://"), url.size());
  const std::string scheme = ascii::lower(url.substr(0, mark));
  if (std::find(std::begin(schemes), std::end(schemes), scheme + "://") == std::end(schemes))
    return std::nullopt;
  const std::size_t begin = mark + 3;
  const std::size_t end = std::min(url.find_first_of("/?#", begin), url.size());
  // A delimiter that is not escaped in a password would end the host in it.
  if (url.find('@', end) != std::string::npos) return std::nullopt;
  std::string authority = url.substr(begin, end - begin);
  // The last '@' ends the user, by Go's rules; libcurl takes the first one.
  for (std::size_t at = authority.find('@'); at < authority.rfind('@'); at = authority.find('@', at))
    authority.replace(at, 1, "%40");
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parts(curl_url(), curl_url_cleanup);
  // The scheme has no part in it: libcurl may lack that of SOCKS5.
  if (curl_url_set(parts.get(), CURLUPART_URL, ("http://" + authority).c_str(), 0) != CURLUE_OK)
    return std::nullopt;
  for (const CURLUPart part : {CURLUPART_USER, CURLUPART_PASSWORD}) {
    char* text = nullptr;
    const CURLUcode code = curl_url_get(parts.get(), part, &text, CURLU_URLDECODE);
    curl_free(text);
    const bool has_none = code == CURLUE_NO_USER || code == CURLUE_NO_PASSWORD;
    if (code != CURLUE_OK && !has_none) return std::nullopt;  // a control character
  }
  const std::string host = url_part(parts.get(), CURLUPART_HOST);
  const std::string port = url_part(parts.get(), CURLUPART_PORT);
  if (host.empty() || port == "0") return std::nullopt;
  const std::size_t user_end = authority.find('@');
  return (scheme == "socks5" ? "socks5h" : scheme) + "://" +
         authority.substr(0, user_end == std::string::npos ? 0 : user_end + 1) + host + ":" +
         (port.empty() ? default_port(scheme) : port);
}

constexpr const char* no_proxy_url =
    "not the URL of a proxy, such as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT; other "
    "characters in a user or password than letters and digits must be percent-encoded";

/// `name`: of the option or variable. `scheme`: put before `url`.
std::string checked_proxy(const std::string& name, const std::string& url, const char* scheme = "") {
  if (std::optional<std::string> parsed = parse_proxy(scheme + url)) return *std::move(parsed);
  throw std::invalid_argument(name + " \"" + evenkeel::detail::shown_url(url) + "\": " + no_proxy_url);
}

}  // namespace

std::string proxy_problem(const std::string& url) {
  return parse_proxy(url) ? "" : no_proxy_url;
}

std::string choose_proxy(const CurlTransportOptions& options, const Variable& variable) {
  if (options.proxy) {
    return options.proxy->empty() ? "" : checked_proxy("CurlTransportOptions.proxy", *options.proxy);
  }
  const Endpoint endpoint = parse_endpoint(options);
  if (options.event_loop || endpoint.loopback) return {};
  std::string name;
  const auto value = [&](const char* upper) -> std::string {
    for (const std::string& each : {std::string(upper), ascii::lower(upper)}) {
      const char* const text = variable(each.c_str());
      name = each;
      if (text != nullptr && *text != '\0') return text;
    }
    return {};
  };
  const std::string no_proxy = value("NO_PROXY");
  std::string proxy = value(endpoint.tls ? "HTTPS_PROXY" : "HTTP_PROXY");
  const std::string host = ascii::lower(unbracketed(endpoint.host));
  if (proxy.empty() || excludes(no_proxy, {host, endpoint.port, parse_address(host)})) return {};
  const char* const method = variable("REQUEST_METHOD");
  if (!endpoint.tls && method != nullptr && *method != '\0') {
    throw std::invalid_argument(
        name + ": not used in a CGI program (REQUEST_METHOD is set), whose clients choose it");
  }
  const std::string lower = ascii::lower(proxy);
  const bool has_scheme = std::any_of(std::begin(schemes), std::end(schemes),
                                      [&](std::string_view scheme) { return lower.starts_with(scheme); });
  return checked_proxy(name, proxy, has_scheme ? "" : "http://");
}

}  // namespace http::detail
}  // namespace v0
}  // namespace evenkeel
