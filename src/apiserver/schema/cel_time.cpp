// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/cel_time.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <evenkeel/base/duration_text.hpp>

#include "apiserver/text/formats.hpp"
#include "apiserver/text/regular_expression.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

constexpr std::int64_t second = nanoseconds_per_second;

/// Parses digits of `text` from `at`; the caller has checked that they are digits.
int number(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  for (const char digit : text.substr(at, count)) value = value * 10 + (digit - '0');
  return value;
}

/// Parses a fraction of a second: ".25" gives 250000000.
std::int64_t fraction(std::string_view digits) {
  std::int64_t value = 0;
  std::int64_t unit = second;
  for (const char digit : digits) {
    unit /= 10;
    value += unit * (digit - '0');
  }
  return value;
}

std::string without_trailing_zeros(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return "";
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), ".%09lld", static_cast<long long>(nanoseconds));
  std::string result = text.data();
  result.erase(result.find_last_not_of('0') + 1);
  return result;
}

constexpr std::int64_t seconds_of_day = 86'400;

/// Returns the nanoseconds of a unit: "d", "days", "Week"; 0 if there is none of this name.
std::int64_t unit_named(std::string_view name) {
  struct Unit {
    std::string_view brief, brief_too, start;
    std::int64_t nanoseconds;
  };
  static constexpr Unit units[] = {{"ns", "", "nano", 1},
                                   {"us", "µs", "micro", 1'000},
                                   {"ms", "", "milli", 1'000'000},
                                   {"s", "", "sec", second},
                                   {"m", "", "min", 60 * second},
                                   {"h", "hr", "hour", 3600 * second},
                                   {"d", "", "day", seconds_of_day * second},
                                   {"w", "wk", "week", 7 * seconds_of_day * second}};
  std::string lower(name);
  for (char& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  for (const Unit& unit : units)
    if (lower == unit.brief || lower == unit.brief_too || lower.starts_with(unit.start))
      return unit.nanoseconds;
  return 0;
}

/// Formats "Z", "+01:00".
std::string offset_text(std::int32_t seconds) {
  if (seconds == 0) return "Z";
  const int minutes = std::abs(seconds) / 60;
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%c%02d:%02d", seconds < 0 ? '-' : '+', minutes / 60, minutes % 60);
  return text.data();
}

}  // namespace

std::optional<std::int64_t> parse_field_duration(std::string_view text) {
  if (const auto span = parse_duration(text)) return span->count();
  static const RegularExpression terms("[0-9]+\\s*[A-Za-zµ]+");
  std::optional<std::int64_t> total;
  bool overflows = false;
  terms.each_match(text, [&](const RegularExpression::Match& match) {
    const std::string_view term = text.substr(match.place, match.size);
    const std::size_t digits = term.find_first_not_of("0123456789");
    std::int64_t count = 0;
    overflows |= std::from_chars(term.data(), term.data() + digits, count).ec != std::errc();
    const std::int64_t unit = unit_named(term.substr(term.find_first_not_of(" \t\r\n\f\v", digits)));
    if (unit == 0) return true;
    overflows |= __builtin_mul_overflow(count, unit, &count) ||
                 __builtin_add_overflow(total.value_or(0), count, &count);
    total = count;
    return true;
  });
  return overflows ? std::nullopt : total;
}

std::string duration_text(std::int64_t nanoseconds) {
  const bool negative = nanoseconds < 0;
  const std::uint64_t size =
      negative ? 0 - static_cast<std::uint64_t>(nanoseconds) : static_cast<std::uint64_t>(nanoseconds);
  return (negative ? "-" : "") + std::to_string(size / static_cast<std::uint64_t>(second)) +
         without_trailing_zeros(static_cast<std::int64_t>(size % static_cast<std::uint64_t>(second))) + "s";
}

std::optional<Instant> parse_instant(std::string_view text) {
  const bool date_only = has_format(text, "date");
  if (!date_only && !has_format(text, "date-time")) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(number(text, 0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(text, 5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(text, 8, 2)))};
  Instant result{.seconds = std::chrono::sys_days(date).time_since_epoch().count() * seconds_of_day};
  if (date_only) return result;
  result.seconds += number(text, 11, 2) * 3600LL + number(text, 14, 2) * 60LL + number(text, 17, 2);
  std::size_t at = 19;
  if (text[at] == '.') {
    const std::size_t end = text.find_first_not_of("0123456789", at + 1);
    result.nanoseconds = static_cast<std::int32_t>(fraction(text.substr(at + 1, end - at - 1).substr(0, 9)));
    at = end;
  }
  if (text[at] == '+' || text[at] == '-') {
    const std::size_t minutes = text[at + 3] == ':' ? at + 4 : at + 3;
    const int offset = number(text, at + 1, 2) * 3600 + number(text, minutes, 2) * 60;
    result.offset = text[at] == '+' ? offset : -offset;
    result.seconds -= result.offset;
  }
  return result;
}

std::optional<Instant> parse_rfc3339(std::string_view text) {
  const bool strict = text.size() > 19 && text[10] == 'T' && text[17] != '6' &&
                      (text.back() == 'Z' || text[text.size() - 3] == ':');
  return strict ? parse_instant(text) : std::nullopt;
}

std::string instant_text(Instant time) {
  const std::chrono::sys_seconds point{std::chrono::seconds(time.seconds + time.offset)};
  const auto midnight = std::chrono::floor<std::chrono::days>(point);
  const std::chrono::year_month_day date(midnight);
  const auto seconds = static_cast<int>((point - midnight).count());
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), seconds / 3600,
                seconds / 60 % 60, seconds % 60);
  return text.data() + without_trailing_zeros(time.nanoseconds) + offset_text(time.offset);
}

std::optional<std::int64_t> parse_timestamp(std::string_view text) {
  const auto time = parse_instant(text);
  std::int64_t result = 0;
  if (!time || __builtin_mul_overflow(time->seconds, second, &result) ||
      __builtin_add_overflow(result, time->nanoseconds, &result))
    return std::nullopt;
  return result;
}

std::string timestamp_text(std::int64_t nanoseconds) {
  const std::int64_t rest = (nanoseconds % second + second) % second;
  return instant_text(
      {.seconds = (nanoseconds - rest) / second, .nanoseconds = static_cast<std::int32_t>(rest)});
}

CelValue cel_time(Instant time) {
  return {.type = CelValue::Type::timestamp,
          .number = time.seconds,
          .nanoseconds = time.nanoseconds,
          .offset = time.offset};
}
Instant instant_of(const CelValue& timestamp) {
  return {timestamp.number, timestamp.nanoseconds, timestamp.offset};
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
