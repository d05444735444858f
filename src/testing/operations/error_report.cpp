// SPDX-License-Identifier: Apache-2.0
#include "testing/operations/error_report.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

using Words = std::initializer_list<std::string_view>;

bool has_word(std::string text, Words words) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return std::any_of(words.begin(), words.end(),
                     [&text](std::string_view word) { return text.find(word) != std::string::npos; });
}

bool tells_error(const std::string& text) {
  return has_word(text, {"invalid", "error", "fail", "refus", "reject", "unsupported", "not supported",
                         "not valid", "cannot", "must ", "illegal", "malformed", "unknown", "degraded",
                         "stalled", "forbidden", "not allowed"});
}

bool is_for_errors(const std::string& name) {
  return has_word(name, {"error", "failure", "problem"});
}

bool is_for_people(const std::string& name) {
  return is_for_errors(name) || has_word(name, {"phase", "state", "message", "reason"});
}

bool is_condition(const Json& value) {
  return value["type"].is_string() && value["status"].is_string();
}

bool is_bad(const Json& condition) {
  const std::string type = condition["type"].string_or("");
  const std::string status = condition["status"].string_or("");
  if (status == "True")
    return has_word(type, {"error", "fail", "invalid", "degraded", "stalled", "unsupported"});
  if (has_word(type, {"valid", "accepted"}) && !has_word(type, {"invalid"})) return status == "False";
  return tells_error(condition["reason"].string_or("")) || tells_error(condition["message"].string_or(""));
}

}  // namespace

bool shows_error(const Json& status) {
  if (status.is_array()) return std::any_of(status.as_array().begin(), status.as_array().end(), shows_error);
  if (!status.is_object()) return false;
  if (is_condition(status)) return is_bad(status);
  for (const auto& [name, value] : status.as_object()) {
    if (shows_error(value)) return true;
    if (!value.is_string() || value.as_string().empty()) continue;
    if (is_for_errors(name) || (is_for_people(name) && tells_error(value.as_string()))) return true;
  }
  return false;
}

bool shows_change(const Json& before, const Json& after) {
  if (before == after) return false;
  if (after.is_array()) {
    for (std::size_t at = 0; at < after.size(); ++at) {
      if (shows_change(before[at], after[at])) return true;
    }
    return false;
  }
  if (!after.is_object()) return false;
  if (is_condition(after)) {  // the generation that it observed, and its times, tell nothing
    const std::initializer_list<std::string_view> telling = {"type", "status", "reason", "message"};
    return std::any_of(telling.begin(), telling.end(),
                       [&](std::string_view member) { return before[member] != after[member]; });
  }
  for (const auto& [name, value] : after.as_object()) {
    if (shows_change(before[name], value)) return true;
    const bool told = value.is_string() && !value.as_string().empty() && is_for_people(name);
    if (told && before[name] != value) return true;
  }
  return false;
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
