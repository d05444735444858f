// SPDX-License-Identifier: Apache-2.0
// One YAML document from a text.
#pragma once

#include <string>

#include <yaml-cpp/yaml.h>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the document in `text`, null if there is none. Throws YAML::ParserException for what is not YAML,
/// for text that the parser would leave unread ("," or "[a] b"), and for a second document that holds
/// anything: `a second document; expected one`.
/// YAML::LoadAll is no way to do that: yaml-cpp 0.7 never gets past a comma at the begin of a document.
EVENKEEL_API YAML::Node load_yaml(const std::string& text);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
