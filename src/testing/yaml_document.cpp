// SPDX-License-Identifier: Apache-2.0
#include "testing/yaml_document.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <yaml-cpp/yaml.h>

namespace evenkeel::inline v0::testing {
namespace {

constexpr int max_depth = 512;

/// YAML 1.1, as Go's decoder reads it: y and off are booleans, too.
std::optional<bool> boolean(const std::string& text) {
  for (const char* word : {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
    if (text == word) return true;
  for (const char* word : {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
    if (text == word) return false;
  return std::nullopt;
}

/// Decimal, 0x, 0o, 0b, or octal with a leading zero; underscores between digits are skipped.
std::optional<std::int64_t> integer(std::string text) {
  std::erase(text, '_');
  const bool negative = text.starts_with('-');
  std::string_view digits = text;
  if (negative || text.starts_with('+')) digits.remove_prefix(1);
  int base = 10;
  if (digits.size() > 1 && digits.front() == '0') {
    const char letter = digits[1];
    base = letter == 'x' || letter == 'X' ? 16 : letter == 'b' || letter == 'B' ? 2 : 8;
    digits.remove_prefix(base != 8 || letter == 'o' || letter == 'O' ? 2 : 1);
  }
  std::int64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || digits.front() == '-' || read.ec != std::errc() || read.ptr != end)
    return std::nullopt;
  return negative ? -value : value;
}

Json scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return Json(text);  // quoted
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return Json();
  if (const auto truth = boolean(text)) return Json(*truth);
  if (const auto whole = integer(text)) return Json(*whole);
  double number = 0;
  const char* begin = text.data() + (text.front() == '+' ? 1 : 0);
  const char* end = text.data() + text.size();
  const bool numeric = text.find_first_not_of("+-.0123456789eE") == std::string::npos;
  if (const auto read = std::from_chars(begin, end, number);
      numeric && read.ec == std::errc() && read.ptr == end)
    return Json(number);
  return Json(text);
}

void collect_duplicates(const YAML::Node& node, int depth, std::vector<std::string>& out) {
  if (depth > max_depth) return;
  if (node.IsSequence())
    for (const auto& item : node) collect_duplicates(item, depth + 1, out);
  if (!node.IsMap()) return;
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string& key = entry.first.Scalar();
    if (!seen.insert(key).second)
      out.push_back("line " + std::to_string(entry.first.Mark().line + 1) + ": key " + Json(key).dump() +
                    " already set in map");
    collect_duplicates(entry.second, depth + 1, out);
  }
}

Json convert(const YAML::Node& node, int depth) {
  if (depth > max_depth) throw DecodeError("YAML", "nested deeper than 512 levels");
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return scalar(node);
    case YAML::NodeType::Sequence: {
      Json out = Json::array();
      for (const auto& item : node) out.push_back(convert(item, depth + 1));
      return out;
    }
    case YAML::NodeType::Map: {
      Json out = Json::object();
      for (const auto& entry : node) out[entry.first.Scalar()] = convert(entry.second, depth + 1);
      return out;
    }
    default:
      return Json();
  }
}

}  // namespace

Json parse_yaml(std::string_view text) {
  try {
    return convert(YAML::Load(std::string(text)), 0);
  } catch (const YAML::Exception& error) {
    throw DecodeError("yaml", "line " + std::to_string(error.mark.line + 1) + ": " + error.msg);
  }
}

std::vector<std::string> yaml_duplicates(std::string_view text) {
  std::vector<std::string> out;
  try {
    collect_duplicates(YAML::Load(std::string(text)), 0, out);
  } catch (const YAML::Exception&) {
    out.clear();
  }
  return out;
}

}  // namespace evenkeel::inline v0::testing
