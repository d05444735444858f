// SPDX-License-Identifier: Apache-2.0
// Loading of a single YAML document from text. Shared with floors above.
#pragma once

#include <string>

#include <yaml-cpp/yaml.h>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the document in `text`, null if there is none. Throws YAML::ParserException for invalid YAML, for
/// text that the parser would leave unread ("," or "[a] b"), and for a second non-empty document: `a second
/// document; expected one`.
///
/// YAML::LoadAll cannot be used: yaml-cpp 0.7 never gets past a comma at the beginning of a document.
EVENKEEL_API YAML::Node load_yaml(const std::string& text);

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
