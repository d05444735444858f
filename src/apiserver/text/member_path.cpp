// SPDX-License-Identifier: Apache-2.0
#include "apiserver/text/member_path.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/json_scan.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Removes and returns the first step of a path.
std::string_view next_step(std::string_view& path) {
  path.remove_prefix(path.front() == '.' ? 1 : 0);
  const std::string_view step = path.substr(0, path.find('.'));
  path.remove_prefix(step.size());
  return step;
}

/// Returns the position after the string that begins at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

/// Returns true if the name is ASCII that is written as it is: other names are not in the order of their
/// text.
bool is_plain(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c != '\\' && c != '"'; });
}

/// Returns the text of a member's value; empty if there is no such member.
std::string_view member_text(std::string_view members, std::string_view name) {
  std::string escaped;
  const bool plain = is_plain(name);
  if (!plain) {
    escaped = Json(name).dump();
    name = std::string_view(escaped).substr(1, escaped.size() - 2);
  }
  for (std::size_t at = 0; at < members.size();) {
    const std::size_t end = end_of_string(members, at);
    const std::string_view found = members.substr(at + 1, end - at - 2);
    if (plain && found > name && is_plain(found)) return {};
    v0::detail::ValueScan scan;
    const std::size_t begin = end + 1;
    const std::size_t size = scan.feed(members.substr(begin));
    if (found == name) return members.substr(begin, size);
    at = begin + size + 1;
  }
  return {};
}

/// Returns the members of an object; empty for other values.
std::string_view members_of(std::string_view value) {
  return value.starts_with('{') ? value.substr(1, value.size() - 2) : std::string_view();
}

/// Returns the text of the value at a path; empty if there is none.
std::string_view text_at(std::string_view members, std::string_view path) {
  std::string_view value = member_text(members, next_step(path));
  while (!path.empty() && !value.empty()) value = member_text(members_of(value), next_step(path));
  return value;
}

Json value_of(std::string_view text) {
  if (text.empty()) return Json();
  const bool string = text.front() == '"' && text.find('\\') == std::string_view::npos;
  return string ? Json(text.substr(1, text.size() - 2)) : Json::parse(text);
}

}  // namespace

const Json& value_at(const Json& document, std::string_view path) {
  const Json* at = &document;
  while (!path.empty()) at = &(*at)[next_step(path)];
  return *at;
}

Json value_in_text(std::string_view members, std::string_view path) {
  return value_of(text_at(members, path));
}

Json member_in_text(std::string_view members, std::string_view name) {
  return value_of(member_text(members, name));
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
