// SPDX-License-Identifier: Apache-2.0
// YAML request bodies as documents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The first document of `text`, with scalars typed as YAML 1.1 does and Go's decoder reads it. Throws
/// DecodeError with the line.
Json parse_yaml(std::string_view text);
/// The same, but also a text that the first document does not take in is a DecodeError.
Json parse_yaml_whole(std::string_view text);

/// Keys that a mapping of the text has twice: `line 4: key "k" already set in map`. Empty if it is no YAML.
std::vector<std::string> yaml_duplicates(std::string_view text);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
