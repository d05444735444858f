// SPDX-License-Identifier: Apache-2.0
// Names of YAML node types for errors.
#pragma once

#include <yaml-cpp/yaml.h>

namespace evenkeel {
inline namespace v0 {
namespace detail {

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
