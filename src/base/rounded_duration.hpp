// SPDX-License-Identifier: Apache-2.0
// Durations for people, in log lines, errors and explanations.
#pragma once

#include <chrono>
#include <string>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Formats a duration: microseconds below 1 ms, milliseconds below 1 min, whole seconds from there on.
/// "250us", "5ms", "1.28s", "12m3s", "10m", "0s".
inline std::string format_rounded(Duration duration) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  if (duration < Duration::zero()) return "-" + format_rounded(-duration);
  std::string text;
  if (duration == Duration::zero()) return "0s";
  if (duration < milliseconds{1}) {
    append_decimal(text, duration.count(), 1'000, "us");
  } else if (duration < seconds{1}) {
    append_decimal(text, std::chrono::floor<milliseconds>(duration).count(), 1, "ms");
  } else if (duration < seconds{60}) {
    append_decimal(text, std::chrono::floor<milliseconds>(duration).count(), 1'000, "s");
  } else {
    text = format_duration(std::chrono::floor<seconds>(duration));
    if (text.ends_with("m0s")) text.erase(text.size() - 2);
    if (text.ends_with("h0m")) text.erase(text.size() - 2);
  }
  return text;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
