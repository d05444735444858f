// SPDX-License-Identifier: Apache-2.0
#include "coordination/record_text.hpp"

#include <chrono>

#include <evenkeel/api/time.hpp>
#include <evenkeel/base/duration_text.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

Json parse_record(std::string_view text, std::string_view where) {
  Json record = Json::parse(text, where);
  if (!record.is_object()) {
    throw DecodeError(std::string(where), "expected an object, found " + std::string(record.kind_name()));
  }
  return record;
}

std::uint64_t whole_number(const Json& record, std::string_view name, std::string_view where) {
  const std::int64_t number = record[name].integer_or(-1);
  if (number < 0) {
    throw DecodeError(std::string(where) + ": " + std::string(name), "expected a whole number >= 0");
  }
  return static_cast<std::uint64_t>(number);
}

WallTime time_of(const Json& record, std::string_view name) {
  const auto time = Time::parse(record[name].string_or(""));
  return time ? time->value() : WallTime{};
}

Json text_of_time(WallTime time) {
  return Time(time).str();
}

std::string seconds_text(Duration length) {
  const Duration rounded = length < std::chrono::seconds{1}
                               ? std::chrono::duration_cast<std::chrono::milliseconds>(length)
                               : Duration(std::chrono::duration_cast<std::chrono::seconds>(length));
  return format_duration(rounded);
}

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
