// SPDX-License-Identifier: Apache-2.0
// Helpers for the records in the store: compact JSON with human-readable times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

/// Parses a JSON object. Throws DecodeError, which names `where`, if `text` is anything else.
Json parse_record(std::string_view text, std::string_view where);
/// Returns the member `name`, a whole number >= 0. Throws DecodeError otherwise.
std::uint64_t whole_number(const Json& record, std::string_view name, std::string_view where);
/// Parses an RFC 3339 time with a precision of one second. Returns the epoch if there is none, since times
/// are informational.
WallTime time_of(const Json& record, std::string_view name);
Json text_of_time(WallTime time);
/// Formats a duration in whole seconds, or in milliseconds below one second: "12s", "3m20s", "0s".
std::string seconds_text(Duration length);

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
