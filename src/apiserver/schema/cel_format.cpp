// SPDX-License-Identifier: Apache-2.0
// "..".format([..]). Source: cel-go ext/formatting.go, with the locale en_US.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/schema/cel_library.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

using Type = CelValue::Type;

constexpr std::size_t most_decimals = 1000;

[[noreturn]] void refuse(const std::string& problem, const CelValue& given) {
  throw CelError("error during formatting: " + problem + ", was given " + cel_type_name(given));
}

bool is_json(const CelValue& value) {
  return value.type == Type::json;
}

/// Returns a double, or the one that a text names ("NaN"); std::nullopt for other values.
std::optional<double> real_in(const CelValue& value) {
  if (!is_json(value)) return std::nullopt;
  const Json& data = value.data();
  if (data.is_number() && !data.is_integer()) return data.as_number();
  if (data == Json("NaN")) return std::nan("");
  if (data == Json("Infinity")) return HUGE_VAL;
  if (data == Json("-Infinity")) return -HUGE_VAL;
  return std::nullopt;
}

std::string decimals(double number, std::size_t count, std::chars_format format) {
  std::string text(count + 400, '\0');
  text.resize(static_cast<std::size_t>(
      std::to_chars(text.data(), text.data() + text.size(), number, format, static_cast<int>(count)).ptr -
      text.data()));
  return text;
}

std::string not_finite(double number) {
  return std::isnan(number) ? "NaN" : number > 0 ? "∞" : "-∞";
}

/// "1,234.50"
std::string fixed(const CelValue& value, std::size_t count) {
  const auto number = real_in(value);
  if (!number) refuse("fixed-point clause can only be used on doubles", value);
  if (!std::isfinite(*number)) return not_finite(*number);
  std::string text = decimals(*number, count, std::chars_format::fixed);
  const std::size_t start = text.starts_with('-') ? 1 : 0;
  for (std::size_t at = std::min(text.find('.'), text.size()); at > start + 3; at -= 3)
    text.insert(at - 3, ",");
  return text;
}

/// "1.052033×10⁰³": in the source the precision is a width, and there are always six decimals.
std::string scientific(const CelValue& value, std::size_t width) {
  static constexpr std::array<std::string_view, 10> raised{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const auto number = real_in(value);
  if (!number) refuse("scientific clause can only be used on doubles", value);
  if (!std::isfinite(*number)) return not_finite(*number);
  const std::string text = decimals(*number, 6, std::chars_format::scientific);
  const std::size_t exponent = text.find('e');
  std::string result = text.substr(0, exponent) + "×10";
  if (text[exponent + 1] == '-') result += "⁻";
  for (const char digit : text.substr(exponent + 2))
    result += raised.at(static_cast<std::size_t>(digit - '0'));
  const std::size_t length = text.size() + 2 - (text[exponent + 1] == '-' ? 0 : 1);
  return std::string(width > length ? width - length : 0, ' ') + result;
}

/// Formats an integer or unsigned integer; std::nullopt for other values.
std::optional<std::string> integer_text(const CelValue& value, int base) {
  std::array<char, 80> text{};
  char* const end = text.data() + text.size();
  if (value.type == Type::uint)
    return std::string(text.data(),
                       std::to_chars(text.data(), end, static_cast<std::uint64_t>(value.number), base).ptr);
  if (!is_json(value) || !value.data().is_integer()) return std::nullopt;
  return std::string(text.data(), std::to_chars(text.data(), end, value.data().as_integer(), base).ptr);
}

std::string in_base(const CelValue& value, int base, const char* problem) {
  if (auto text = integer_text(value, base)) return *std::move(text);
  if (base == 2 && is_json(value) && value.data().is_bool()) return value.data().as_bool() ? "1" : "0";
  refuse(problem, value);
}

std::string hexadecimal(const CelValue& value, bool upper) {
  std::string text;
  if (auto number = integer_text(value, 16)) {
    text = *std::move(number);
  } else if (value.data().is_string() && (is_json(value) || value.type == Type::bytes)) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (const char letter : value.data().as_string()) {
      const auto byte = static_cast<unsigned char>(letter);
      text += {digits[byte >> 4U], digits[byte & 15U]};
    }
  } else {
    refuse("only integers, byte buffers, and strings can be formatted as hex", value);
  }
  if (upper)
    for (char& letter : text) letter = static_cast<char>(letter >= 'a' ? letter - 32 : letter);
  return text;
}

std::string shown(const CelValue& value);

