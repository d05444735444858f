// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/url.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "apiserver/text/ip_address.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

/// The parts of a URL, which differ in the characters that need no escape.
enum class Part { host, zone, path, user };

bool is_alphanumeric(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0;
}

/// Source: Go net/url shouldEscape.
bool needs_escape(char letter, Part part) {
  if (is_alphanumeric(letter) || std::string_view("-_.~").find(letter) != std::string_view::npos)
    return false;
  if (part == Part::path) return std::string_view("$&+,/:;=@").find(letter) == std::string_view::npos;
  return std::string_view("!$&'()*+,;=:[]<>\"").find(letter) == std::string_view::npos;
}

std::optional<unsigned> hex_digits(std::string_view text) {
  unsigned value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.size() != 2 || result.ec != std::errc() || result.ptr != text.data() + 2) return std::nullopt;
  return value;
}

/// Decodes "%41". Returns std::nullopt for malformed or forbidden escapes, and in hosts for characters that
/// need one. Source: Go net/url unescape.
std::optional<std::string> unescaped(std::string_view text, Part part) {
  const bool of_host = part == Part::host || part == Part::zone;
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      if (of_host && static_cast<unsigned char>(text[i]) < 0x80 && needs_escape(text[i], part))
        return std::nullopt;
      result += text[i];
      continue;
    }
    const auto byte = hex_digits(text.substr(i + 1, 2));
    if (!byte) return std::nullopt;
    const bool percent = text.substr(i, 3) == "%25";
    if (part == Part::host && *byte < 0x80 && !percent) return std::nullopt;
    if (part == Part::zone && !percent && *byte != ' ' && needs_escape(static_cast<char>(*byte), Part::host))
      return std::nullopt;
    result += static_cast<char>(*byte);
    i += 2;
  }
  return result;
}

/// Returns the path as it is, or with escapes where they are missing. Source: Go URL.EscapedPath.
std::string escaped_path(std::string_view path, const std::string& decoded) {
  const bool valid = std::none_of(path.begin(), path.end(), [](char letter) {
    return needs_escape(letter, Part::path) &&
           std::string_view("!'()*[]%").find(letter) == std::string_view::npos;
  });
  if (valid) return std::string(path);
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string result;
  for (const char letter : decoded) {
    if (!needs_escape(letter, Part::path)) {
      result += letter;
      continue;
    }
    const auto byte = static_cast<unsigned char>(letter);
    result += {'%', digits[byte >> 4U], digits[byte & 15U]};
  }
  return result;
}

bool is_optional_port(std::string_view text) {
  return text.empty() ||
         (text[0] == ':' && text.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

/// Source: Go net/url parseHost.
std::optional<std::string> parse_host(std::string_view scheme, std::string_view host) {
  const std::size_t open = host.rfind('[');
  if (open != std::string_view::npos) {
    const std::size_t close = host.rfind(']');
    if (open > 0 || close == std::string_view::npos || !is_optional_port(host.substr(close + 1)))
      return std::nullopt;
    const std::string_view name = host.substr(1, close - 1);
    const std::size_t zone = std::min(name.find("%25"), name.size());
    const auto address = unescaped(name.substr(0, zone), Part::host);
    const auto rest = unescaped(name.substr(zone), Part::zone);
    if (!address || !rest || rest == "%") return std::nullopt;
    const bool mapped = address->starts_with("::ffff:");
    const auto parsed = parse_ip(mapped ? "::" + address->substr(7) : *address);
    if (!parsed || parsed->family != 6) return std::nullopt;
    return "[" + *address + *rest + "]" + std::string(host.substr(close + 1));
  }
  const bool strict = scheme == "http" || scheme == "https";
  const std::size_t colon = strict ? host.find(':') : host.rfind(':');
  if (colon != std::string_view::npos && !is_optional_port(host.substr(colon))) return std::nullopt;
  return unescaped(host, Part::host);
}

std::optional<std::string> parse_authority(std::string_view scheme, std::string_view authority) {
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return parse_host(scheme, authority);
  const std::string_view user = authority.substr(0, at);
  const bool valid = std::all_of(user.begin(), user.end(), [](char letter) {
    return is_alphanumeric(letter) ||
           std::string_view("-._:~!$&'()*+,;=%@").find(letter) != std::string_view::npos;
  });
  if (!valid || !unescaped(user, Part::user)) return std::nullopt;
  return parse_host(scheme, authority.substr(at + 1));
}

/// Removes the scheme from the front. Returns false if there is none before the colon.
bool take_scheme(std::string_view& rest, std::string& scheme) {
  const std::size_t end =
      rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
  if (end == std::string_view::npos || rest[end] != ':') return true;
  if (end == 0) return false;
  if (std::isalpha(static_cast<unsigned char>(rest[0])) == 0) return true;
  scheme = rest.substr(0, end);
  std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  rest.remove_prefix(end + 1);
  return true;
}

/// Source: Go net/url parse; `of_request` is its viaRequest.
std::optional<Url> parse(std::string_view text, bool of_request) {
  const bool controls =
      std::any_of(text.begin(), text.end(), [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; });
  if (controls || text.empty()) return std::nullopt;
  Url out;
  if (text == "*") {
    out.path = "*";
    return out;
  }
  if (!take_scheme(text, out.scheme)) return std::nullopt;
  const std::size_t mark = std::min(text.find('?'), text.size());
  out.query = text.substr(std::min(mark + 1, text.size()));
  text = text.substr(0, mark);
  if (!text.starts_with('/')) return out.scheme.empty() ? std::nullopt : std::optional(out);
  const bool has_host = !out.scheme.empty() || (!of_request && !text.starts_with("///"));
  if (has_host && text.starts_with("//")) {
    const std::size_t slash = std::min(text.find('/', 2), text.size());
    auto host = parse_authority(out.scheme, text.substr(2, slash - 2));
    if (!host) return std::nullopt;
    out.host = *std::move(host);
    text.remove_prefix(slash);
  }
  const auto decoded = unescaped(text, Part::path);
  if (!decoded) return std::nullopt;
  out.path = escaped_path(text, *decoded);
  return out;
}

/// Decodes a key or value of a query.
std::optional<std::string> query_text(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return unescaped(spaced, Part::path);
}

}  // namespace

std::string Url::port() const {
  const std::size_t colon = host.rfind(':');
  return colon == std::string::npos || !is_optional_port(std::string_view(host).substr(colon))
             ? ""
             : host.substr(colon + 1);
}

std::string Url::hostname() const {
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != std::string::npos && is_optional_port(std::string_view(host).substr(colon));
  const std::string name = has_port ? host.substr(0, colon) : host;
  return name.starts_with('[') && name.ends_with(']') ? name.substr(1, name.size() - 2) : name;
}

std::map<std::string, std::vector<std::string>> Url::parameters() const {
  std::map<std::string, std::vector<std::string>> result;
  std::string_view rest = query;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    if (pair.empty() || pair.find(';') != std::string_view::npos) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const auto key = query_text(pair.substr(0, equals));
    const auto value = query_text(pair.substr(std::min(equals + 1, pair.size())));
    if (key && value) result[*key].push_back(*value);
  }
  return result;
}

bool is_request_url(std::string_view text) {
  return parse(text, true).has_value();
}

std::optional<Url> parse_request_url(std::string_view text) {
  if (!parse(text, true)) return std::nullopt;
  return parse(text.substr(0, text.find('#')), false);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
