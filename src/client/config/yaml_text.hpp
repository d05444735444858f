// SPDX-License-Identifier: Apache-2.0
// Loading of a single YAML document from text, and its conversion to JSON. Shared with floors above.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <yaml-cpp/yaml.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Throws YAML::ParserException at the first line that is not UTF-8: yaml-cpp would keep its bytes.
EVENKEEL_API void require_utf8(std::string_view text);

/// Returns the document in `text`, null if there is none. Throws YAML::ParserException for text that is not
/// UTF-8, for invalid YAML, for text that the parser would leave unread ("," or "[a] b"), and for a second
/// non-empty document: `a second document; expected one`.
///
/// YAML::LoadAll cannot be used: yaml-cpp 0.7 never gets past a comma at the beginning of a document.
EVENKEEL_API YAML::Node load_yaml(const std::string& text);

constexpr int max_yaml_depth = 512;

/// Returns the maximum number of values of a document of this size, with aliases expanded: they can multiply
/// values.
constexpr std::size_t yaml_allowance(std::size_t text_size) {
  return 10'000 + 2 * text_size;
}

/// Converts a document of at most `allowance` values. Throws DecodeError if it has more, or is nested deeper
/// than max_yaml_depth.
EVENKEEL_API Json yaml_to_json(const YAML::Node& document, std::size_t allowance);

/// Returns "text", "a list", "a map" or "nothing".
inline const char* kind_of(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return "text";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a map";
    default:
      return "nothing";
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
