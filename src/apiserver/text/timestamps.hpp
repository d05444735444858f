// SPDX-License-Identifier: Apache-2.0
// Timestamps of documents, with a resolution of one second as in metadata, and durations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns "2026-01-02T03:04:05Z"; fractions are dropped.
std::string timestamp(WallTime time);

/// Types of times in documents: metav1.Time, and metav1.MicroTime with exactly six digits of a second.
enum class TimeForm : std::uint8_t { seconds, microseconds };

/// Returns the text that Go writes after it has read a time in RFC 3339: in UTC, without other fractions;
/// empty for Go's zero time, the first moment of the year 1, which is written as null. Returns nullopt if
/// `text` is not a time. Source: time.Parse.
std::optional<std::string> time_text(std::string_view text, TimeForm form);

/// Returns the error of Go's time.ParseDuration for a text ("90s", "1h30m"); empty if it is valid.
std::string duration_problem(const std::string& text);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
