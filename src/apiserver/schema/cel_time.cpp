// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/cel_time.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "apiserver/text/formats.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

using Days = std::chrono::sys_days;
using Nanoseconds = std::chrono::nanoseconds;
constexpr std::int64_t second = 1'000'000'000;

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

struct Moment {
  std::chrono::year_month_day date;
  Days day;
  std::int64_t rest;  // nanoseconds of the day
};

Moment moment_of(std::int64_t nanoseconds) {
  const std::chrono::sys_time<Nanoseconds> point{Nanoseconds(nanoseconds)};
  const Days day = std::chrono::floor<std::chrono::days>(point);
  return {std::chrono::year_month_day(day), day, (point - day).count()};
}

}  // namespace

std::optional<std::int64_t> parse_duration(std::string_view text) {
  static constexpr std::pair<std::string_view, double> units[] = {
      {"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"μs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 6e10}, {"h", 3.6e12}};
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    const std::size_t digits = text.find_first_not_of("0123456789.");
    if (digits == 0 || digits == std::string_view::npos) return std::nullopt;
    const double amount = std::strtod(std::string(text.substr(0, digits)).c_str(), nullptr);
    text.remove_prefix(digits);
    const std::pair<std::string_view, double>* found = nullptr;
    for (const auto& unit : units) {
      const bool longer = found == nullptr || unit.first.size() > found->first.size();
      if (text.starts_with(unit.first) && longer) found = &unit;
    }
    if (found == nullptr) return std::nullopt;
    text.remove_prefix(found->first.size());
    total += amount * found->second;
  }
  if (total > 9.2e18) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(negative ? -total : total));
}

std::string duration_text(std::int64_t nanoseconds) {
  const bool negative = nanoseconds < 0;
  const std::uint64_t size =
      negative ? 0 - static_cast<std::uint64_t>(nanoseconds) : static_cast<std::uint64_t>(nanoseconds);
  return (negative ? "-" : "") + std::to_string(size / static_cast<std::uint64_t>(second)) +
         without_trailing_zeros(static_cast<std::int64_t>(size % static_cast<std::uint64_t>(second))) + "s";
}

std::optional<std::int64_t> parse_timestamp(std::string_view text) {
  const bool date_only = has_format(text, "date");
  if (!date_only && !has_format(text, "date-time")) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(number(text, 0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(text, 5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(text, 8, 2)))};
  const std::int64_t days = Days(date).time_since_epoch().count();
  if (days > 106000 || days < -106000) return std::nullopt;  // years 1679 to 2260: the range of nanoseconds
  std::int64_t result = days * 86400 * second;
  if (date_only) return result;
  result += (number(text, 11, 2) * 3600LL + number(text, 14, 2) * 60LL + number(text, 17, 2)) * second;
  std::size_t at = 19;
  if (text[at] == '.') {
    const std::size_t end = text.find_first_not_of("0123456789", at + 1);
    result += fraction(text.substr(at + 1, end - at - 1).substr(0, 9));
    at = end;
  }
  if (text[at] == '+' || text[at] == '-') {
    const std::size_t minutes = text[at + 3] == ':' ? at + 4 : at + 3;
    const std::int64_t offset = (number(text, at + 1, 2) * 3600LL + number(text, minutes, 2) * 60LL) * second;
    result -= text[at] == '+' ? offset : -offset;
  }
  return result;
}

std::string timestamp_text(std::int64_t nanoseconds) {
  const Moment moment = moment_of(nanoseconds);
  const std::int64_t seconds = moment.rest / second;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d",
                static_cast<int>(moment.date.year()), static_cast<unsigned>(moment.date.month()),
                static_cast<unsigned>(moment.date.day()), static_cast<int>(seconds / 3600),
                static_cast<int>(seconds / 60 % 60), static_cast<int>(seconds % 60));
  return text.data() + without_trailing_zeros(moment.rest % second) + "Z";
}

std::optional<std::int64_t> timestamp_part(std::int64_t nanoseconds, std::string_view part) {
  const Moment moment = moment_of(nanoseconds);
  const std::int64_t seconds = moment.rest / second;
  if (part == "getFullYear") return static_cast<int>(moment.date.year());
  if (part == "getMonth") return static_cast<unsigned>(moment.date.month()) - 1;
  if (part == "getDate") return static_cast<unsigned>(moment.date.day());
  if (part == "getDayOfMonth") return static_cast<unsigned>(moment.date.day()) - 1;
  if (part == "getDayOfWeek") return std::chrono::weekday(moment.day).c_encoding();
  if (part == "getDayOfYear") {
    const std::chrono::year_month_day first{moment.date.year(), std::chrono::month(1), std::chrono::day(1)};
    return (moment.day - Days(first)).count();
  }
  if (part == "getHours") return seconds / 3600;
  if (part == "getMinutes") return seconds / 60 % 60;
  if (part == "getSeconds") return seconds % 60;
  if (part == "getMilliseconds") return moment.rest % second / 1'000'000;
  return std::nullopt;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
