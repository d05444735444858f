// SPDX-License-Identifier: Apache-2.0
// Loading of a single YAML document from text, and its conversion to JSON. Shared with floors above.
#pragma once

#include <cstddef>
#include <functional>
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

/// Calls `visit` with the members of a map, in an order in which the last one of a name counts. The members
/// of a map under a merge key "<<", and of the maps of a list there, are among them, and take of `allowance`.
/// Throws DecodeError for a merge of something else, and without allowance.
/// Source: gopkg.in/yaml.v2 decode.go, mapping and merge: a merge overrides the members before it.
EVENKEEL_API void each_yaml_member(
    const YAML::Node& map, std::size_t& allowance,
    const std::function<void(const YAML::Node& name, const YAML::Node& value)>& visit);

/// Returns the text of a scalar; decoded if it has the tag !!binary. Throws DecodeError if that is not
/// base64.
EVENKEEL_API std::string yaml_text(const YAML::Node& scalar);

/// Returns the value of a key: a text, a number or a boolean. Throws DecodeError for others.
EVENKEEL_API Json yaml_key(const YAML::Node& key);

/// Converts a document of at most `allowance` values: merge keys, tags and names given twice as Go's decoder
/// does. Throws DecodeError if it has more values, or is nested deeper than max_yaml_depth.
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
