// SPDX-License-Identifier: Apache-2.0
// Functions of strings. Source: cel-go ext/strings.go (version 2); apiserver pkg/cel/library/regex.go.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "apiserver/schema/cel_library.hpp"
#include "apiserver/text/regular_expression.hpp"
#include "base/utf8.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

std::int64_t letters(std::string_view bytes) {
  return std::count_if(bytes.begin(), bytes.end(),
                       [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; });
}

/// Returns the position after the code point at `at`.
std::size_t next_letter(const std::string& bytes, std::size_t at) {
  ++at;
  while (at < bytes.size() && (static_cast<unsigned char>(bytes[at]) & 0xC0U) == 0x80U) ++at;
  return at;
}

/// Returns the byte position of a code point.
std::size_t place_of(const std::string& bytes, std::int64_t letter) {
  if (letter < 0 || letter > letters(bytes)) throw CelError("index out of range: " + std::to_string(letter));
  std::size_t at = 0;
  for (; letter > 0; --letter) at = next_letter(bytes, at);
  return at;
}

/// Returns the optional last argument as a limit: what is negative is none.
std::int64_t limit(const CelCall& call, std::size_t at) {
  const std::int64_t given = call.given.size() > at ? call.whole(at) : -1;
  return given < 0 ? no_limit : given;
}

CelValue char_at(const CelCall& call) {
  const std::string& text = call.text(0);
  const std::size_t from = place_of(text, call.whole(1));
  return cel_text(from == text.size() ? "" : text.substr(from, next_letter(text, from) - from));
}

CelValue substring(const CelCall& call) {
  const std::string& text = call.text(0);
  if (call.given.size() == 2) return cel_text(text.substr(place_of(text, call.whole(1))));
  if (call.whole(1) > call.whole(2))
    throw CelError("invalid substring range. start: " + std::to_string(call.whole(1)) +
                   ", end: " + std::to_string(call.whole(2)));
  const std::size_t from = place_of(text, call.whole(1));
  return cel_text(text.substr(from, place_of(text, call.whole(2)) - from));
}

/// Returns the position in code points of what was found.
CelValue place_in(const std::string& text, std::size_t found) {
  return cel_int(found == std::string::npos ? -1 : letters(std::string_view(text).substr(0, found)));
}

CelValue index_of_text(const CelCall& call) {
  const std::string& text = call.text(0);
  const std::int64_t from = call.given.size() > 2 ? call.whole(2) : 0;
  if (call.text(1).empty()) return cel_int(from);
  if (from < 0) throw CelError("index out of range: " + std::to_string(from));
  if (from >= letters(text)) return cel_int(-1);
  return place_in(text, text.find(call.text(1), place_of(text, from)));
}

CelValue last_index_of_text(const CelCall& call) {
  const std::string& text = call.text(0);
  const std::int64_t size = letters(text);
  const std::int64_t from = call.given.size() > 2 ? call.whole(2) : size - 1;
  if (call.text(1).empty()) return cel_int(call.given.size() > 2 ? from : size);
  if (call.given.size() == 2 && text.size() < call.text(1).size()) return cel_int(-1);
  if (from < 0) throw CelError("index out of range: " + std::to_string(from));
  if (from >= size) return cel_int(-1);
  return place_in(text, text.rfind(call.text(1), place_of(text, from)));
}

CelValue in_case(std::string text, char first, char last) {
  for (char& letter : text) {
    if (letter >= first && letter <= last) letter = static_cast<char>(letter ^ 32);
  }
  return cel_text(std::move(text));
}

/// Source: Go strings.Replace: an empty text is found before each code point and at the end.
CelValue replace(const CelCall& call) {
  const std::string& text = call.text(0);
  const std::string& from = call.text(1);
  std::string result;
  std::size_t at = 0;
  for (std::int64_t left = limit(call, 3); left > 0; --left) {
    const std::size_t found = text.find(from, at);
    if (found == std::string::npos) break;
    result.append(text, at, found - at).append(call.text(2));
    at = found + from.size();
    if (!from.empty()) continue;
    if (at >= text.size()) break;
    result.append(text, at, next_letter(text, at) - at);
    at = next_letter(text, at);
  }
  return cel_text(result.append(text, std::min(at, text.size())));
}

/// Source: Go strings.SplitN: the last of `limit` parts is the rest; an empty separator gives code points.
CelValue split(const CelCall& call) {
  const std::string& text = call.text(0);
  const std::string& separator = call.text(1);
  std::int64_t left = limit(call, 2);
  CelValue::Parts parts;
  if (left == 0 || (separator.empty() && text.empty())) return cel_list({});
  std::size_t from = 0;
  for (; left > 1; --left) {
    const std::size_t end = separator.empty() ? next_letter(text, from) : text.find(separator, from);
    if (end >= text.size()) break;
    parts.push_back(cel_text(text.substr(from, end - from)));
    from = end + separator.size();
  }
  parts.push_back(cel_text(text.substr(from)));
  return cel_list(std::move(parts));
}

