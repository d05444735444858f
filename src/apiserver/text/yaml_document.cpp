// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/yaml_document.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include <yaml-cpp/yaml.h>

#include "api/yaml_scalar.hpp"
#include "client/yaml_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

constexpr int max_yaml_depth = 512;
constexpr std::size_t smallest_allowance = 10'000;

Json scalar(const YAML::Node& node) {
  return node.Tag() == "!" ? Json(node.Scalar()) : detail::plain_scalar(node.Scalar());  // "!": quoted
}

/// Returns the maximum number of values for a text of this size, with aliases expanded: they can multiply
/// values.
std::size_t allowance(std::size_t text_size) {
  return smallest_allowance + 2 * text_size;
}

/// Visits at most `left` values.
void collect_duplicates(const YAML::Node& node, int depth, std::size_t& left, std::vector<std::string>& out) {
  if (depth > max_yaml_depth || left == 0) return;
  --left;
  if (node.IsSequence())
    for (const auto& item : node) collect_duplicates(item, depth + 1, left, out);
  if (!node.IsMap()) return;
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string& key = entry.first.Scalar();
    if (!seen.insert(key).second)
      out.push_back("line " + std::to_string(entry.first.Mark().line + 1) + ": key " + Json(key).dump() +
                    " already set in map");
    collect_duplicates(entry.second, depth + 1, left, out);
  }
}

/// Converts a document to JSON.
class Converter {
 public:
  explicit Converter(std::size_t text_size) : left_(allowance(text_size)) {}

  Json convert(const YAML::Node& node, int depth) {
    if (depth > max_yaml_depth) throw DecodeError("YAML", "nested deeper than 512 levels");
    if (left_-- == 0) throw DecodeError("yaml", "document contains excessive aliasing");
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

 private:
  std::size_t left_;  ///< Remaining number of values.
};

}  // namespace

namespace {

template <class Load>
Json parse(std::string_view text, Load load) {
  try {
    return Converter(text.size()).convert(load(std::string(text)), 0);
  } catch (const YAML::Exception& error) {
    throw DecodeError("yaml", "line " + std::to_string(error.mark.line + 1) + ": " + error.msg);
  }
}

}  // namespace

Json parse_yaml(std::string_view text) {
  return parse(text, [](const std::string& whole) { return YAML::Load(whole); });
}

Json parse_yaml_whole(std::string_view text) {
  return parse(text, [](const std::string& whole) { return v0::detail::load_yaml(whole); });
}

std::vector<std::string> yaml_duplicates(std::string_view text) {
  std::vector<std::string> out;
  try {
    std::size_t left = allowance(text.size());
    collect_duplicates(YAML::Load(std::string(text)), 0, left, out);
  } catch (const YAML::Exception&) {
    out.clear();
  }
  return out;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
