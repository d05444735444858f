// SPDX-License-Identifier: Apache-2.0
// Source: gopkg.in/yaml.v2 encode.go, sorter.go, and emitterc.go for what may stand without quotes.
#include "api/yaml_writer.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "api/yaml_scalar.hpp"
#include "base/shown_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

using namespace std::string_view_literals;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// A code point of UTF-8; U+FFFD for each byte that starts none.
struct Letter {
  char32_t code = 0xFFFD;
  std::size_t size = 1;
};

Letter letter_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(i < text.size() ? static_cast<unsigned char>(text[i]) : 0);
  };
  const char32_t head = byte(at);
  if (head < 0x80) return {head, 1};
  const std::size_t size = head >> 5 == 6 ? 2 : head >> 4 == 14 ? 3 : head >> 3 == 30 ? 4 : 1;
  if (size == 1) return {};
  char32_t code = head & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if (byte(at + i) >> 6 != 2) return {};
    code = code << 6 | (byte(at + i) & 0x3FU);
  }
  return {code, size};
}

/// Returns true if a YAML text may contain the letter as it is and reads it as part of a line. Like
/// Go's encoder, which escapes letters beyond U+FFFF; marks of text direction are escaped, too, for people
/// who read the text. Source: gopkg.in/yaml.v2 yamlprivateh.go is_printable, is_break, is_bom.
bool is_printable(char32_t code) {
  if (is_hidden(code) || code == 0xFEFF) return false;
  return code <= 0xD7FF || (code >= 0xE000 && code <= 0xFFFD);
}

bool has_unprintable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Letter letter = letter_at(text, at);
    if (letter.code != '\n' && !is_printable(letter.code)) return true;
    at += letter.size;
  }
  return false;
}

/// Returns true if the text can stand without quotes in a block.
bool may_be_plain(std::string_view text) {
  if (text.empty() || is_blank(text.front()) || is_blank(text.back())) return false;
  if (text.starts_with("---") || text.starts_with("...")) return false;
  if (std::string_view("#,[]{}&*!|>'\"%@`").find(text.front()) != std::string_view::npos) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool before_blank = i + 1 == text.size() || is_blank(text[i + 1]);
    if (text[i] == ':' && before_blank) return false;
    if (i == 0 && (text[i] == '-' || text[i] == '?') && before_blank) return false;
    if (i > 0 && text[i] == '#' && is_blank(text[i - 1])) return false;
  }
  return true;
}

/// Source: gopkg.in/yaml.v2 emitterc.go yaml_emitter_write_double_quoted.
std::string escaped(char32_t code) {
  static constexpr std::u32string_view named = U"\0\a\b\t\n\v\f\r\x1B\"\\\u0085\u2028\u2029"sv;
  static constexpr std::string_view names = "0abtnvfre\"\\NLP";
  const std::size_t found = named.find(code);
  if (found != std::u32string_view::npos) return {'\\', names[found]};
  static constexpr char hex[] = "0123456789ABCDEF";
  const int digits = code <= 0xFF ? 2 : code <= 0xFFFF ? 4 : 8;
  std::string out = digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
  for (int i = digits - 1; i >= 0; --i) out += hex[code >> (4 * i) & 15U];
  return out;
}

std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const Letter letter = letter_at(text, at);
    if (letter.code == '"' || letter.code == '\\' || !is_printable(letter.code))
      out += escaped(letter.code);
    else
      out += text.substr(at, letter.size);
    at += letter.size;
  }
  return out + '"';
}

std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + '\'';
}

std::string flow_scalar(const std::string& text) {
  if (has_unprintable(text) || text.find('\n') != std::string::npos || needs_quotes(text))
    return double_quoted(text);
  return may_be_plain(text) ? text : single_quoted(text);
}

/// Returns true if the lines can be written as they are: not if blanks stand at their ends.
bool may_be_literal(std::string_view text) {
  return !has_unprintable(text) && text.find(" \n") == std::string_view::npos && !text.ends_with(' ') &&
         text != "\n";
}

/// Names in natural order: digits by value, and letters after other characters.
bool before(std::string_view one, std::string_view other) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
  };
  bool digits = false;
  for (std::size_t i = 0; i < one.size() && i < other.size(); ++i) {
    if (one[i] == other[i]) {
      digits = digit(one[i]);
      continue;
    }
    if (letter(one[i]) && letter(other[i])) return one[i] < other[i];
    if (letter(one[i]) || letter(other[i])) return digits ? letter(one[i]) : letter(other[i]);
    const auto value_at = [&](std::string_view text) {
      std::uint64_t value = 0;
      for (std::size_t at = i; at < text.size() && digit(text[at]); ++at)
        value = value * 10 + static_cast<std::uint64_t>(text[at] - '0');
      return value;
    };
    if (value_at(one) != value_at(other)) return value_at(one) < value_at(other);
    return one[i] < other[i];
  }
  return one.size() < other.size();
}

class Writer {
 public:
  std::string out = {};

  /// A value that begins where the line is; `indent` is that of the lines of what holds it.
  void value(const Json& json, std::size_t indent) {
    if (json.is_object() && !json.empty()) return members(json, indent);
    if (json.is_array() && !json.empty()) return items(json, indent);
    scalar(json, indent);
  }

 private:
  void scalar(const Json& json, std::size_t indent) {
    if (!json.is_string())
      out += json.dump();
    else if (json.as_string().find('\n') != std::string::npos && may_be_literal(json.as_string()))
      literal(json.as_string(), indent);
    else
      out += flow_scalar(json.as_string());
    out += '\n';
  }

  void literal(std::string_view text, std::size_t indent) {
    out += '|';
    if (is_blank(text.front())) out += '2';
    if (!text.ends_with('\n'))
      out += '-';
    else if (text.ends_with("\n\n"))
      out += '+';
    if (text.ends_with('\n')) text.remove_suffix(1);
    for (std::string_view rest = text;;) {
      const auto end = rest.find('\n');
      out += '\n';
      if (end != 0 && !rest.empty()) out.append(indent, ' ').append(rest.substr(0, end));
      if (end == std::string_view::npos) return;
      rest.remove_prefix(end + 1);
    }
  }

  void members(const Json& json, std::size_t indent) {
    std::vector<std::string_view> names;
    for (const auto& [name, member] : json.as_object()) names.push_back(name);
    std::sort(names.begin(), names.end(), before);
    bool first = true;
    for (const std::string_view name : names) {
      if (!first) out.append(indent, ' ');
      first = false;
      out += flow_scalar(std::string(name)) + ":";
      const Json& member = json[name];
      const bool block = !member.empty() && (member.is_object() || member.is_array());
      const std::size_t inner = indent + (member.is_array() ? 0 : 2);
      out += block ? "\n" : " ";
      if (block) out.append(inner, ' ');
      value(member, inner);
    }
  }

  void items(const Json& json, std::size_t indent) {
    bool first = true;
    for (const Json& item : json.as_array()) {
      if (!first) out.append(indent, ' ');
      first = false;
      out += "- ";
      value(item, indent + 2);
    }
  }
};

}  // namespace

std::string to_yaml(const Json& document) {
  Writer writer;
  writer.value(document, 0);
  return std::move(writer.out);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
