// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/json_path.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

using Found = std::vector<const Json*>;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || result.ec != std::errc() || result.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// Parses 'a', "a", 1, true.
std::optional<Json> literal(std::string_view text) {
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'')
    return Json(text.substr(1, text.size() - 2));
  try {
    return Json::parse(text);
  } catch (const DecodeError&) {
    return std::nullopt;
  }
}

int compared(const Json& one, const Json& other) {
  if (one.is_string() && other.is_string()) return one.as_string().compare(other.as_string());
  if (one.is_number() && other.is_number()) {
    const double difference = one.as_number() - other.as_number();
    return difference < 0 ? -1 : difference > 0;
  }
  return one == other ? 0 : 1;
}

bool holds(const Json& item, std::string_view condition) {
  static constexpr std::string_view operators[] = {"==", "!=", "<=", ">=", "<", ">"};
  for (const std::string_view symbol : operators) {
    const std::size_t place = condition.find(symbol);
    if (place == std::string_view::npos) continue;
    const std::string_view left = trimmed(condition.substr(0, place));
    const auto right = literal(trimmed(condition.substr(place + symbol.size())));
    const Found found = left.starts_with('@') ? find_path(item, left.substr(1)) : Found{};
    if (!right || found.empty()) return false;
    const int order = compared(*found.front(), *right);
    if (symbol == "==") return order == 0;
    if (symbol == "!=") return order != 0;
    return symbol[0] == '<' ? order < 0 || (order == 0 && symbol.size() == 2)
                            : order > 0 || (order == 0 && symbol.size() == 2);
  }
  return condition.starts_with('@') && !find_path(item, trimmed(condition.substr(1))).empty();
}

void members(const Json& value, Found& out) {
  if (value.is_array()) {
    for (const Json& item : value.as_array()) out.push_back(&item);
  } else if (value.is_object()) {
    for (const auto& [name, member] : value.as_object()) out.push_back(&member);
  }
}

/// Evaluates [from:to] of a list.
void slice(const Json& value, std::string_view step, Found& out) {
  if (!value.is_array()) return;
  const auto size = static_cast<std::int64_t>(value.size());
  const std::size_t colon = step.find(':');
  const auto bound = [&](std::string_view text, std::int64_t otherwise) {
    const std::int64_t given = integer(text).value_or(otherwise);
    return std::clamp<std::int64_t>(given < 0 ? given + size : given, 0, size);
  };
  for (std::int64_t i = bound(step.substr(0, colon), 0); i < bound(step.substr(colon + 1), size); ++i)
    out.push_back(&value[static_cast<std::size_t>(i)]);
}

/// Evaluates the text between brackets.
void bracket(const Json& value, std::string_view step, Found& out) {
  step = trimmed(step);
  if (step == "*") return members(value, out);
  if (step.starts_with("?(") && step.ends_with(')')) {
    Found all;
    members(value, all);
    for (const Json* item : all) {
      if (holds(*item, trimmed(step.substr(2, step.size() - 3)))) out.push_back(item);
    }
    return;
  }
  if (const auto index = integer(step)) {
    const std::int64_t at = *index < 0 ? *index + static_cast<std::int64_t>(value.size()) : *index;
    if (value.is_array() && at >= 0 && at < static_cast<std::int64_t>(value.size()))
      out.push_back(&value[static_cast<std::size_t>(at)]);
    return;
  }
  if (step.find(':') != std::string_view::npos && step.front() != '\'') return slice(value, step, out);
  const auto name = literal(step);
  if (name && name->is_string()) {
    if (const Json* member = value.find(name->as_string())) out.push_back(member);
  }
}

/// Returns the end of a bracket that starts at `start`; skips quoted text and inner brackets.
std::size_t bracket_end(std::string_view path, std::size_t start) {
  char quote = 0;
  int depth = 0;
  for (std::size_t i = start; i < path.size(); ++i) {
    if (quote != 0) {
      if (path[i] == quote) quote = 0;
    } else if (path[i] == '\'' || path[i] == '"') {
      quote = path[i];
    } else if (path[i] == '[') {
      ++depth;
    } else if (path[i] == ']' && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

/// Returns a name up to the next dot or bracket; a backslash escapes a dot.
std::string member_name(std::string_view path, std::size_t& at) {
  std::string name;
  while (at < path.size() && path[at] != '.' && path[at] != '[') {
    if (path[at] == '\\' && at + 1 < path.size()) ++at;
    name += path[at++];
  }
  return name;
}

}  // namespace

std::vector<const Json*> find_path(const Json& document, std::string_view path) {
  Found now{&document};
  for (std::size_t at = 0; at < path.size();) {
    Found next;
    if (path[at] == '[') {
      const std::size_t end = bracket_end(path, at);
      if (end == std::string_view::npos) return {};
      for (const Json* value : now) bracket(*value, path.substr(at + 1, end - at - 1), next);
      at = end + 1;
    } else {
      if (path[at] == '.') ++at;
      if (at < path.size() && path[at] == '[') continue;
      const std::string name = member_name(path, at);
      for (const Json* value : now) {
        if (name == "*")
          members(*value, next);
        else if (const Json* member = value->find(name))
          next.push_back(member);
      }
    }
    now = std::move(next);
  }
  return now;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
