// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/client/access.hpp>

#include "client/request/request_verb.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (slash != 0) segments.push_back(http::percent_decode(path.substr(0, slash)));
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return segments;
}

std::string_view query_of(const http::Request& request) {
  const std::string_view target = request.target;
  const std::size_t mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
}

// Returns the decoded value of a parameter; empty if it is absent.
std::string parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    const std::size_t equals = pair.find('=');
    if (pair.substr(0, equals) == name)
      return equals == std::string_view::npos ? "" : http::percent_decode(pair.substr(equals + 1), true);
    query.remove_prefix(pair.size() == query.size() ? pair.size() : pair.size() + 1);
  }
  return {};
}

// Returns "web" for "metadata.name=web,status.phase=Running".
std::string selected_name(std::string_view selector) {
  constexpr std::string_view field = "metadata.name=";
  while (!selector.empty()) {
    std::string_view term = selector.substr(0, selector.find(','));
    selector.remove_prefix(term.size() == selector.size() ? term.size() : term.size() + 1);
    if (!term.starts_with(field)) continue;
    term.remove_prefix(field.size());
    if (term.starts_with('=')) term.remove_prefix(1);
    return std::string(term);
  }
  return {};
}

// Fills in group, namespace, resource and name from "/apis/apps/v1/namespaces/default/deployments/web/scale".
bool parse_path(const std::vector<std::string>& segments, Access& access) {
  if (segments.empty() || (segments[0] != "api" && segments[0] != "apis")) return false;
  std::size_t at = 1;
  if (segments[0] == "apis" && at < segments.size()) access.group = segments[at++];
  if (++at >= segments.size()) return false;  // after the version
  const std::size_t rest = segments.size() - at;
  const bool of_namespace =
      rest == 3 && access.group.empty() && (segments[at + 2] == "status" || segments[at + 2] == "finalize");
  if (segments[at] == "namespaces" && rest >= 2) access.namespace_ = segments[at + 1];
  if (segments[at] == "namespaces" && rest > 2 && !of_namespace) at += 2;
  access.resource = segments[at];
  if (at + 1 < segments.size()) access.name = segments[at + 1];
  if (at + 2 < segments.size()) access.resource += "/" + segments[at + 2];
  return true;
}

}  // namespace

std::string Access::str() const {
  const std::size_t slash = resource.find('/');
  std::string text = verb + " " + resource.substr(0, slash);
  if (!group.empty()) text += "." + group;
  if (slash != std::string::npos) text += resource.substr(slash);
  if (namespace_.empty() && name.empty()) return text;
  return text + " " + (namespace_.empty() ? name : namespace_ + "/" + name);
}

std::optional<Access> access_of(const http::Request& request) {
  const std::string_view query = query_of(request);
  Access access;
  if (!parse_path(segments_of(std::string_view(request.target).substr(0, request.target.find('?'))), access))
    return std::nullopt;
  const std::string watch = parameter(query, "watch");
  access.verb = detail::request_verb(request.method, !access.name.empty(), watch == "1" || watch == "true");
  if (access.name.empty() &&
      (access.verb == "list" || access.verb == "watch" || access.verb == "deletecollection"))
    access.name = selected_name(parameter(query, "fieldSelector"));
  return access;
}

std::vector<Access> accesses_of(const http::Request& request, int status) {
  constexpr int switching_protocols = 101;
  constexpr int created = 201;
  const std::optional<Access> access = access_of(request);
  if (!access) return {};
  std::vector<Access> all = {*access};
  const auto add = [&all](const char* verb) {
    all.push_back(all.front());
    all.back().verb = verb;
  };
  if (access->verb == "watch" && parameter(query_of(request), "sendInitialEvents") == "true") add("list");
  if (status == switching_protocols || (status == created && request.method == http::Method::patch))
    add("create");
  return all;
}

}  // namespace v0
}  // namespace evenkeel
