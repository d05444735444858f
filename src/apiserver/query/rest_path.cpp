// SPDX-License-Identifier: Apache-2.0
#include "apiserver/query/rest_path.hpp"

#include <algorithm>

#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto at = text.find(separator);
    if (at != 0) out.push_back(text.substr(0, at));
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + 1);
  }
  return out;
}

}  // namespace

Query::Query(std::string_view text) {
  for (const std::string_view pair : split(text, '&')) {
    const auto equals = pair.find('=');
    const std::string_view value = equals == std::string_view::npos ? "" : pair.substr(equals + 1);
    values_.emplace_back(http::percent_decode(pair.substr(0, equals), true),
                         http::percent_decode(value, true));
  }
}

std::string_view Query::get(std::string_view name) const {
  for (const auto& [key, value] : values_)
    if (key == name) return value;
  return {};
}

bool Query::has(std::string_view name) const {
  return std::any_of(values_.begin(), values_.end(),
                     [name](const auto& entry) { return entry.first == name; });
}

bool Query::flag(std::string_view name) const {
  const std::string_view value = get(name);
  return has(name) && value != "0" && value != "false";
}

std::vector<std::string> Query::all(std::string_view name) const {
  std::vector<std::string> out;
  for (const auto& [key, value] : values_)
    if (key == name) out.push_back(value);
  return out;
}

Target parse_target(std::string_view target) {
  const auto mark = target.find('?');
  Target out{.trailing_slash = target.substr(0, mark).ends_with('/')};
  for (const std::string_view segment : split(target.substr(0, mark), '/'))
    out.segments.push_back(http::percent_decode(segment));
  if (mark != std::string_view::npos) out.query = Query(target.substr(mark + 1));
  return out;
}

std::optional<ResourcePath> resource_path(const std::vector<std::string>& segments) {
  if (segments.size() < 3 || (segments[0] != "api" && segments[0] != "apis")) return std::nullopt;
  ResourcePath path;
  std::size_t at = 1;
  if (segments[0] == "apis") path.group = segments[at++];
  path.version = segments[at++];
  if (at >= segments.size()) return std::nullopt;
  if (segments[at] == "watch" && segments.size() > at + 1) {
    path.legacy_watch = true;
    ++at;
  }
  // "namespaces/NAME/RESOURCE" refers to the resource, unless RESOURCE is a subresource of the namespace.
  if (segments[at] == "namespaces" && segments.size() > at + 2 &&
      !(segments.size() == at + 3 && path.group.empty() &&
        (segments[at + 2] == "status" || segments[at + 2] == "finalize"))) {
    path.in_namespace = true;
    path.namespace_ = segments[at + 1];
    at += 2;
  }
  path.resource = segments[at++];
  if (at < segments.size()) path.name = segments[at++];
  if (at < segments.size()) path.subresource = segments[at++];
  path.too_long = at < segments.size();
  return path;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
