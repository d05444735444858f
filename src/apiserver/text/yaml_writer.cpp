// SPDX-License-Identifier: Apache-2.0
// Source: gopkg.in/yaml.v2 encode.go, sorter.go, and emitterc.go for what may stand without quotes.
#include "apiserver/text/yaml_writer.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "apiserver/text/yaml_scalar.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return (code < 0x20 && c != '\n') || code == 0x7f;
  });
}

/// Whether the text can stand without quotes in a block.
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

std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      static constexpr char hex[] = "0123456789ABCDEF";
      const auto code = static_cast<unsigned char>(c);
      ((out += "\\x") += hex[code >> 4]) += hex[code & 15];
    } else
      out += c;
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
  if (has_control(text) || text.find('\n') != std::string::npos || needs_quotes(text))
    return double_quoted(text);
  return may_be_plain(text) ? text : single_quoted(text);
}

/// Whether lines can be written as they are: not if blanks stand at their ends.
bool may_be_literal(std::string_view text) {
  return !has_control(text) && text.find(" \n") == std::string_view::npos && !text.ends_with(' ') &&
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

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
