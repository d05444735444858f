// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/go_json.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr std::string_view blanks = " \t\r\n";

/// Returns true for the escape of a surrogate whose second hexadecimal digit is one of `halves`.
bool is_surrogate(std::string_view escape, std::string_view halves) noexcept {
  return escape.size() >= 6 && (escape.starts_with("\\ud") || escape.starts_with("\\uD")) &&
         halves.find(escape[3]) != std::string_view::npos;
}
bool is_high(std::string_view escape) noexcept {
  return is_surrogate(escape, "89abAB");
}
bool is_low(std::string_view escape) noexcept {
  return is_surrogate(escape, "cdefCDEF");
}

/// Replaces the escapes of surrogates that are not in pairs by that of U+FFFD.
std::string with_pairs_only(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    std::size_t length = rest.front() == '\\' ? 2 : 1;
    const bool high = is_high(rest);
    if (high && is_low(rest.substr(6))) length = 12;
    const bool lone = length == 2 && (high || is_low(rest));
    out += lone ? std::string_view("\\ufffd") : rest.substr(0, length);
    at += lone ? 6 : length;
  }
  return out;
}

using Escape = std::pair<std::string_view, std::string_view>;
constexpr std::array escapes = {
    Escape{"\"", "\\\""},   Escape{"\\", "\\\\"},   Escape{"\b", "\\b"},         Escape{"\f", "\\f"},
    Escape{"\n", "\\n"},    Escape{"\r", "\\r"},    Escape{"\t", "\\t"},         Escape{"<", "\\u003c"},
    Escape{">", "\\u003e"}, Escape{"&", "\\u0026"}, Escape{"\u2028", "\\u2028"}, Escape{"\u2029", "\\u2029"}};

void append_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto* const found =
        std::ranges::find_if(escapes, [&](const Escape& escape) { return text.starts_with(escape.first); });
    if (found != escapes.end())
      out += found->second;
    else if (static_cast<unsigned char>(text.front()) < 0x20)
      out.append("\\u00") += {"01"[text.front() >> 4], "0123456789abcdef"[text.front() & 15]};
    else
      out += text.front();
    text.remove_prefix(found != escapes.end() ? found->first.size() : 1);
  }
  out += '"';
}

void append(std::string& out, const Json& value) {
  if (value.is_string()) return append_string(out, value.as_string());
  if (!value.is_array() && !value.is_object()) return value.dump_to(out);
  out += value.is_array() ? '[' : '{';
  const char* comma = "";
  if (value.is_array()) {
    for (const Json& item : value.as_array()) append(out.append(std::exchange(comma, ",")), item);
  } else {
    for (const auto& [name, member] : value.as_object()) {
      append_string(out.append(std::exchange(comma, ",")), name);
      append(out += ':', member);
    }
  }
  out += value.is_array() ? ']' : '}';
}

/// Returns the length of the string, number or literal at the start of a valid text.
std::size_t token_length(std::string_view text) {
  if (text.front() != '"') return std::min(text.find_first_of(",]} \t\r\n"), text.size());
  std::size_t end = 1;
  while (text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  return end + 1;
}

/// Quotes the scalars of a valid text, except names of members and null.
std::string with_quoted_scalars(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const bool scalar = text.find_first_of("{}[],: \t\r\n") != 0;
    const std::size_t length = scalar ? token_length(text) : 1;
    const std::string_view token = text.substr(0, length);
    text.remove_prefix(length);
    const std::size_t next = text.find_first_not_of(blanks);
    const bool name = next != std::string_view::npos && text[next] == ':';
    if (scalar && !name && token != "null")
      append_string(out, token);
    else
      out += token;
  }
  return out;
}

}  // namespace

bool escapes_surrogates(std::string_view text) noexcept {
  for (std::size_t at = text.find('\\'); at < text.size(); at = text.find('\\', at + 2))
    if (is_high(text.substr(at)) || is_low(text.substr(at))) return true;
  return false;
}

Json parse_go_json(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf"))
    throw DecodeError("JSON", "parse error at line 1, column 1: a byte order mark");
  return escapes_surrogates(text) ? Json::parse(with_pairs_only(text)) : Json::parse(text);
}

std::string go_json(const Json& value) {
  std::string out;
  append(out, value);
  return out;
}

Json parse_tokens(std::string_view text) {
  parse_go_json(text);
  return parse_go_json(with_quoted_scalars(text));
}

Json from_tokens(const Json& tokens) {
  if (tokens.is_string()) return parse_go_json(tokens.as_string());
  Json out = tokens;
  if (out.is_array())
    for (Json& item : out.as_array()) item = from_tokens(item);
  if (out.is_object())
    for (auto& [name, member] : out.as_object()) member = from_tokens(member);
  return out;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
