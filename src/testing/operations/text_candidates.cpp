// SPDX-License-Identifier: Apache-2.0
#include "testing/operations/text_candidates.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include <evenkeel/api/quantity.hpp>
#include <evenkeel/base/duration_text.hpp>

#include "base/ascii.hpp"
#include "testing/operations/known_values.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

using evenkeel::detail::ascii::is_digit;
using evenkeel::detail::ascii::lower;

// Five fields, as of a CronJob.
bool is_schedule(std::string_view text) {
  if (text.find_first_not_of("0123456789*/,- ") != std::string_view::npos) return false;
  return std::count(text.begin(), text.end(), ' ') == 4;
}

bool is_schedule_property(const std::string& name, const std::string& current) {
  const std::string low = lower(name);
  const bool named = low.find("schedule") != std::string::npos || low.find("cron") != std::string::npos;
  return named && is_schedule(current);
}

// A count without a unit may be of anything.
bool is_quantity(const std::string& text) {
  return !text.empty() && is_digit(text.front()) && !is_digit(text.back()) && Quantity::parse(text);
}

bool is_quantity_property(const std::string& name, const std::string& current) {
  const std::string low = lower(name);
  const auto ends = [&](std::string_view word) { return low.ends_with(word); };
  const bool named = ends("size") || ends("storage") || ends("memory") || ends("cpu") || ends("capacity") ||
                     ends("quantity") || ends("disk") || ends("volume") || ends("limit") || ends("request");
  return named && is_quantity(current);
}

std::string doubled_quantity(const std::string& text) {
  const auto parsed = Quantity::parse(text);
  return parsed ? (*parsed + *parsed).str() : text;
}

Texts quantities(const std::string& current) {
  const std::string twice = current.empty() ? "2Gi" : doubled_quantity(current);
  return {.valid = {twice, current.empty() ? "1Gi" : doubled_quantity(twice)},
          .wrong = {"10 gigabytes", current.empty() ? "-1Gi" : "-" + current}};
}

Texts durations(const std::string& current) {
  const std::optional<Duration> parsed = parse_duration(current);
  const std::string twice = parsed ? format_duration(2 * *parsed) : "2m0s";
  return {.valid = {twice, "1h0m0s"}, .wrong = {"soon"}};
}

Texts schedules() {
  const KnownValues* known = nullptr;
  for (const KnownValues& values : all_known_values()) {
    if (values.type == "schedule") known = &values;
  }
  Texts texts;
  for (const std::string_view text : known->valid) texts.valid.push_back(Json::parse(text).as_string());
  for (const std::string_view text : known->wrong) texts.wrong.push_back(Json::parse(text).as_string());
  return texts;
}

// No API server accepts a Pod whose image has a space at its end.
Texts images(const std::string& current) {
  return {.valid = {next_text(current), current + "-evenkeel"}, .wrong = {current + " "}};
}

Texts any_text(const Json& schema, const std::string& current) {
  Texts texts;
  if (!current.empty()) texts.valid.push_back(next_text(current));
  for (const char* text : {"evenkeel-a", "evenkeel-b", "a", "A1", "1", "1.2.3", "v1", "10.0.0.1",
                           "https://example.com", "example.com/a", "a@example.com", "1Gi", "1m"})
    texts.valid.push_back(text);
  if (schema.contains("pattern")) texts.breaks_schema = {"", "\u0001"};
  if (schema["minLength"].integer_or(0) > 0) texts.breaks_schema.push_back("");
  const std::int64_t longest = schema["maxLength"].integer_or(-1);
  if (longest >= 0 && longest < 10'000)
    texts.breaks_schema.push_back(std::string(static_cast<std::size_t>(longest) + 1, 'a'));
  return texts;
}

Texts formatted(const std::string& format) {
  if (format == "date-time")
    return {.valid = {"2030-01-01T00:00:00Z", "2031-01-01T00:00:00Z"}, .breaks_schema = {"yesterday"}};
  if (format == "date") return {.valid = {"2030-01-01", "2031-01-01"}, .breaks_schema = {"yesterday"}};
  if (format == "byte") return {.valid = {"ZXZlbmtlZWw=", "a2VlbA=="}, .breaks_schema = {"not base64!"}};
  return {};
}

}  // namespace

std::string next_text(const std::string& text) {
  std::size_t end = text.size();
  while (end > 0 && !is_digit(text[end - 1])) --end;
  if (end == 0) return text + "-2";
  std::string next = text;
  for (std::size_t at = end; at > 0 && is_digit(next[at - 1]); --at) {
    if (next[at - 1] != '9') {
      ++next[at - 1];
      return next;
    }
    next[at - 1] = '0';
    if (at == 1 || !is_digit(next[at - 2])) return next.insert(at - 1, "1");
  }
  return next;
}

Texts texts_for(const PropertySchema& property, const std::string& current) {
  const Json& schema = property.schema;
  if (Texts texts = formatted(schema["format"].string_or("")); !texts.valid.empty()) return texts;
  if (schema[text_type_member] == Json("duration")) return durations(current);
  if (schema[text_type_member] == Json("quantity")) return quantities(current);
  if (is_schedule_property(property.name, current)) return schedules();
  if (is_quantity_property(property.name, current)) return quantities(current);
  if (lower(property.name).ends_with("image") && !current.empty()) return images(current);
  if (!current.empty() && !is_digit(current.back()) && parse_duration(current)) return durations(current);
  return any_text(schema, current);
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
