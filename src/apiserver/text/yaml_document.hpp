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

/// Returns the first document of `text`, with scalars typed as in YAML 1.1 and by Go's decoder. Throws
/// DecodeError with the line.
Json parse_yaml(std::string_view text);
/// Returns `value` with integers in place of the numbers that are whole, such as 3.0: Go reads YAML by way of
/// JSON.
Json with_whole_numbers(Json value);
/// Like parse_yaml(), but also throws DecodeError for text after the first document.
Json parse_yaml_whole(std::string_view text);

/// Returns errors for duplicate keys of mappings: `line 4: key "k" already set in map`. Empty if `text` is
/// not YAML.
std::vector<std::string> yaml_duplicates(std::string_view text);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
