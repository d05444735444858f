// SPDX-License-Identifier: Apache-2.0
#include "client/discovery/discovery_table.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/ascii.hpp"
#include "base/in_quotes.hpp"

namespace evenkeel {
inline namespace v0 {

namespace {

bool holds(const std::vector<std::string>& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

}  // namespace

bool ApiResource::has_verb(std::string_view verb) const {
  return holds(verbs, verb);
}

bool ApiResource::has_subresource(std::string_view name) const {
  return std::any_of(subresources.begin(), subresources.end(),
                     [name](const ApiSubresource& subresource) { return subresource.name == name; });
}

namespace detail {
namespace {

const Json::Array no_items;

/// Returns the items of a list; an absent or null one is empty, as in Go.
const Json::Array& list_items(const Json& list, const char* where) {
  if (list.is_null()) return no_items;
  if (list.is_array()) return list.as_array();
  throw DecodeError(where, "expected an array, found " + std::string(list.kind_name()));
}

std::string required_text(const Json& object, const char* member, const char* where) {
  const Json& value = object[member];
  if (value.is_string() && !value.as_string().empty()) return value.as_string();
  throw DecodeError(std::string(where) + "." + member,
                    "expected text, found " + std::string(value.kind_name()));
}

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> result;
  for (const Json& item : list_items(list, "discovery")) result.push_back(item.string_or(""));
  return result;
}

ApiResource resource_of(const std::string& group, const std::string& version, std::string kind,
                        std::string plural, bool namespaced) {
  return {.id = ResourceId(group, version, std::move(kind), std::move(plural),
                           namespaced ? Scope::namespaced : Scope::cluster)};
}

// Source: client-go discovery/aggregated_discovery.go, convertAPIResource: a resource without a kind is only
// the parent of subresources.
std::optional<ApiResource> read_aggregated_resource(const Json& item, const std::string& group,
                                                    const std::string& version) {
  std::string kind = item.at({"responseKind", "kind"}).string_or("");
  if (kind.empty()) return std::nullopt;
  ApiResource result =
      resource_of(group, version, std::move(kind), required_text(item, "resource", "resources"),
                  item["scope"].string_or("") == "Namespaced");
  result.singular = item["singularResource"].string_or("");
  result.short_names = texts(item["shortNames"]);
  result.categories = texts(item["categories"]);
  result.verbs = texts(item["verbs"]);
  for (const Json& part : list_items(item["subresources"], "subresources")) {
    result.subresources.push_back({.name = required_text(part, "subresource", "subresources"),
                                   .kind = part.at({"responseKind", "kind"}).string_or(""),
                                   .verbs = texts(part["verbs"])});
  }
  return result;
}

ServedGroupVersion read_version(const Json& item, const std::string& group) {
  ServedGroupVersion result{.group = group, .version = required_text(item, "version", "versions")};
  if (item["freshness"].string_or("") == "Stale") result.problem = "its API server does not answer";
  for (const Json& resource : list_items(item["resources"], "resources")) {
    if (auto read = read_aggregated_resource(resource, group, result.version))
      result.resources.push_back(std::move(*read));
  }
  return result;
}

DiscoveryError ambiguous(const std::string& what, const std::vector<const ApiResource*>& matches) {
  std::string list;
  for (const ApiResource* match : matches) list += (list.empty() ? "" : ", ") + match->id.qualified_plural();
  return {DiscoveryErrorCode::ambiguous, what + " is ambiguous: " + list};
}

enum class NameMatch : unsigned char { none, short_name, full };

NameMatch name_match(const ApiResource& resource, const std::string& name) {
  if (name == resource.id.plural || name == resource.singular ||
      name == detail::ascii::lower(resource.id.kind))
    return NameMatch::full;
  return holds(resource.short_names, name) ? NameMatch::short_name : NameMatch::none;
}

}  // namespace

bool has_kind(const Json& document, std::string_view kind) {
  return document["kind"].string_or("") == kind;
}

std::vector<ApiResource> read_resource_list(const Json& document, const std::string& group,
                                            const std::string& version) {
  std::vector<ApiResource> result;
  for (const Json& item : list_items(document["resources"], "resources")) {
    const std::string name = required_text(item, "name", "resources");
    const std::string kind = item["kind"].string_or("");
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos) {
      ApiResource resource = resource_of(group, version, kind, name, item["namespaced"].bool_or(false));
      resource.singular = item["singularName"].string_or("");
      resource.short_names = texts(item["shortNames"]);
      resource.categories = texts(item["categories"]);
      resource.verbs = texts(item["verbs"]);
      result.push_back(std::move(resource));
      continue;
    }
    const auto parent = std::find_if(result.begin(), result.end(), [&](const ApiResource& resource) {
      return resource.id.plural == name.substr(0, slash);
    });
    if (parent != result.end())
      parent->subresources.push_back(
          {.name = name.substr(slash + 1), .kind = kind, .verbs = texts(item["verbs"])});
  }
  return result;
}

void DiscoveryTable::add_aggregated(const Json& document) {
  for (const Json& item : list_items(document["items"], "items")) {
    const std::string group = item.at({"metadata", "name"}).string_or("");
    for (const Json& version : list_items(item["versions"], "versions"))
      versions_.push_back(read_version(version, group));
  }
}

void DiscoveryTable::add_groups(const Json& document) {
  if (has_kind(document, "APIVersions")) {
    for (const std::string& version : texts(document["versions"])) versions_.push_back({.version = version});
    return;
  }
  if (!has_kind(document, "APIGroupList"))
    throw DecodeError("kind", "expected APIGroupDiscoveryList, APIGroupList or APIVersions");
  for (const Json& item : list_items(document["groups"], "groups")) {
    const std::string group = required_text(item, "name", "groups");
    const std::string preferred = item.at({"preferredVersion", "version"}).string_or("");
    std::vector<ServedGroupVersion> versions;
    for (const Json& version : list_items(item["versions"], "versions"))
      versions.push_back({.group = group, .version = required_text(version, "version", "versions")});
    std::stable_partition(versions.begin(), versions.end(),
                          [&](const ServedGroupVersion& version) { return version.version == preferred; });
    std::move(versions.begin(), versions.end(), std::back_inserter(versions_));
  }
}

void DiscoveryTable::add(const ResourceId& id) {
  auto place = std::find_if(versions_.begin(), versions_.end(), [&](const ServedGroupVersion& served) {
    return served.group == id.group && served.version == id.version;
  });
  if (place == versions_.end()) place = versions_.insert(place, {.group = id.group, .version = id.version});
  place->resources.push_back({.id = id, .singular = detail::ascii::lower(id.kind)});
}

void DiscoveryTable::complete_from(const DiscoveryTable& before) {
  for (ServedGroupVersion& served : versions_) {
    if (served.problem.empty() || !served.resources.empty()) continue;
    for (const ServedGroupVersion& old : before.versions_) {
      if (old.group == served.group && old.version == served.version) served.resources = old.resources;
    }
  }
}

DiscoveryMatch DiscoveryTable::find_kind(std::string_view group, std::string_view kind,
                                         std::string_view version) const {
  std::string what = "kind " + in_quotes(kind);
  if (!version.empty()) {
    what +=
        " in version " + in_quotes(group.empty() ? version : std::string(group) + "/" + std::string(version));
  } else {
    what += group.empty() ? " in the core group" : " in group " + in_quotes(group);
  }
  std::string unavailable;
  for (const ServedGroupVersion& served : versions_) {
    if (served.group != group || (!version.empty() && served.version != version)) continue;
    std::vector<const ApiResource*> matches;
    for (const ApiResource& resource : served.resources) {
      if (resource.id.kind == kind) matches.push_back(&resource);
    }
    if (matches.size() == 1) return *matches.front();
    if (matches.size() > 1) return ambiguous(what, matches);
    if (!served.problem.empty() && unavailable.empty())
      unavailable = served.api_version() + " is unavailable: " + served.problem;
  }
  if (!unavailable.empty())
    return DiscoveryError(DiscoveryErrorCode::unavailable, "no match for " + what + ": " + unavailable);
  return DiscoveryError(DiscoveryErrorCode::no_match, "no match for " + what);
}

DiscoveryMatch DiscoveryTable::find_name(std::string_view name) const {
  const std::string what = "resource " + in_quotes(name);
  const std::size_t dot = name.find('.');
  const std::string plain = detail::ascii::lower(name.substr(0, dot));
  const auto group =
      dot == std::string_view::npos ? std::nullopt : std::optional<std::string_view>(name.substr(dot + 1));
  std::vector<const ApiResource*> matches;
  NameMatch best = NameMatch::short_name;
  std::string unavailable;
  for (const ServedGroupVersion& served : versions_) {
    if (group && served.group != *group) continue;
    if (!served.problem.empty()) unavailable += (unavailable.empty() ? "" : ", ") + served.api_version();
    for (const ApiResource& resource : served.resources) {
      const NameMatch found = name_match(resource, plain);
      // A version after the preferred one does not matter if that has the resource.
      const bool known = std::any_of(matches.begin(), matches.end(), [&](const ApiResource* other) {
        return other->id.qualified_plural() == resource.id.qualified_plural();
      });
      if (found < best || known) continue;
      if (found > best) matches.clear();
      best = found;
      matches.push_back(&resource);
    }
  }
  if (matches.size() == 1) return *matches.front();
  if (matches.size() > 1) return ambiguous(what, matches);
  if (unavailable.empty()) return DiscoveryError(DiscoveryErrorCode::no_match, "no match for " + what);
  return DiscoveryError(DiscoveryErrorCode::unavailable,
                        "no match for " + what + "; unavailable: " + unavailable);
}

std::optional<std::string> DiscoveryTable::preferred_version(std::string_view group) const {
  const ServedGroupVersion* first = nullptr;
  for (const ServedGroupVersion& served : versions_) {
    if (served.group != group) continue;
    if (served.problem.empty()) return served.version;
    if (first == nullptr) first = &served;
  }
  return first != nullptr ? std::optional(first->version) : std::nullopt;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