CelValue join(const CelCall& call) {
  std::string result;
  bool first = true;
  for (const CelValue& part : call.items(0)) {
    if (part.type != CelValue::Type::json || !part.data().is_string())
      throw CelError("join: invalid input: " + part.to_json().dump());
    if (!std::exchange(first, false) && call.given.size() > 1) result += call.text(1);
    result += part.data().as_string();
  }
  return cel_text(std::move(result));
}

/// Removes blanks, including those that are not ASCII. Source: Go unicode.IsSpace.
CelValue trim(const CelCall& call) {
  static const RegularExpression blanks("^[\\s\\v\\x{85}\\x{A0}\\pZ]+|[\\s\\v\\x{85}\\x{A0}\\pZ]+$");
  const std::string& text = call.text(0);
  std::size_t end = text.size();
  std::size_t start = 0;
  blanks.each_match(text, [&](const RegularExpression::Match& match) {
    if (match.place == 0)
      start = match.size;
    else
      end = match.place;
    return true;
  });
  return cel_text(start >= end ? "" : text.substr(start, end - start));
}

CelValue quote(const CelCall& call) {
  constexpr std::string_view special = "\a\b\f\n\r\t\v\\\"";
  constexpr std::string_view names = "abfnrtv\\\"";
  std::string_view rest = call.text(0);
  std::string result = "\"";
  while (!rest.empty()) {
    const std::size_t size = std::max<std::size_t>(detail::utf8_length(rest), 1);
    const std::size_t known = special.find(rest[0]);
    if (detail::utf8_length(rest) == 0)
      result += detail::utf8_replacement;
    else if (known == std::string_view::npos)
      result += rest.substr(0, size);
    else
      result += {'\\', names[known]};
    rest.remove_prefix(size);
  }
  return cel_text(result + "\"");
}

/// Compiles the expression that is the second argument.
RegularExpression expression_of(const CelCall& call) {
  try {
    RegularExpression expression(call.text(1));
    spend(call.budget, match_cost(call.text(0).size(), call.text(1).size(), expression.size()));
    return expression;
  } catch (const std::invalid_argument& problem) {
    throw CelError(problem.what());
  }
}

CelValue matches(const CelCall& call) {
  return cel_bool(expression_of(call).found_in(call.text(0)));
}

/// Returns the first `most` matches.
CelValue::Parts found(const CelCall& call, std::int64_t most) {
  CelValue::Parts result;
  const RegularExpression expression = expression_of(call);
  if (most == 0) return result;
  expression.each_match(call.text(0), [&](const RegularExpression::Match& match) {
    result.push_back(cel_text(call.text(0).substr(match.place, match.size)));
    spend(call.budget, match_cost(match.searched / 10, call.text(1).size(), expression.size()));
    return static_cast<std::int64_t>(result.size()) < most;
  });
  return result;
}

CelValue find_all(const CelCall& call) {
  return cel_list(found(call, limit(call, 2)));
}

CelValue size_of(const CelCall& call) {
  return cel_int(letters(call.text(0)));
}
CelValue byte_count(const CelCall& call) {
  return cel_int(static_cast<std::int64_t>(call.text(0).size()));
}

}  // namespace

std::span<const CelFunction> cel_string_functions() {
  static constexpr CelFunction functions[] = {
      {"size(string) int", size_of},
      {".size(string) int", size_of},
      {"size(bytes) int", byte_count},
      {".size(bytes) int", byte_count},
      {".startsWith(string, string) bool",
       [](const CelCall& call) { return cel_bool(call.text(0).starts_with(call.text(1))); }},
      {".endsWith(string, string) bool",
       [](const CelCall& call) { return cel_bool(call.text(0).ends_with(call.text(1))); }},
      {".contains(string, string) bool",
       [](const CelCall& call) { return cel_bool(call.text(0).find(call.text(1)) != std::string::npos); }},
      {".matches(string, string) bool", matches},
      {"matches(string, string) bool", matches},
      {".find(string, string) string",
       [](const CelCall& call) {
         CelValue::Parts parts = found(call, 1);
         return parts.empty() ? cel_text("") : parts[0];
       }},
      {".findAll(string, string) list(string)", find_all},
      {".findAll(string, string, int) list(string)", find_all},
      {".charAt(string, int) string", char_at},
      {".indexOf(string, string) int", index_of_text},
      {".indexOf(string, string, int) int", index_of_text},
      {".lastIndexOf(string, string) int", last_index_of_text},
      {".lastIndexOf(string, string, int) int", last_index_of_text},
      {".lowerAscii(string) string", [](const CelCall& call) { return in_case(call.text(0), 'A', 'Z'); }},
      {".upperAscii(string) string", [](const CelCall& call) { return in_case(call.text(0), 'a', 'z'); }},
      {".replace(string, string, string) string", replace},
      {".replace(string, string, string, int) string", replace},
      {".split(string, string) list(string)", split},
      {".split(string, string, int) list(string)", split},
      {".substring(string, int) string", substring},
      {".substring(string, int, int) string", substring},
      {".trim(string) string", trim},
      {".join(list(string)) string", join},
      {".join(list(string), string) string", join},
      {".format(string, list(dyn)) string",
       [](const CelCall& call) { return cel_text(cel_format(call.text(0), call.items(1))); }},
      {"strings.quote(string) string", quote},
  };
  return functions;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
