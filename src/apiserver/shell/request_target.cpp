// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/request_target.hpp"

#include <utility>

#include "apiserver/query/rest_path.hpp"
#include "client/request/request_verb.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

std::string plain_verb(http::Method method) {
  std::string verb(http::method_name(method));
  for (char& letter : verb) letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
  return verb;
}

// Parses "/v3/kv/txn": resource kv, subresource txn.
RequestTarget etcd_target(const std::vector<std::string>& segments) {
  return {.verb = segments[1] == "watch" ? "watch" : "create",
          .resource = segments[1],
          .subresource = segments.size() > 2 ? segments[2] : std::string()};
}

}  // namespace

RequestTarget request_target(const http::Request& request) {
  const Target target = parse_target(request.target);
  if (target.segments.size() > 1 && target.segments[0] == "v3") return etcd_target(target.segments);
  std::optional<ResourcePath> path = resource_path(target.segments);
  if (!path) return {.verb = plain_verb(request.method)};
  std::string verb(
      evenkeel::detail::request_verb(request.method, !path->name.empty(), target.query.flag("watch")));
  const bool cached =
      verb == "watch" || ((verb == "get" || verb == "list") && !target.query.get("resourceVersion").empty() &&
                          target.query.get("resourceVersionMatch") != "Exact");
  return {.verb = std::move(verb),
          .group = std::move(path->group),
          .resource = std::move(path->resource),
          .subresource = std::move(path->subresource),
          .namespace_ = std::move(path->namespace_),
          .name = std::move(path->name),
          .cached = cached};
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
