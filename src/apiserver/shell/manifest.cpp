// SPDX-License-Identifier: Apache-2.0
#include "apiserver/shell/manifest.hpp"

#include <algorithm>
#include <utility>

#include <evenkeel/base/error.hpp>

#include "apiserver/text/yaml_document.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

// Splits a YAML stream into documents: any line that starts with "---" is a separator.
std::vector<std::string_view> documents(std::string_view stream) {
  std::vector<std::string_view> found;
  std::size_t start = 0;
  for (std::size_t line = 0; line < stream.size();) {
    const std::size_t next = std::min(stream.find('\n', line), stream.size() - 1) + 1;
    const std::string_view mark = stream.substr(line, next - line);
    if (mark.starts_with("---") && mark.find_first_not_of(" \t\r\n", 3) == std::string_view::npos) {
      found.push_back(stream.substr(start, line - start));
      start = next;
    }
    line = next;
  }
  found.push_back(stream.substr(start));
  return found;
}

// Returns the path of the objects of a kind, from discovery.
std::string collection_of(const Asks& ask, const Json& object) {
  const std::string version = object["apiVersion"].string_or("");
  const std::string root = (version.find('/') == std::string::npos ? "/api/" : "/apis/") + version;
  const http::Response found = ask(json_request(http::Method::get, root));
  if (found.status == 200) {
    const Json resources = Json::parse(found.body);
    for (std::size_t at = 0; at < resources["resources"].size(); ++at) {
      const Json& resource = resources["resources"][at];
      const std::string plural = resource["name"].string_or("");
      if (resource["kind"] != object["kind"] || plural.find('/') != std::string::npos) continue;
      if (!resource["namespaced"].bool_or(false)) return root + "/" + plural;
      return root + "/namespaces/" + object.at({"metadata", "namespace"}).string_or("default") + "/" + plural;
    }
  }
  throw Error(object_text(object) + ": the server knows no kind " + object["kind"].string_or("\"\"") +
              " in \"" + version + "\"");
}

}  // namespace

std::vector<Json> manifest_objects(std::string_view manifest) {
  std::vector<Json> objects;
  for (const std::string_view text : documents(manifest)) {
    Json document = parse_yaml_whole(text);
    if (document.is_null()) continue;
    if (!document["kind"].string_or("").ends_with("List")) {
      objects.push_back(std::move(document));
      continue;
    }
    for (std::size_t at = 0; at < document["items"].size(); ++at) objects.push_back(document["items"][at]);
  }
  return objects;
}

std::string object_text(const Json& object) {
  return object["kind"].string_or("object") + "/" + object.at({"metadata", "name"}).string_or("");
}

http::Request json_request(http::Method method, std::string target, std::string body) {
  return {.method = method,
          .target = std::move(target),
          .headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}},
          .body = std::move(body)};
}

void create_object(const Asks& ask, const Json& object) {
  const http::Response answer =
      ask(json_request(http::Method::post, collection_of(ask, object), object.dump()));
  if (answer.status / 100 == 2) return;
  const Json body = Json::parse(answer.body, object_text(object));
  if (body["reason"].string_or("") == "AlreadyExists") return;
  throw Error(object_text(object) + ": " +
              body["message"].string_or("HTTP " + std::to_string(answer.status)));
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
