// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/yaml_document.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <yaml-cpp/yaml.h>

#include "apiserver/text/block_yaml.hpp"
#include "base/utf8.hpp"
#include "client/config/yaml_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Visits at most `left` values.
void collect_duplicates(const YAML::Node& node, int depth, std::size_t& left, std::vector<std::string>& out) {
  if (depth > detail::max_yaml_depth || left == 0) return;
  --left;
  if (node.IsSequence())
    for (const auto& item : node) collect_duplicates(item, depth + 1, left, out);
  if (!node.IsMap()) return;
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string key = detail::yaml_key(entry.first).dump();
    if (!seen.insert(key).second)
      out.push_back("line " + std::to_string(entry.first.Mark().line + 1) + ": key " + key +
                    " already set in map");
    collect_duplicates(entry.second, depth + 1, left, out);
  }
}

bool is_utf16(std::string_view text) {
  return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
}

/// Returns true for characters that YAML 1.1 forbids. Source: gopkg.in/yaml.v2 readerc.go.
bool is_forbidden(char32_t code) {
  if (code < 0x20) return code != '\t' && code != '\n' && code != '\r';
  return (code >= 0x7f && code < 0xa0 && code != 0x85) || code == 0xfffe || code == 0xffff;
}

/// Returns the text for yaml-cpp, which takes fewer line ends, and all characters.
std::string prepared(std::string_view text) {
  if (is_utf16(text)) return std::string(text);
  v0::detail::require_utf8(text);
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view character = text.substr(0, v0::detail::utf8_length(text));
    if (is_forbidden(v0::detail::utf8_code(character)))
      throw DecodeError("yaml", "control characters are not allowed");
    text.remove_prefix(character.size());
    const bool ends_line = character == "\xc2\x85" || (character == "\r" && !text.starts_with('\n'));
    if (ends_line)
      out += '\n';
    else
      out += character;
  }
  return out;
}

template <class Load>
Json parse(std::string_view text, Load load) {
  try {
    return with_whole_numbers(
        detail::yaml_to_json(load(prepared(text)), detail::yaml_allowance(text.size())));
  } catch (const YAML::Exception& error) {
    throw DecodeError("yaml", "line " + std::to_string(error.mark.line + 1) + ": " + error.msg);
  }
}

}  // namespace

Json with_whole_numbers(Json value) {
  if (value.is_number() && !value.is_integer()) {
    const double number = value.as_number();
    constexpr double limit = 9223372036854775808.0;  // 2^63
    if (number == std::trunc(number) && number >= -limit && number < limit)
      return Json(static_cast<std::int64_t>(number));
  }
  if (value.is_array())
    for (Json& item : value.as_array()) item = with_whole_numbers(std::move(item));
  if (value.is_object())
    for (auto& [name, member] : value.as_object()) member = with_whole_numbers(std::move(member));
  return value;
}

Json parse_yaml(std::string_view text) {
  if (std::optional<BlockYaml> block = parse_block_yaml(text))
    return with_whole_numbers(std::move(block->document));
  return parse(text, [](const std::string& whole) { return YAML::Load(whole); });
}

Json parse_yaml_whole(std::string_view text) {
  if (std::optional<BlockYaml> block = parse_block_yaml(text))
    return with_whole_numbers(std::move(block->document));
  return parse(text, [](const std::string& whole) { return v0::detail::load_yaml(whole); });
}

std::vector<std::string> yaml_duplicates(std::string_view text) {
  std::vector<std::string> out;
  if (const std::optional<BlockYaml> block = parse_block_yaml(text); block && !block->duplicates) return out;
  try {
    std::size_t left = detail::yaml_allowance(text.size());
    collect_duplicates(YAML::Load(prepared(text)), 0, left, out);
  } catch (const YAML::Exception&) {
    out.clear();
  } catch (const DecodeError&) {
    out.clear();
  }
  return out;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
