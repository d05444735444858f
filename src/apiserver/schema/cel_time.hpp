// SPDX-License-Identifier: Apache-2.0
// Parses and formats durations and timestamps like Go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Parses "1h30m", "1.5s", "-20ms" as nanoseconds; std::nullopt if it is not a duration.
std::optional<std::int64_t> parse_duration(std::string_view text);
/// Formats "5400s", "0.5s".
std::string duration_text(std::int64_t nanoseconds);

/// Parses RFC 3339, or a date only, as nanoseconds since 1970; std::nullopt if it is neither.
std::optional<std::int64_t> parse_timestamp(std::string_view text);
/// Formats "2025-01-02T03:04:05Z", with a fraction if there is one.
std::string timestamp_text(std::int64_t nanoseconds);
/// Returns getFullYear, getMonth (from 0), getDate (from 1), getDayOfMonth (from 0), getDayOfWeek,
/// getDayOfYear, getHours, getMinutes, getSeconds, getMilliseconds, in UTC; std::nullopt for other names.
std::optional<std::int64_t> timestamp_part(std::int64_t nanoseconds, std::string_view part);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
