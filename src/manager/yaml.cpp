// SPDX-License-Identifier: Apache-2.0
#include "manager/yaml.hpp"

#include <array>
#include <cctype>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

// Words of letters, digits and a few marks that start with a letter and have no other meaning in YAML 1.1 or
// 1.2.
bool plain(std::string_view text) {
  static constexpr std::array<std::string_view, 9> taken = {"true", "false", "yes", "no", "on",
                                                            "off",  "null",  "y",   "n"};
  if (text.empty() || !is_letter(text.front())) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool word = is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
    const bool inner_space = c == ' ' && i + 1 < text.size() && text[i + 1] != '#';
    if (!word && !inner_space && std::string_view("-_./(),'").find(c) == std::string_view::npos) return false;
  }
  if (text.back() == ' ') return false;
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view word : taken) {
    if (lower == word) return false;
  }
  return true;
}

// A JSON string is a double-quoted YAML string.
std::string scalar(const Json& value) {
  return value.is_string() && plain(value.as_string()) ? value.as_string() : value.dump();
}

bool is_block(const Json& value) {
  return (value.is_object() || value.is_array()) && !value.empty();
}

void append_block(std::string& out, const Json& value, std::size_t indent);

void append_value(std::string& out, const Json& value, std::size_t indent) {
  if (is_block(value)) {
    out += '\n';
    append_block(out, value, indent);
  } else {
    out += ' ';
    out += scalar(value);
    out += '\n';
  }
}

// The first line of an item follows its dash.
void append_item(std::string& out, const Json& item, std::size_t indent) {
  out.append(indent, ' ');
  out += '-';
  if (!is_block(item)) {
    append_value(out, item, indent);
    return;
  }
  std::string block;
  append_block(block, item, indent + 2);
  out += ' ';
  out.append(block, indent + 2);
}

void append_block(std::string& out, const Json& value, std::size_t indent) {
  if (value.is_array()) {
    for (const Json& item : value.as_array()) append_item(out, item, indent);
    return;
  }
  for (const auto& [name, member] : value.as_object()) {
    out.append(indent, ' ');
    out += scalar(Json(name));
    out += ':';
    append_value(out, member, member.is_array() ? indent : indent + 2);
  }
}

}  // namespace

std::string to_yaml(const Json& document) {
  if (!is_block(document)) return scalar(document) + "\n";
  std::string out;
  append_block(out, document, 0);
  return out;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
