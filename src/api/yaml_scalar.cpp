// SPDX-License-Identifier: Apache-2.0
// Source: gopkg.in/yaml.v2 resolve.go.
#include "api/yaml_scalar.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

std::optional<bool> boolean(const std::string& text) {
  for (const char* word : {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
    if (text == word) return true;
  for (const char* word : {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
    if (text == word) return false;
  return std::nullopt;
}

/// Decimal, 0x, 0o, 0b, or octal with a leading zero. Up to the largest unsigned integer, which is a double
/// in JSON.
std::optional<Json> integer(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  int base = 10;
  if (digits.size() > 1 && digits.front() == '0') {
    const char letter = digits[1];
    base = letter == 'x' || letter == 'X' ? 16 : letter == 'b' || letter == 'B' ? 2 : 8;
    digits.remove_prefix(base != 8 || letter == 'o' || letter == 'O' ? 2 : 1);
  }
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value, base);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  if (!negative) return Json(value);
  if (value > std::uint64_t{1} << 63) return std::nullopt;
  return Json(static_cast<std::int64_t>(-value));
}

std::optional<double> number(const std::string& text) {
  if (text.find_first_not_of("+-.0123456789eE") != std::string::npos) return std::nullopt;
  double value = 0;
  const char* begin = text.data() + (text.front() == '+' ? 1 : 0);
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(begin, end, value);
  return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

/// Returns true if `text` matches `pattern`, in which 0 stands for a digit; with `open`, if it begins with a
/// match.
bool looks_like(std::string_view text, std::string_view pattern, bool open) {
  if (text.size() < pattern.size() || (!open && text.size() != pattern.size())) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (pattern[i] == '0' ? !digit : text[i] != pattern[i]) return false;
  }
  return true;
}

bool is_time(std::string_view text) {
  return looks_like(text, "0000-00-00", false) || looks_like(text, "0000-00-00T00:00:00", true) ||
         looks_like(text, "0000-00-00 00:00:00", true);
}

/// Digits and colons: a number of base 60 to some readers.
bool is_base60(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9' &&
         text.find(':') != std::string_view::npos &&
         text.find_first_not_of("0123456789:_.") == std::string_view::npos;
}

bool is_special(const std::string& text) {
  return text == "<<" || text == "=" || !non_finite(text).empty();
}

}  // namespace

Json plain_scalar(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return Json();
  if (const auto truth = boolean(text)) return Json(*truth);
  std::string plain = text;
  // The underscores of a number that begins with a digit or a sign.
  if (std::string_view("+-0123456789").find(text.front()) != std::string_view::npos) std::erase(plain, '_');
  if (auto whole = integer(plain)) return *std::move(whole);
  if (const auto value = number(plain)) return Json(*value);
  return Json(text);
}

std::string_view non_finite(std::string_view text) {
  for (const char* word : {".nan", ".NaN", ".NAN"})
    if (text == word) return ".nan";
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  for (const char* word : {".inf", ".Inf", ".INF"})
    if (text == word) return negative ? "-.inf" : ".inf";
  return {};
}

std::string key_text(const Json& key) {
  if (key.is_string()) return key.as_string();
  if (!key.is_number() || key.is_integer()) return key.dump();
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(key.as_number()),
                                 std::chars_format::general);
  return {text.data(), end.ptr};
}

bool needs_quotes(const std::string& text) {
  return !plain_scalar(text).is_string() || is_time(text) || is_base60(text) || is_special(text);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
