// SPDX-License-Identifier: Apache-2.0
// Letters of ASCII, whatever the locale, and names and lists made of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace detail::ascii {

constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_alphanumeric(char c) {
  return is_lower(c) || is_upper(c) || is_digit(c);
}
constexpr char lower(char c) {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}
constexpr char upper(char c) {
  return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
}

inline std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

/// Returns true for lower-case letters, digits and inner '-', at most `longest` of them.
inline bool is_dns_label(std::string_view text, std::size_t longest) {
  const auto is_end = [](char c) { return is_lower(c) || is_digit(c); };
  return !text.empty() && text.size() <= longest && is_end(text.front()) && is_end(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_end(c) || c == '-'; });
}

/// Returns true for a label value that is not empty: up to 63 letters, digits and inner '-', '_' and '.'.
inline bool is_label_value(std::string_view text) {
  return !text.empty() && text.size() <= 63 && is_alphanumeric(text.front()) &&
         is_alphanumeric(text.back()) && std::all_of(text.begin(), text.end(), [](char c) {
           return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

/// Returns the texts with the separator between them.
template <class Texts>
std::string join(const Texts& texts, std::string_view separator = ", ") {
  std::string out;
  bool first = true;
  for (const auto& text : texts) {
    if (!first) out += separator;
    first = false;
    out += text;
  }
  return out;
}

}  // namespace detail::ascii
}  // namespace v0
}  // namespace evenkeel
