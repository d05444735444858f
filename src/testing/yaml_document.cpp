// SPDX-License-Identifier: Apache-2.0
#include "testing/yaml_document.hpp"

#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

#include <yaml-cpp/yaml.h>

namespace evenkeel::inline v0::testing {
namespace {

constexpr int max_depth = 512;

Json scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return Json(text);  // quoted
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return Json();
  if (text == "true" || text == "True" || text == "TRUE") return Json(true);
  if (text == "false" || text == "False" || text == "FALSE") return Json(false);
  const char* end = text.data() + text.size();
  const char* begin = text.data() + (text.front() == '+' ? 1 : 0);
  std::int64_t integer = 0;
  if (const auto read = std::from_chars(begin, end, integer); read.ec == std::errc() && read.ptr == end)
    return Json(integer);
  double number = 0;
  const bool numeric = text.find_first_not_of("+-.0123456789eE") == std::string::npos;
  if (const auto read = std::from_chars(begin, end, number);
      numeric && read.ec == std::errc() && read.ptr == end)
    return Json(number);
  return Json(text);
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

}  // namespace evenkeel::inline v0::testing
