// SPDX-License-Identifier: Apache-2.0
// Parses and formats durations and timestamps like Go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/schema/cel.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

inline constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;

/// A point in time of the years 1 to 9999.
struct Instant {
  std::int64_t seconds = 0;      ///< Since 1970.
  std::int32_t nanoseconds = 0;  ///< 0 to 999,999,999.
  std::int32_t offset = 0;       ///< Seconds from UTC, for its text.
};

/// Returns the value of a field with format duration as nanoseconds: "1h30m", and "2 days", "1w".
/// Source: kube-openapi pkg/validation/strfmt/duration.go ParseDuration.
std::optional<std::int64_t> parse_field_duration(std::string_view text);
/// Formats "5400s", "0.5s".
std::string duration_text(std::int64_t nanoseconds);

/// Parses RFC 3339, or a date only; std::nullopt if it is neither.
std::optional<Instant> parse_instant(std::string_view text);
/// Parses what Go's time.RFC3339 takes: no lower case, no offset without a colon, no leap second.
std::optional<Instant> parse_rfc3339(std::string_view text);
/// Formats "2025-01-02T03:04:05Z" or "2025-01-02T03:04:05+01:00", with a fraction if there is one.
std::string instant_text(Instant time);
/// Same as parse_instant and instant_text, in nanoseconds since 1970; std::nullopt if they do not fit.
std::optional<std::int64_t> parse_timestamp(std::string_view text);
std::string timestamp_text(std::int64_t nanoseconds);

CelValue cel_time(Instant time);
Instant instant_of(const CelValue& timestamp);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
