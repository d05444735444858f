// SPDX-License-Identifier: Apache-2.0
#include "base/log_line.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "base/json_text.hpp"
#include "base/shown_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

void append_number(std::string& out, std::int64_t number, int width = 0) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  const auto length = static_cast<int>(end - digits.data());
  if (length < width) out.append(static_cast<std::size_t>(width - length), '0');
  out.append(digits.data(), end);
}

void append_number(std::string& out, double number) {
  std::array<char, 32> digits;
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

// Appends RFC 3339 in UTC, with `fraction` digits after the second: 3 or 6.
void append_time(std::string& out, WallTime time, int fraction) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  append_number(out, static_cast<int>(date.year()), 4);
  append_number(out += '-', static_cast<unsigned>(date.month()), 2);
  append_number(out += '-', static_cast<unsigned>(date.day()), 2);
  append_number(out += 'T', clock.hours().count(), 2);
  append_number(out += ':', clock.minutes().count(), 2);
  append_number(out += ':', clock.seconds().count(), 2);
  const std::int64_t micros = clock.subseconds().count();
  append_number(out += '.', fraction == 3 ? micros / 1000 : micros, fraction);
  out += 'Z';
}

bool plain_word(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (c <= ' ' || c >= 0x7F || c == '"' || c == '=' || c == '\\') return false;
  }
  return true;
}

void append_quoted(std::string& out, std::string_view text) {
  append_json_string(out, text.size() > limits::shown_bytes ? bounded_text(text) : text);
}

struct ValueWriter {
  std::string& out;
  bool quotes;

  void operator()(std::string_view text) const {
    if (!quotes && text.size() <= limits::shown_bytes && plain_word(text)) {
      out += text;
    } else {
      append_quoted(out, text);
    }
  }
  void operator()(std::int64_t number) const { append_number(out, number); }
  void operator()(bool truth) const { out += truth ? "true" : "false"; }
  void operator()(double number) const {
    if (std::isfinite(number)) {
      append_number(out, number);
    } else {
      const char* name = std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
      (*this)(std::string_view(name));
    }
  }
};

// Calls `each` for the fields that no later one overrides.
template <class F>
void for_each_field(LogFields bound, LogFields fields, F each) {
  const auto is_repeated = [](std::string_view key, const LogField* from, const LogField* end) {
    for (; from != end; ++from) {
      if (from->key == key) return true;
    }
    return false;
  };
  for (const LogField* field = bound.begin(); field != bound.end(); ++field) {
    if (is_repeated(field->key, field + 1, bound.end())) continue;
    if (is_repeated(field->key, fields.begin(), fields.end())) continue;
    each(*field);
  }
  for (const LogField* field = fields.begin(); field != fields.end(); ++field) {
    if (!is_repeated(field->key, field + 1, fields.end())) each(*field);
  }
}

}  // namespace

std::string_view level_name(LogLevel level) noexcept {
  static constexpr std::array<std::string_view, 5> names = {"debug", "info", "warn", "error", "off"};
  return names[static_cast<std::size_t>(level)];
}

std::string text_log_line(WallTime time, LogLevel level, std::string_view message, LogFields bound,
                          LogFields fields) {
  static constexpr std::array<std::string_view, 5> padded = {"DEBUG", "INFO ", "WARN ", "ERROR", "OFF  "};
  std::string out;
  out.reserve(256);
  append_time(out, time, 3);
  out += ' ';
  out += padded[static_cast<std::size_t>(level)];
  out += ' ';
  out += shown_text(message);
  for_each_field(bound, fields, [&out](const LogField& field) {
    out += ' ';
    out += shown_text(field.key);
    out += '=';
    std::visit(ValueWriter{out, false}, field.value.get());
  });
  return out;
}

std::string json_log_line(WallTime time, LogLevel level, std::string_view message, LogFields bound,
                          LogFields fields) {
  std::string out;
  out.reserve(256);
  out += R"({"ts":")";
  append_time(out, time, 6);
  out += R"(","level":")";
  out += level_name(level);
  out += R"(","msg":)";
  append_quoted(out, message);
  for_each_field(bound, fields, [&out](const LogField& field) {
    out += ',';
    append_quoted(out, field.key);
    out += ':';
    std::visit(ValueWriter{out, true}, field.value.get());
  });
  out += '}';
  return out;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
