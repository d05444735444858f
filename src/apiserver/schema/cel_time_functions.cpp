// SPDX-License-Identifier: Apache-2.0
// The parts of times and durations. Source: cel-go common/types/timestamp.go, duration.go.
#include <charconv>
#include <chrono>
#include <string>

#include "apiserver/schema/cel_library.hpp"
#include "apiserver/schema/cel_time.hpp"
#include "apiserver/text/time_zone.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  const std::size_t sign = text.starts_with('+') ? 1 : 0;
  const auto result = std::from_chars(text.data() + sign, text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size())
    throw CelError("strconv.Atoi: parsing " + Json(text).dump() + ": invalid syntax");
  return value;
}

/// Returns the seconds to add for "Europe/Berlin", "+01:30" or "-01:30".
std::int64_t offset_of(const std::string& zone, std::int64_t time) {
  const std::size_t colon = zone.find(':');
  if (colon == std::string::npos) {
    const auto offset = zone_offset(zone, time);
    if (!offset) throw CelError("unknown time zone " + zone);
    return *offset;
  }
  const std::int64_t hours = number(std::string_view(zone).substr(0, colon)) % 10'000;
  const std::int64_t minutes = number(std::string_view(zone).substr(colon + 1)) % 10'000;
  return 60 * (hours * 60 + (zone[0] == '-' ? -minutes : minutes));
}

/// A time in its zone, UTC if none is given.
struct Local {
  std::chrono::sys_days day;
  std::chrono::year_month_day date;
  std::int64_t seconds;  ///< Since midnight.
  std::int64_t nanoseconds;
};

Local local(const CelCall& call) {
  const Instant time = instant_of(call[0]);
  const std::int64_t offset = call.given.size() > 1 ? offset_of(call.text(1), time.seconds) : 0;
  const std::chrono::sys_seconds point{std::chrono::seconds(time.seconds + offset)};
  const auto day = std::chrono::floor<std::chrono::days>(point);
  return {day, std::chrono::year_month_day(day), (point - day).count(), time.nanoseconds};
}

CelValue full_year(const CelCall& call) {
  return cel_int(static_cast<int>(local(call).date.year()));
}
CelValue month(const CelCall& call) {
  return cel_int(static_cast<unsigned>(local(call).date.month()) - 1);
}
CelValue date(const CelCall& call) {
  return cel_int(static_cast<unsigned>(local(call).date.day()));
}
CelValue day_of_month(const CelCall& call) {
  return cel_int(static_cast<unsigned>(local(call).date.day()) - 1);
}
CelValue day_of_week(const CelCall& call) {
  return cel_int(std::chrono::weekday(local(call).day).c_encoding());
}
CelValue day_of_year(const CelCall& call) {
  const Local time = local(call);
  return cel_int((time.day - std::chrono::sys_days(time.date.year() / 1 / 1)).count());
}
CelValue hours(const CelCall& call) {
  return cel_int(local(call).seconds / 3600);
}
CelValue minutes(const CelCall& call) {
  return cel_int(local(call).seconds / 60 % 60);
}
CelValue seconds(const CelCall& call) {
  return cel_int(local(call).seconds % 60);
}
CelValue milliseconds(const CelCall& call) {
  return cel_int(local(call).nanoseconds / 1'000'000);
}

template <std::int64_t unit>
CelValue duration_in(const CelCall& call) {
  return cel_int(call[0].number / unit);
}

}  // namespace

std::span<const CelFunction> cel_time_functions() {
  static constexpr CelFunction functions[] = {
      {".getFullYear(google.protobuf.Timestamp) int", full_year},
      {".getFullYear(google.protobuf.Timestamp, string) int", full_year},
      {".getMonth(google.protobuf.Timestamp) int", month},
      {".getMonth(google.protobuf.Timestamp, string) int", month},
      {".getDate(google.protobuf.Timestamp) int", date},
      {".getDate(google.protobuf.Timestamp, string) int", date},
      {".getDayOfMonth(google.protobuf.Timestamp) int", day_of_month},
      {".getDayOfMonth(google.protobuf.Timestamp, string) int", day_of_month},
      {".getDayOfWeek(google.protobuf.Timestamp) int", day_of_week},
      {".getDayOfWeek(google.protobuf.Timestamp, string) int", day_of_week},
      {".getDayOfYear(google.protobuf.Timestamp) int", day_of_year},
      {".getDayOfYear(google.protobuf.Timestamp, string) int", day_of_year},
      {".getHours(google.protobuf.Timestamp) int", hours},
      {".getHours(google.protobuf.Timestamp, string) int", hours},
      {".getMinutes(google.protobuf.Timestamp) int", minutes},
      {".getMinutes(google.protobuf.Timestamp, string) int", minutes},
      {".getSeconds(google.protobuf.Timestamp) int", seconds},
      {".getSeconds(google.protobuf.Timestamp, string) int", seconds},
      {".getMilliseconds(google.protobuf.Timestamp) int", milliseconds},
      {".getMilliseconds(google.protobuf.Timestamp, string) int", milliseconds},
      {".getHours(google.protobuf.Duration) int", duration_in<3600 * nanoseconds_per_second>},
      {".getMinutes(google.protobuf.Duration) int", duration_in<60 * nanoseconds_per_second>},
      {".getSeconds(google.protobuf.Duration) int", duration_in<nanoseconds_per_second>},
      {".getMilliseconds(google.protobuf.Duration) int", duration_in<1'000'000>},
  };
  return functions;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
