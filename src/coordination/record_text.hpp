// SPDX-License-Identifier: Apache-2.0
// What the records in the store have in common: compact JSON with times that people can read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

/// Throws DecodeError, which names `where`, unless `text` is a JSON object.
Json parse_record(std::string_view text, std::string_view where);
/// The member `name`, a whole number >= 0. Throws DecodeError otherwise.
std::uint64_t whole_number(const Json& record, std::string_view name, std::string_view where);
/// RFC 3339 to the second; the epoch where there is none, for times are for people only.
WallTime time_of(const Json& record, std::string_view name);
Json text_of_time(WallTime time);
/// "12s", "3m20s", "0s": to the second, from one second on.
std::string seconds_text(Duration length);

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
