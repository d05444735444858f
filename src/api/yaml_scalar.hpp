// SPDX-License-Identifier: Apache-2.0
// Unquoted YAML scalars: YAML 1.1 as Go's decoder reads it. Shared with floors above.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns null, a boolean, a number, or the text itself: y and off are booleans, 0x10 and 010 are integers.
EVENKEEL_API Json plain_scalar(const std::string& text);

/// Returns ".inf", "-.inf" or ".nan" for a text that Go's decoder reads as such a number, which JSON does not
/// have; empty for others.
EVENKEEL_API std::string_view non_finite(std::string_view text);

/// Returns the name of a member whose key has this value, a text, number or boolean: "true" for y, "8" for
/// 010. Source: sigs.k8s.io/yaml yaml.go convertToJSONableObject.
EVENKEEL_API std::string key_text(const Json& key);

/// Returns true if the text needs quotes to be read as a string by every YAML 1.1 reader: also times and
/// numbers of base 60 (1:30), which plain_scalar reads as strings.
bool needs_quotes(const std::string& text);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