/// Formats an item of a list or a map, with quotes where a literal has them.
std::string nested(const CelValue& value) {
  if (value.type == Type::duration || value.type == Type::timestamp)
    return (value.type == Type::duration ? "duration(" : "timestamp(") + Json(cel_string_of(value)).dump() +
           ")";
  const bool real = is_json(value) && value.data().is_number() && !value.data().is_integer();
  if (real) {
    const double number = value.data().as_number();
    return std::isfinite(number) ? decimals(number, 6, std::chars_format::fixed)
                                 : Json(not_finite(number)).dump();
  }
  if (value.type == Type::bytes) return "b" + Json(shown(value)).dump();
  return is_json(value) && value.data().is_string() ? value.data().dump() : shown(value);
}

std::string list_text(const CelValue& list) {
  std::string text = "[";
  for (const CelValue& item : cel_items(list)) text += (text.size() > 1 ? ", " : "") + nested(item);
  return text + "]";
}

/// Members are in the order of their keys as text.
std::string map_text(const CelValue& map) {
  std::vector<std::pair<std::string, std::string>> members;
  const CelValue::Parts entries = cel_entries(map);
  for (std::size_t i = 0; i < entries.size(); i += 2) {
    const std::string type = cel_type_name(entries[i]);
    if (type != "string" && type != "bool" && type != "int" && type != "uint")
      throw CelError("no formatting function for map key of type " + type);
    members.emplace_back(nested(entries[i]), nested(entries[i + 1]));
  }
  std::stable_sort(members.begin(), members.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text = "{";
  for (const auto& [key, value] : members)
    text.append(text.size() > 1 ? ", " : "").append(key).append(":").append(value);
  return text + "}";
}

std::string shown(const CelValue& value) {
  if (is_list(value)) return list_text(value);
  if (is_map(value)) return map_text(value);
  if (is_json(value) && value.data().is_null()) return "null";
  if (value.type == Type::optional || value.type == Type::special)
    refuse(
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
        "durations, "
        "and timestamps",
        value);
  return cel_string_of(value);
}

/// Reads ".3" from the front of a clause.
std::size_t take_precision(std::string_view& clause) {
  constexpr std::size_t standard = 6;
  if (!clause.starts_with('.')) return standard;
  const std::size_t end = clause.find_first_not_of("0123456789", 1);
  if (end == std::string_view::npos)
    throw CelError(
        "could not parse formatting clause: error while parsing precision: could not find end of precision "
        "specifier");
  std::size_t count = 0;
  if (std::from_chars(clause.data() + 1, clause.data() + end, count).ec != std::errc() ||
      count > most_decimals)
    throw CelError("could not parse formatting clause: error while parsing precision");
  clause.remove_prefix(end);
  return count;
}

std::string formatted(char clause, std::size_t precision, const CelValue& value) {
  switch (clause) {
    case 's':
      return shown(value);
    case 'd':
      return in_base(value, 10, "decimal clause can only be used on integers");
    case 'f':
      return fixed(value, precision);
    case 'e':
      return scientific(value, precision);
    case 'b':
      return in_base(value, 2, "only integers and bools can be formatted as binary");
    case 'o':
      return in_base(value, 8, "octal clause can only be used on integers");
    case 'x':
    case 'X':
      return hexadecimal(value, clause == 'X');
    default:
      throw CelError(std::string("could not parse formatting clause: unrecognized formatting clause \"") +
                     clause + "\"");
  }
}

/// Calls `add` with the texts of a pattern, and `clause` with the letter and the precision of each clause.
template <class Add, class Clause>
void read_pattern(std::string_view pattern, const Add& add, const Clause& clause) {
  while (!pattern.empty()) {
    const std::size_t percent = std::min(pattern.find('%'), pattern.size());
    add(pattern.substr(0, percent));
    pattern.remove_prefix(percent);
    if (pattern.starts_with("%%")) {
      add("%");
      pattern.remove_prefix(2);
    } else if (!pattern.empty()) {
      pattern.remove_prefix(1);
      if (pattern.empty()) throw CelError("unexpected end of string");
      const std::size_t precision = take_precision(pattern);
      clause(pattern[0], precision);
      pattern.remove_prefix(1);
    }
  }
}

}  // namespace

std::string cel_format(const std::string& pattern, const CelValue::Parts& given) {
  std::string result;
  std::size_t next = 0;
  read_pattern(
      pattern, [&](std::string_view text) { result += text; },
      [&](char letter, std::size_t precision) {
        if (next >= given.size()) throw CelError("index " + std::to_string(next) + " out of range");
        result += formatted(letter, precision, given[next++]);
      });
  return result;
}

std::string cel_format_clauses(const std::string& pattern) {
  std::string letters;
  read_pattern(
      pattern, [](std::string_view) {}, [&](char letter, std::size_t) { letters += letter; });
  return letters;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
