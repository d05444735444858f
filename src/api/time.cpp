// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>

#include <evenkeel/api/time.hpp>
#include <evenkeel/base/duration_text.hpp>

#include "api/text_type.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using std::chrono::microseconds;

/// Consumes a text from the front; every step returns false on failure.
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
  /// Reads a fraction of a second, to microseconds; further digits are ignored.
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
  const WallTime time = WallTime(std::chrono::sys_days(date)) + std::chrono::hours(hour) +
                        std::chrono::minutes(minute) + std::chrono::seconds(second) + fraction - offset;
  // The year in UTC may not fit into four digits, and the written form could not be parsed again.
  using namespace std::chrono_literals;
  constexpr WallTime first = std::chrono::sys_days(0y / 1 / 1);
  constexpr WallTime end = std::chrono::sys_days(10000y / 1 / 1);
  return std::clamp(time, first, end - microseconds(1));
}

/// Returns a duration beyond the range as the longest one: a schema cannot express the range, so that the
/// server accepts such texts.
std::optional<Duration> parse_saturated(std::string_view text) {
  if (const auto parsed = parse_duration(text)) return parsed;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    std::int64_t term = 0;
    const std::size_t before = text.size();
    // A term that does not fit is consumed nevertheless.
    if (!v0::detail::take_duration_term(text, term) && text.size() == before) return std::nullopt;
  }
  return negative ? Duration::min() : Duration::max();
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

constexpr TextOps time_text = text_ops<Time>("an RFC 3339 time", "date-time");
constexpr TextOps micro_time_text = text_ops<MicroTime>("an RFC 3339 time", "date-time");
constexpr TextOps duration_text{
    .expected = "a duration such as \"1h30m\"",
    .format = "",
    .append = +[](const void* self,
                  std::string& out) { out += format_duration(*static_cast<const Duration*>(self)); },
    .parse =
        +[](void* self, std::string_view text) {
          const auto parsed = parse_saturated(text);
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

const TypeInfo& evenkeel_leaf_info(Time**, FieldLookup) {
  return time_info;
}
const TypeInfo& evenkeel_leaf_info(MicroTime**, FieldLookup) {
  return micro_time_info;
}
const TypeInfo& evenkeel_leaf_info(Duration**, FieldLookup) {
  return duration_info;
}

}  // namespace v0
}  // namespace evenkeel
