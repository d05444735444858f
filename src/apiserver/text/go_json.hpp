// SPDX-License-Identifier: Apache-2.0
// JSON text as Go's encoding/json reads and writes it.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Parses like Json::parse(), but an escape of a surrogate without its other half is U+FFFD, and a byte order
/// mark is an error. Throws DecodeError.
Json parse_go_json(std::string_view text);

/// Returns true if the text has escapes of surrogates, which Go's YAML decoder rejects, also in pairs.
bool escapes_surrogates(std::string_view text) noexcept;

/// Returns compact text in which <, >, &, U+2028 and U+2029 are escaped, and no other character above U+001F.
std::string go_json(const Json& value);

/// Parses a document, with the text of every number, string and boolean as a string in its place. Throws
/// DecodeError.
Json parse_tokens(std::string_view text);
/// Returns the document whose tokens these are.
Json from_tokens(const Json& tokens);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
