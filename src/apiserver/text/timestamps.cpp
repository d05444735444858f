// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/timestamps.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

std::string timestamp(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
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

std::string duration_problem(const std::string& text) {
  const std::string quoted = " \"" + text + "\"";
  std::string_view rest = text;
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return "";
  if (rest.empty()) return "time: invalid duration" + quoted;
  while (!rest.empty()) {
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789."), rest.size());
    if (rest.substr(0, digits).find_first_of("0123456789") == std::string_view::npos)
      return "time: invalid duration" + quoted;
    rest.remove_prefix(digits);
    const std::string unit(rest.substr(0, rest.find_first_of("0123456789.")));
    if (unit.empty()) return "time: missing unit in duration" + quoted;
    bool known = false;
    for (const char* each : {"ns", "us", "\u00b5s", "ms", "s", "m", "h"}) known = known || unit == each;
    if (!known) return "time: unknown unit \"" + unit + "\" in duration" + quoted;
    rest.remove_prefix(unit.size());
  }
  return "";
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
