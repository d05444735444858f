// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/builtin_data.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// data/builtin_kinds.txt, embedded by cmake/embed.cmake.
extern const std::string_view builtin_kinds_text;

namespace {

/// Splits "a\tb" into {"a", "b"}; the second is empty if there is no tab.
std::pair<std::string_view, std::string_view> cut(std::string_view text, char at) {
  const std::size_t place = text.find(at);
  if (place == std::string_view::npos) return {text, {}};
  return {text.substr(0, place), text.substr(place + 1)};
}

std::vector<std::string> words(const Json& list) {
  std::vector<std::string> result;
  if (list.is_array()) {
    for (const Json& item : list.as_array()) result.push_back(item.string_or(""));
  }
  return result;
}

BuiltinResource resource_of(const Json& entry) {
  return {.name = entry["name"].string_or(""),
          .singular = entry["singularName"].string_or(""),
          .kind = entry["kind"].string_or(""),
          .namespaced = entry["namespaced"].bool_or(false),
          .verbs = words(entry["verbs"]),
          .short_names = words(entry["shortNames"]),
          .categories = words(entry["categories"]),
          .kind_group = entry["group"].string_or(""),
          .kind_version = entry["version"].string_or("")};
}

BuiltinGroupVersion group_version_of(std::string_view name, std::string_view rest) {
  BuiltinGroupVersion result;
  const auto [head, tail] = cut(name, '/');
  result.group = std::string(tail.empty() ? "" : head);
  result.version = std::string(tail.empty() ? head : tail);
  auto [resources, types] = cut(rest, '\t');
  const Json entries = Json::parse(resources, "built-in resources");
  for (const Json& entry : entries.as_array()) result.resources.push_back(resource_of(entry));
  while (!types.empty()) {
    const auto [type, others] = cut(types, ' ');
    result.types.emplace_back(type);
    types = others;
  }
  return result;
}

}  // namespace

BuiltinIndex::BuiltinIndex() {
  std::string_view text = builtin_kinds_text;
  while (!text.empty()) {
    const auto [line, others] = cut(text, '\n');
    text = others;
    if (line.size() < 2) continue;
    const auto [name, rest] = cut(line.substr(2), '\t');
    if (line[0] == 't') types.emplace(name, rest);
    if (line[0] == 'k') kinds.emplace(name, rest);
    if (line[0] == 'g') group_versions.push_back(group_version_of(name, rest));
    if (line[0] == 'c') columns = rest;
  }
}

const BuiltinIndex& BuiltinIndex::shared() {
  static const BuiltinIndex index;
  return index;
}

const BuiltinGroupVersion* BuiltinData::find(std::string_view group, std::string_view version) const {
  for (const BuiltinGroupVersion& known : group_versions()) {
    if (known.group == group && known.version == version) return &known;
  }
  return nullptr;
}

bool BuiltinData::has_kind(std::string_view group, std::string_view version, std::string_view kind) const {
  const BuiltinGroupVersion* const found = find(group, version);
  return found != nullptr && std::any_of(found->resources.begin(), found->resources.end(),
                                         [kind](const BuiltinResource& one) { return one.kind == kind; });
}

const Json& BuiltinData::type(std::string_view name) {
  const auto known = parsed_.find(name);
  if (known != parsed_.end()) return known->second;
  const auto line = index_.types.find(name);
  static const Json none;
  if (line == index_.types.end()) return none;
  return parsed_.emplace(name, Json::parse(line->second, name)).first->second;
}

std::string_view BuiltinData::type_of(std::string_view group, std::string_view version,
                                      std::string_view kind) const {
  std::string key(group);
  key.append("/").append(version).append("/").append(kind);
  const auto found = index_.kinds.find(key);
  return found == index_.kinds.end() ? std::string_view() : found->second;
}

const Json& BuiltinData::table_columns(std::string_view api_version, std::string_view resource) {
  if (columns_.is_null()) columns_ = Json::parse(index_.columns, "table columns");
  return std::as_const(columns_)[std::string(api_version) + " " + std::string(resource)];
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
