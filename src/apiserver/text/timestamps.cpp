// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/timestamps.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "apiserver/text/regular_expression.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

std::string utc_text(std::chrono::sys_seconds seconds) {
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(seconds - day);
  std::array<char, 40> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return buffer.data();
}

/// Removes the leading digits of `rest`, and returns them.
std::string_view take_digits(std::string_view& rest) {
  const std::string_view digits = rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size()));
  rest.remove_prefix(digits.size());
  return digits;
}

/// Parses digits; the caller has checked that they are few.
int number(std::string_view digits) {
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

/// Returns the offset of a zone, "Z" or "+02:00"; nullopt if it is out of range.
std::optional<std::chrono::minutes> offset_of(std::string_view zone) {
  if (zone == "Z") return std::chrono::minutes(0);
  const std::chrono::hours hours(number(zone.substr(1, 2)));
  const std::chrono::minutes minutes(number(zone.substr(4)));
  if (hours.count() > 24 || minutes.count() > 60) return std::nullopt;  // the bounds of the source
  return zone.front() == '-' ? -(hours + minutes) : hours + minutes;
}

}  // namespace

std::string timestamp(WallTime time) {
  return utc_text(std::chrono::floor<std::chrono::seconds>(time));
}

std::optional<std::string> time_text(std::string_view text, TimeForm form) {
  static const RegularExpression time(
      "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{1,2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?(Z|[-+][0-9]{2}:[0-9]{2})$");
  static const RegularExpression micro_time(
      "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{1,2}:[0-9]{2}:[0-9]{2}[.,][0-9]{6}(Z|[-+][0-9]{2}:[0-9]{2})$");
  const bool micro = form == TimeForm::microseconds;
  if (!(micro ? micro_time : time).found_in(text)) return std::nullopt;
  std::array<int, 6> parts{};
  for (int& part : parts) {
    part = number(take_digits(text));
    if (&part != &parts.back()) text.remove_prefix(1);
  }
  std::string fraction;
  if (text.front() == '.' || text.front() == ',') {
    text.remove_prefix(1);
    const std::string digits(take_digits(text));
    if (micro) fraction = "." + digits;
  }
  const std::chrono::year_month_day date{std::chrono::year(parts[0]),
                                         std::chrono::month(static_cast<unsigned>(parts[1])),
                                         std::chrono::day(static_cast<unsigned>(parts[2]))};
  const auto offset = offset_of(text);
  if (!date.ok() || parts[3] > 23 || parts[4] > 59 || parts[5] > 59 || !offset) return std::nullopt;
  const std::chrono::sys_seconds moment = std::chrono::sys_days(date) + std::chrono::hours(parts[3]) +
                                          std::chrono::minutes(parts[4]) + std::chrono::seconds(parts[5]) -
                                          *offset;
  constexpr std::chrono::sys_days zero{std::chrono::year(1) / 1 / 1};
  if (moment == zero && fraction.find_first_not_of(".0") == std::string::npos) return "";
  std::string result = utc_text(moment);
  return result.insert(result.size() - 1, fraction);
}

std::string duration_problem(const std::string& text) {
  struct Unit {
    std::string_view name;
    double nanoseconds;
  };
  static constexpr std::array units{Unit{"ns", 1},        Unit{"us", 1e3},  Unit{"\u00b5s", 1e3},
                                    Unit{"\u03bcs", 1e3}, Unit{"ms", 1e6},  Unit{"s", 1e9},
                                    Unit{"m", 6e10},      Unit{"h", 3.6e12}};
  const std::string quoted = " \"" + text + "\"";
  const std::string invalid = "time: invalid duration" + quoted;
  std::string_view rest = text;
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return "";
  if (rest.empty()) return invalid;
  double total = 0;
  while (!rest.empty()) {
    std::string amount(take_digits(rest));
    if (rest.starts_with('.')) {
      rest.remove_prefix(1);
      amount.append(".").append(take_digits(rest));
    }
    if (amount.find_first_not_of('.') == std::string::npos) return invalid;
    const std::string unit(rest.substr(0, rest.find_first_of("0123456789.")));
    if (unit.empty()) return "time: missing unit in duration" + quoted;
    const auto* const known =
        std::find_if(units.begin(), units.end(), [&](const Unit& each) { return each.name == unit; });
    if (known == units.end()) return "time: unknown unit \"" + unit + "\" in duration" + quoted;
    rest.remove_prefix(unit.size());
    total += std::strtod(amount.c_str(), nullptr) * known->nanoseconds;
    if (total >= 9223372036854775808.0) return invalid;
  }
  return "";
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
