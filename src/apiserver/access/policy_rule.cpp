// SPDX-License-Identifier: Apache-2.0
#include "apiserver/access/policy_rule.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "client/request/request_verb.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}
bool contains_all(const std::vector<std::string>& list, const std::vector<std::string>& items) {
  return std::all_of(items.begin(), items.end(),
                     [&](const std::string& item) { return contains(list, item); });
}
bool contains_or_all(const std::vector<std::string>& list, const std::vector<std::string>& items) {
  return contains(list, "*") || contains_all(list, items);
}

bool covers_resource(const std::vector<std::string>& resources, const std::string& resource,
                     std::string_view subresource) {
  if (contains(resources, "*") || contains(resources, resource)) return true;
  return !subresource.empty() && contains(resources, "*/" + std::string(subresource));
}

bool covers_url(const std::vector<std::string>& urls, std::string_view path) {
  return std::any_of(urls.begin(), urls.end(), [path](std::string_view url) {
    if (url == "*" || url == path) return true;
    return url.ends_with('*') && path.starts_with(url.substr(0, url.find_last_not_of('*') + 1));
  });
}

/// `part` has one verb, and one resource of one group or one URL.
bool covers_part(const PolicyRule& rule, const PolicyRule& part) {
  if (!contains_or_all(rule.verbs, part.verbs) || !contains_or_all(rule.groups, part.groups)) return false;
  for (const std::string& resource : part.resources) {
    const std::size_t slash = resource.find('/');
    const std::string_view sub =
        slash == std::string::npos ? "" : std::string_view(resource).substr(slash + 1);
    if (!covers_resource(rule.resources, resource, sub)) return false;
  }
  for (const std::string& url : part.urls)
    if (!covers_url(rule.urls, url)) return false;
  return rule.names.empty() || (!part.names.empty() && contains_all(rule.names, part.names));
}

/// Appends the parts of a rule: each with one verb, and one resource of one group (and one name) or one URL.
void break_down(const PolicyRule& rule, PolicyRules& parts) {
  for (const std::string& resource : rule.resources)
    for (const std::string& group : rule.groups)
      for (const std::string& verb : rule.verbs) {
        PolicyRule part{.verbs = {verb}, .groups = {group}, .resources = {resource}};
        if (rule.names.empty()) parts.push_back(part);
        for (const std::string& name : rule.names) {
          part.names = {name};
          parts.push_back(part);
        }
      }
  for (const std::string& url : rule.urls)
    for (const std::string& verb : rule.verbs) parts.push_back({.verbs = {verb}, .urls = {url}});
}

bool is_same_target(const PolicyRule& one, const PolicyRule& other) {
  return one.urls.empty() && other.urls.empty() && one.groups == other.groups &&
         one.resources == other.resources && one.names == other.names;
}

/// Joins the verbs of parts for the same resource.
PolicyRules compacted(const PolicyRules& parts) {
  PolicyRules out;
  for (const PolicyRule& part : parts) {
    const auto same = std::find_if(out.begin(), out.end(),
                                   [&](const PolicyRule& each) { return is_same_target(each, part); });
    if (same == out.end())
      out.push_back(part);
    else
      same->verbs.insert(same->verbs.end(), part.verbs.begin(), part.verbs.end());
  }
  return out;
}

void add_list(std::string& text, std::string_view name, const std::vector<std::string>& items) {
  if (items.empty()) return;
  text += (text.empty() ? "" : ", ") + std::string(name) + ":" + quoted_list(items);
}

std::string rule_text(const PolicyRule& rule) {
  std::string text;
  add_list(text, "APIGroups", rule.groups);
  add_list(text, "Resources", rule.resources);
  add_list(text, "NonResourceURLs", rule.urls);
  add_list(text, "ResourceNames", rule.names);
  add_list(text, "Verbs", rule.verbs);
  return "{" + text + "}";
}

std::string_view http_verb(http::Method method) {
  switch (method) {
    case http::Method::get:
      return "get";
    case http::Method::post:
      return "post";
    case http::Method::put:
      return "put";
    case http::Method::patch:
      return "patch";
    case http::Method::delete_:
      return "delete";
  }
  return "";
}

/// Returns the name that a field selector requires; empty if there is none.
std::string selected_name(const Query& query) {
  std::string_view rest = query.get("fieldSelector");
  while (!rest.empty()) {
    const std::string_view term = rest.substr(0, rest.find(','));
    for (const std::string_view prefix : {"metadata.name==", "metadata.name="})
      if (term.starts_with(prefix)) return std::string(term.substr(prefix.size()));
    rest.remove_prefix(std::min(rest.size(), term.size() + 1));
  }
  return {};
}

