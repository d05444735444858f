// SPDX-License-Identifier: Apache-2.0
// Incremental writing of JSON text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {

/// Maximum nesting of documents, here and in the decoder.
inline constexpr int max_json_depth = 512;

/// Appends `text` as a quoted JSON string, with escapes for everything that people must not see as it is
/// (base/shown_text.hpp). Bytes that are not UTF-8 become U+FFFD, so that the output is always one line of
/// well-formed UTF-8. Exported for the log.
EVENKEEL_API void append_json_string(std::string& out, std::string_view text);
/// Appends the shortest digits that parse to the same number, in the form of Go and JavaScript: with an
/// exponent below 1e-6 and from 1e21. Null if the number is not finite.
void append_json_number(std::string& out, double value);
void append_json_integer(std::string& out, std::int64_t value);

}  // namespace v0
}  // namespace evenkeel
