// SPDX-License-Identifier: Apache-2.0
// Writing JSON text piece by piece.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {

/// The nesting that documents may have, here and in what is decoded from them.
inline constexpr int max_json_depth = 512;

/// Appends `text` in quotes, with what JSON wants escaped. Bytes that are not UTF-8 become U+FFFD, so that
/// whatever comes in, what goes out is one line of well-formed UTF-8. Exported for the log.
EVENKEEL_API void append_json_string(std::string& out, std::string_view text);
/// Appends the shortest text that reads back as the same number; null for what is not finite.
void append_json_number(std::string& out, double value);
void append_json_integer(std::string& out, std::int64_t value);

}  // namespace v0
}  // namespace evenkeel
