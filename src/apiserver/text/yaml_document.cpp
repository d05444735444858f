// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/yaml_document.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <yaml-cpp/yaml.h>

#include "apiserver/text/block_yaml.hpp"
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
    const std::string& key = entry.first.Scalar();
    if (!seen.insert(key).second)
      out.push_back("line " + std::to_string(entry.first.Mark().line + 1) + ": key " + Json(key).dump() +
                    " already set in map");
    collect_duplicates(entry.second, depth + 1, left, out);
  }
}

template <class Load>
Json parse(std::string_view text, Load load) {
  try {
    return detail::yaml_to_json(load(std::string(text)), detail::yaml_allowance(text.size()));
  } catch (const YAML::Exception& error) {
    throw DecodeError("yaml", "line " + std::to_string(error.mark.line + 1) + ": " + error.msg);
  }
}

}  // namespace

Json parse_yaml(std::string_view text) {
  if (std::optional<BlockYaml> block = parse_block_yaml(text)) return std::move(block->document);
  return parse(text, [](const std::string& whole) {
    v0::detail::require_utf8(whole);
    return YAML::Load(whole);
  });
}

Json parse_yaml_whole(std::string_view text) {
  if (std::optional<BlockYaml> block = parse_block_yaml(text)) return std::move(block->document);
  return parse(text, [](const std::string& whole) { return v0::detail::load_yaml(whole); });
}

std::vector<std::string> yaml_duplicates(std::string_view text) {
  std::vector<std::string> out;
  if (const std::optional<BlockYaml> block = parse_block_yaml(text); block && !block->duplicates) return out;
  try {
    std::size_t left = detail::yaml_allowance(text.size());
    collect_duplicates(YAML::Load(std::string(text)), 0, left, out);
  } catch (const YAML::Exception&) {
    out.clear();
  }
  return out;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
