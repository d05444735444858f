// SPDX-License-Identifier: Apache-2.0
#include "testing/request_target.hpp"

#include <utility>

#include "testing/rest_path.hpp"

namespace evenkeel::inline v0::testing {
namespace {

std::string verb_of(http::Method method, bool named, bool watch) {
  switch (method) {
    case http::Method::get:
      return watch ? "watch" : named ? "get" : "list";
    case http::Method::post:
      return "create";
    case http::Method::put:
      return "update";
    case http::Method::patch:
      return "patch";
    case http::Method::delete_:
      return named ? "delete" : "deletecollection";
  }
  return {};
}

std::string plain_verb(http::Method method) {
  std::string verb(http::method_name(method));
  for (char& letter : verb) letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
  return verb;
}

}  // namespace

RequestTarget request_target(const http::Request& request) {
  const Target target = parse_target(request.target);
  std::optional<ResourcePath> path = resource_path(target.segments);
  if (!path) return {.verb = plain_verb(request.method)};
  std::string verb = verb_of(request.method, !path->name.empty(), target.query.flag("watch"));
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

}  // namespace evenkeel::inline v0::testing
