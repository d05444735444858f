// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string_view>

#include <evenkeel/api/patch.hpp>
#include <evenkeel/client/rest_request.hpp>

#include "base/shown_text.hpp"
#include "base/utf8.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

constexpr std::size_t longest_shown = 253;  // bytes of the longest name of an object

/// Returns true if the text has a control character, or is not UTF-8.
bool has_control(std::string_view text) {
  while (!text.empty()) {
    const auto [bytes, hidden] = detail::first_character(text);
    if (hidden && (bytes == 1 || detail::is_control(detail::utf8_code(text.substr(0, bytes))))) return true;
    text.remove_prefix(bytes);
  }
  return false;
}

/// Returns "/segment". Rejects the same names as client-go's IsValidPathSegmentName, which the server
/// rejects, too, and names with control characters: they come from somebody else's text, and would end up in
/// the logs of all servers on the way.
std::string segment(const std::string& text, const char* what) {
  if (text.empty() || text == "." || text == ".." || text.find_first_of("/%") != std::string::npos ||
      has_control(text)) {
    throw std::invalid_argument(std::string(what) + " \"" + detail::shown_text(text, longest_shown) +
                                "\" cannot be part of a path");
  }
  return "/" + http::percent_encode(text);
}

std::string verb_of(const RestRequest& request) {
  switch (request.method) {
    case http::Method::get: {
      bool watches = false;
      bool lists = false;  // a streaming list is sent as a watch
      for (const auto& [name, value] : request.query) {
        watches = watches || (name == "watch" && value != "false" && value != "0");
        lists = lists || (name == "sendInitialEvents" && value == "true");
      }
      if (watches && !lists) return "watch";
      return request.name.empty() ? "list" : "get";
    }
    case http::Method::post:
      return "create";
    case http::Method::put:
      return "update";
    case http::Method::patch:
      return request.content_type == content_type(PatchType::apply) ? "apply" : "patch";
    case http::Method::delete_:
      return request.name.empty() ? "delete all" : "delete";
  }
  return "get";
}

std::string path_of(const RestRequest& request) {
  if (!request.path.empty()) return request.path;
  const ResourceId& resource = request.resource;
  std::string target = resource.group.empty() ? "/api" : "/apis" + segment(resource.group, "group");
  target += segment(resource.version, "version");
  if (!request.namespace_.empty() && resource.scope == Scope::namespaced) {
    target += "/namespaces" + segment(request.namespace_, "namespace");
  }
  target += segment(resource.plural, "plural");
  if (!request.name.empty()) target += segment(request.name, "name");
  if (!request.subresource.empty()) {
    if (request.name.empty())
      throw std::invalid_argument("subresource " + request.subresource + " of an object without a name");
    target += segment(request.subresource, "subresource");
  }
  return target;
}

}  // namespace

std::string target_of(const RestRequest& request) {
  std::string target = path_of(request);
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    target += separator;
    target += http::percent_encode(name) + "=" + http::percent_encode(value);
    separator = '&';
  }
  return target;
}

std::string describe(const RestRequest& request) {
  if (!request.path.empty()) return std::string(http::method_name(request.method)) + " " + request.path;
  std::string text = verb_of(request) + " " +
                     (request.resource.kind.empty() ? request.resource.plural : request.resource.kind);
  if (!request.subresource.empty()) text += "/" + request.subresource;
  if (!request.name.empty()) return text + " " + ObjectKey{request.namespace_, request.name}.str();
  if (!request.namespace_.empty()) text += " in " + request.namespace_;
  return text;
}

std::string accept_metadata(bool list) {
  return std::string("application/json;as=PartialObjectMetadata") + (list ? "List" : "") +
         ";g=meta.k8s.io;v=v1,application/json";
}

std::string object_path(const RestRequest& request) {
  std::string path = request.resource.plural;
  for (const std::string& part : {request.namespace_, request.name}) {
    if (!part.empty()) path += "/" + part;
  }
  return path;
}

}  // namespace v0
}  // namespace evenkeel
