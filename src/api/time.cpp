// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <limits>

#include <evenkeel/api/time.hpp>

#include "api/text_type.hpp"
#include "api/wide.hpp"

namespace evenkeel::inline v0 {
namespace {

using std::chrono::microseconds;

/// Reads from the front of a text; every step fails by returning false.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  bool digits(std::size_t count, int& out) {
    if (text_.size() < count) return false;
    out = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (text_[i] < '0' || text_[i] > '9') return false;
      out = out * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    return true;
  }
  bool literal(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  /// A fraction of a second, to microseconds; further digits are read and dropped.
  bool fraction(microseconds& out) {
    std::size_t count = 0;
    std::int64_t value = 0;
    for (; count < text_.size() && text_[count] >= '0' && text_[count] <= '9'; ++count) {
      if (count < 6) value = value * 10 + (text_[count] - '0');
    }
    if (count == 0) return false;
    for (std::size_t i = count; i < 6; ++i) value *= 10;
    text_.remove_prefix(count);
    out = microseconds(value);
    return true;
  }
  bool done() const { return text_.empty(); }

 private:
  std::string_view text_;
};

bool read_offset(Reader& in, std::chrono::minutes& offset) {
  if (in.literal('Z')) return true;
  const bool negative = in.literal('-');
  if (!negative && !in.literal('+')) return false;
  int hours = 0;
  int minutes = 0;
  if (!in.digits(2, hours) || !in.literal(':') || !in.digits(2, minutes) || hours > 23 || minutes > 59)
    return false;
  offset = std::chrono::minutes(hours * 60 + minutes) * (negative ? -1 : 1);
  return true;
}

std::optional<WallTime> parse_rfc3339(std::string_view text) {
  Reader in(text);
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  microseconds fraction{};
  std::chrono::minutes offset{};
  if (!in.digits(4, year) || !in.literal('-') || !in.digits(2, month) || !in.literal('-') ||
      !in.digits(2, day))
    return std::nullopt;
  if (!in.literal('T') || !in.digits(2, hour) || !in.literal(':') || !in.digits(2, minute) ||
      !in.literal(':') || !in.digits(2, second))
    return std::nullopt;
  if (in.literal('.') && !in.fraction(fraction)) return std::nullopt;
  if (!read_offset(in, offset) || !in.done()) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return WallTime(std::chrono::sys_days(date)) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second) + fraction - offset;
}

void append_digits(std::string& out, std::int64_t value, std::size_t width) {
  std::array<char, 20> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  const auto length = static_cast<std::size_t>(end - buffer.data());
  if (length < width) out.append(width - length, '0');
  out.append(buffer.data(), length);
}

