// SPDX-License-Identifier: Apache-2.0
// Durations as text in Go's syntax, which flags, fields and the text form of limiters use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

namespace detail {

struct DurationUnit {
  std::string_view name;
  std::int64_t nanoseconds;
};
inline constexpr DurationUnit duration_units[] = {
    {"ns", 1},         {"us", 1'000},        {"\u00b5s", 1'000},    {"\u03bcs", 1'000},
    {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}};

/// Returns the number of digits that `text` begins with.
constexpr std::size_t leading_digits(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
  return count;
}

/// Returns 0.`digits` of a unit, truncated to nanoseconds. Works from the last digit to the first, so that no
/// number of digits can overflow.
constexpr std::int64_t decimals_of(std::string_view digits, std::int64_t unit) {
  std::int64_t part = 0;
  for (std::size_t at = digits.size(); at-- > 0;) part = (part + (digits[at] - '0') * unit) / 10;
  return part;
}

/// Adds `count` units to `total`, or returns false on overflow.
constexpr bool add_units(std::int64_t& total, std::string_view count, std::int64_t unit) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::int64_t whole = 0;
  for (const char digit : count) {
    const std::int64_t value = digit - '0';
    if (whole > (most - value) / 10) return false;
    whole = whole * 10 + value;
  }
  if (whole > most / unit || whole * unit > most - total) return false;
  total += whole * unit;
  return true;
}

/// Removes one number with its unit from the front of `text` and adds it to `total`, in nanoseconds.
constexpr bool take_duration_term(std::string_view& text, std::int64_t& total) {
  const std::string_view whole = text.substr(0, leading_digits(text));
  std::string_view rest = text.substr(whole.size());
  std::string_view decimals;
  if (rest.starts_with('.')) {
    decimals = rest.substr(1, leading_digits(rest.substr(1)));
    rest.remove_prefix(1 + decimals.size());
  }
  if (whole.empty() && decimals.empty()) return false;
  std::size_t end = 0;
  while (end < rest.size() && rest[end] != '.' && leading_digits(rest.substr(end, 1)) == 0) ++end;
  for (const DurationUnit& unit : duration_units) {
    if (unit.name != rest.substr(0, end)) continue;
    text = rest.substr(end);
    const std::int64_t part = decimals_of(decimals, unit.nanoseconds);
    if (!add_units(total, whole, unit.nanoseconds)) return false;
    if (part > std::numeric_limits<std::int64_t>::max() - total) return false;
    total += part;
    return true;
  }
  return false;
}

/// Appends `value` of a unit, with decimals if it is not a whole number.
inline void append_decimal(std::string& out, std::int64_t value, std::int64_t unit, std::string_view name) {
  out += std::to_string(value / unit);
  std::int64_t rest = value % unit;
  if (rest != 0) out += '.';
  while (rest != 0) {
    unit /= 10;
    out += static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
  out += name;
}

}  // namespace detail

/// Formats like Go's Duration.String: "1h30m0s", "1.5s", "300ms", "0s".
inline std::string format_duration(Duration duration) {
  std::int64_t left = duration.count();
  if (left == std::numeric_limits<std::int64_t>::min()) return "-2562047h47m16.854775808s";
  std::string out;
  if (left < 0) {
    out += '-';
    left = -left;
  }
  if (left == 0) return "0s";
  if (left < 1'000) {
    detail::append_decimal(out, left, 1, "ns");
  } else if (left < 1'000'000) {
    detail::append_decimal(out, left, 1'000, "\u00b5s");
  } else if (left < 1'000'000'000) {
    detail::append_decimal(out, left, 1'000'000, "ms");
  } else {
    constexpr std::int64_t minute = 60'000'000'000;
    if (left >= 60 * minute) detail::append_decimal(out, left / (60 * minute), 1, "h");
    if (left >= minute) detail::append_decimal(out, left / minute % 60, 1, "m");
    detail::append_decimal(out, left % minute, 1'000'000'000, "s");
  }
  return out;
}

/// Parses the syntax of Go's ParseDuration ("1h30m", "-1.5s", "0") exactly, truncated to nanoseconds. Returns
/// nullopt if `text` is not a duration or is out of range.
constexpr std::optional<Duration> parse_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return Duration::zero();
  if (text.empty()) return std::nullopt;
  std::int64_t total = 0;
  while (!text.empty()) {
    if (!detail::take_duration_term(text, total)) return std::nullopt;
  }
  return Duration(negative ? -total : total);
}

}  // namespace v0
}  // namespace evenkeel
