// SPDX-License-Identifier: Apache-2.0
// Durations and timestamps as texts, as Go writes and reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// "1h30m", "1.5s", "-20ms" in nanoseconds; empty if it is no duration.
std::optional<std::int64_t> parse_duration(std::string_view text);
/// "5400s", "0.5s".
std::string duration_text(std::int64_t nanoseconds);

/// RFC 3339, or a date alone, in nanoseconds since 1970; empty if it is neither.
std::optional<std::int64_t> parse_timestamp(std::string_view text);
/// "2025-01-02T03:04:05Z", with a fraction where there is one.
std::string timestamp_text(std::int64_t nanoseconds);
/// getFullYear, getMonth (from 0), getDate (from 1), getDayOfMonth (from 0), getDayOfWeek, getDayOfYear,
/// getHours, getMinutes, getSeconds, getMilliseconds, in UTC; empty for other names.
std::optional<std::int64_t> timestamp_part(std::int64_t nanoseconds, std::string_view part);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