void append_rfc3339(std::string& out, WallTime time, bool micro) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  append_digits(out, int(date.year()), 4);
  out += '-';
  append_digits(out, unsigned(date.month()), 2);
  out += '-';
  append_digits(out, unsigned(date.day()), 2);
  out += 'T';
  append_digits(out, clock.hours().count(), 2);
  out += ':';
  append_digits(out, clock.minutes().count(), 2);
  out += ':';
  append_digits(out, clock.seconds().count(), 2);
  if (micro) {
    out += '.';
    append_digits(out, clock.subseconds().count(), 6);
  }
  out += 'Z';
}

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};
constexpr Unit units[] = {
    {"ns", 1},         {"us", 1'000},        {"\u00b5s", 1'000},    {"\u03bcs", 1'000},
    {"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3'600'000'000'000}};

/// Takes one number with its unit off `text` and adds it to `total`, in nanoseconds.
bool take_term(std::string_view& text, Wide& total) {
  std::size_t at = 0;
  Wide whole = 0;
  Wide part = 0;
  Wide scale = 1;
  bool any = false;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, any = true) {
    whole = whole * 10 + (text[at] - '0');
    if (whole > std::numeric_limits<std::int64_t>::max()) return false;
  }
  if (at < text.size() && text[at] == '.') {
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, any = true) {
      if (scale > 1'000'000'000'000'000) continue;  // finer than a nanosecond of an hour
      part = part * 10 + (text[at] - '0');
      scale *= 10;
    }
  }
  std::size_t end = at;
  while (end < text.size() && text[end] != '.' && (text[end] < '0' || text[end] > '9')) ++end;
  const std::string_view name = text.substr(at, end - at);
  for (const Unit& unit : units) {
    if (!any || unit.name != name) continue;
    total += whole * unit.nanoseconds + part * unit.nanoseconds / scale;
    text.remove_prefix(end);
    return total <= std::numeric_limits<std::int64_t>::max();
  }
  return false;
}

/// `count` of a unit with `digits` decimals, trailing zeros dropped.
void append_decimal(std::string& out, std::int64_t value, std::int64_t unit, std::string_view name) {
  append_digits(out, value / unit, 1);
  std::int64_t rest = value % unit;
  if (rest != 0) out += '.';
  while (rest != 0) {
    unit /= 10;
    out += static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
  out += name;
}

constexpr TextOps time_text = text_ops<Time>("an RFC 3339 time", "date-time");
constexpr TextOps micro_time_text = text_ops<MicroTime>("an RFC 3339 time", "date-time");
constexpr TextOps duration_text{
    .expected = "a duration such as \"1h30m\"",
    .format = "",
    .append = +[](const void* self,
                  std::string& out) { out += format_duration(*static_cast<const Duration*>(self)); },
    .parse =
        +[](void* self, std::string_view text) {
          const auto parsed = parse_duration(text);
          if (parsed) *static_cast<Duration*>(self) = *parsed;
          return parsed.has_value();
        },
    .is_zero = +[](const void* self) noexcept { return static_cast<const Duration*>(self)->count() == 0; },
};
constexpr TypeInfo time_info = text_info(time_text);
constexpr TypeInfo micro_time_info = text_info(micro_time_text);
constexpr TypeInfo duration_info = text_info(duration_text);

}  // namespace

std::string Time::str() const {
  std::string out;
  append_rfc3339(out, value_, false);
  return out;
}
std::optional<Time> Time::parse(std::string_view text) {
  const auto parsed = parse_rfc3339(text);
  return parsed ? std::optional<Time>(*parsed) : std::nullopt;
}
std::string MicroTime::str() const {
  std::string out;
  append_rfc3339(out, value_, true);
  return out;
}
std::optional<MicroTime> MicroTime::parse(std::string_view text) {
  const auto parsed = parse_rfc3339(text);
  return parsed ? std::optional<MicroTime>(*parsed) : std::nullopt;
}

std::string format_duration(Duration duration) {
  std::string out;
  if (duration.count() == std::numeric_limits<std::int64_t>::min()) return "-2562047h47m16.854775808s";
  std::int64_t left = duration.count();
  if (left < 0) {
    out += '-';
    left = -left;
  }
  if (left == 0) return "0s";
  if (left < 1'000) {
    append_decimal(out, left, 1, "ns");
  } else if (left < 1'000'000) {
    append_decimal(out, left, 1'000, "\u00b5s");
  } else if (left < 1'000'000'000) {
    append_decimal(out, left, 1'000'000, "ms");
  } else {
    constexpr std::int64_t minute = 60'000'000'000;
    if (left >= 60 * minute) append_decimal(out, left / (60 * minute), 1, "h");
    if (left >= minute) append_decimal(out, left / minute % 60, 1, "m");
    append_decimal(out, left % minute, 1'000'000'000, "s");
  }
  return out;
}

std::optional<Duration> parse_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return Duration::zero();
  if (text.empty()) return std::nullopt;
  Wide total = 0;
  while (!text.empty()) {
    if (!take_term(text, total)) return std::nullopt;
  }
  const auto count = static_cast<std::int64_t>(total);
  return Duration(negative ? -count : count);
}

const TypeInfo& evenkeel_leaf_info(const Time*, FieldLookup) {
  return time_info;
}
const TypeInfo& evenkeel_leaf_info(const MicroTime*, FieldLookup) {
  return micro_time_info;
}
const TypeInfo& evenkeel_leaf_info(const Duration*, FieldLookup) {
  return duration_info;
}

}  // namespace evenkeel::inline v0