std::string path_only(const http::Request& request) {
  return http::percent_decode(std::string_view(request.target).substr(0, request.target.find('?')));
}

}  // namespace

AccessRequest access_request(const http::Request& request, const Target& target) {
  AccessRequest out{.verb = std::string(http_verb(request.method)), .path = path_only(request)};
  const auto path = resource_path(target.segments);
  if (!path) return out;
  out.group = path->group;
  out.resource = path->resource;
  out.subresource = path->subresource;
  out.name = path->name;
  // The namespace of a namespace is itself.
  const bool itself = path->resource == "namespaces" && path->group.empty() && !path->in_namespace;
  out.namespace_ = itself ? path->name : path->namespace_;
  const bool named = !path->name.empty();
  out.verb = evenkeel::detail::request_verb(request.method, named,
                                            path->legacy_watch || (!named && target.query.flag("watch")));
  if (!named && out.verb != "create") out.name = selected_name(target.query);
  return out;
}

StatusError access_denied(const AccessRequest& request, std::string_view user, const std::string& reason) {
  std::string text = "User " + Json(user).dump() + " cannot " + request.verb;
  Json details = Json::object();
  if (request.is_resource()) {
    const GroupResource resource{request.group, request.resource};
    text = resource.str() + (request.name.empty() ? "" : " " + Json(request.name).dump()) +
           " is forbidden: " + text + " resource " + Json(request.combined()).dump() + " in API group " +
           Json(request.group).dump();
    text += request.namespace_.empty() ? " at the cluster scope"
                                       : " in the namespace " + Json(request.namespace_).dump();
    details["kind"] = request.resource;
    if (!request.name.empty()) details["name"] = request.name;
    if (!request.group.empty()) details["group"] = request.group;
  } else {
    text = "forbidden: " + text + " path " + Json(request.path).dump();
  }
  if (!reason.empty()) text += ": " + reason;
  return StatusError(403, "Forbidden", text, std::move(details));
}

std::vector<std::string> strings_of(const Json& list) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < list.size(); ++i) out.push_back(list[i].string_or(""));
  return out;
}

std::string quoted_list(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : " ") + Json(item).dump();
  return "[" + out + "]";
}

PolicyRules policy_rules(const Json& rules) {
  PolicyRules out;
  if (!rules.is_array()) return out;
  for (const Json& rule : rules.as_array())
    out.push_back({.verbs = strings_of(rule["verbs"]),
                   .groups = strings_of(rule["apiGroups"]),
                   .resources = strings_of(rule["resources"]),
                   .names = strings_of(rule["resourceNames"]),
                   .urls = strings_of(rule["nonResourceURLs"])});
  return out;
}

Json rule_document(const PolicyRule& rule) {
  Json out = Json::object();
  const auto add = [&out](std::string_view name, const std::vector<std::string>& items) {
    if (items.empty()) return;
    Json list = Json::array();
    for (const std::string& item : items) list.push_back(item);
    out[name] = std::move(list);
  };
  add("verbs", rule.verbs);
  add("apiGroups", rule.groups);
  add("resources", rule.resources);
  add("resourceNames", rule.names);
  add("nonResourceURLs", rule.urls);
  return out;
}

bool allows(const PolicyRule& rule, const AccessRequest& request) {
  if (!contains(rule.verbs, "*") && !contains(rule.verbs, request.verb)) return false;
  if (!request.is_resource()) return covers_url(rule.urls, request.path);
  return (contains(rule.groups, "*") || contains(rule.groups, request.group)) &&
         covers_resource(rule.resources, request.combined(), request.subresource) &&
         (rule.names.empty() || contains(rule.names, request.name));
}

std::vector<std::string> missing_rights(const PolicyRules& held, const PolicyRules& wanted) {
  PolicyRules parts;
  for (const PolicyRule& rule : wanted) break_down(rule, parts);
  std::erase_if(parts, [&](const PolicyRule& part) {
    return std::any_of(held.begin(), held.end(),
                       [&](const PolicyRule& rule) { return covers_part(rule, part); });
  });
  std::set<std::string> texts;
  for (const PolicyRule& rule : compacted(parts)) texts.insert(rule_text(rule));
  return {texts.begin(), texts.end()};
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
