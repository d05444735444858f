// SPDX-License-Identifier: Apache-2.0
// Requests to the embedded API server. An input is a list of requests, each with a line for method, media
// type and target and lines for its body; a line with a dot ends it.
#include <array>
#include <chrono>
#include <memory>

#include <evenkeel/api/json.hpp>
#include <evenkeel/apiserver/api_server_core.hpp>

#include "fuzz.hpp"
#include "targets.hpp"

namespace evenkeel::fuzz {
namespace {

constexpr std::array<http::Method, 5> methods = {http::Method::get, http::Method::post, http::Method::put,
                                                 http::Method::patch, http::Method::delete_};
constexpr std::array<const char*, 7> types = {"application/json",
                                              "application/yaml",
                                              "application/vnd.kubernetes.protobuf",
                                              "application/merge-patch+json",
                                              "application/json-patch+json",
                                              "application/strategic-merge-patch+json",
                                              "application/apply-patch+yaml"};
constexpr std::string_view crd = R"~({
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "ships.example.com"},
  "spec": {"group": "example.com", "scope": "Namespaced",
    "names": {"plural": "ships", "singular": "ship", "kind": "Ship", "listKind": "ShipList"},
    "versions": [{"name": "v1", "served": true, "storage": true,
      "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
        "properties": {"crew": {"type": "integer", "default": 1}, "name": {"type": "string", "pattern": "^[a-z]+$"},
          "list": {"type": "array", "items": {"type": "string"}}},
        "x-kubernetes-validations": [{"rule": "!has(self.list) || self.list.all(x, x.startsWith('a'))"}]}}}},
      "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.crew",
        "statusReplicasPath": ".status.crew"}}}]}})~";

/// The first two bytes choose method and media type; the target follows.
http::Request request_of(Reader& reader) {
  Reader line(reader.until('\n'));
  http::Request request;
  request.method = methods.at(line.below(methods.size()));
  const char* const type = types.at(line.below(types.size()));
  request.target = "/" + std::string(line.rest());
  request.headers.set("Accept", "application/json");
  for (std::string_view part = reader.until('\n'); part != "." && !(part.empty() && reader.done());
       part = reader.until('\n'))
    request.body += std::string(part) + "\n";
  if (!request.body.empty()) request.headers.set("Content-Type", type);
  return request;
}

}  // namespace

void api_server(std::string_view input) {
  apiserver::ApiServerCore core({.history = 100, .max_body_bytes = 64U << 10U});
  WallTime now{std::chrono::seconds(1'770'000'000)};
  core.handle({.method = http::Method::post,
               .target = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
               .headers = {{"Content-Type", "application/json"}},
               .body = std::string(crd)},
              now);
  Reader reader(input);
  for (int i = 0; i < 20 && !reader.done(); ++i) {
    const apiserver::Answer answer = core.handle(request_of(reader), now);
    check(answer.response.status >= 200 && answer.response.status < 600, "an answer has a status");
    check(answer.response.status != 500 || answer.response.body.find("panic") == std::string::npos,
          "no request is the server's fault");
    if (answer.response.body.starts_with('{')) Json::parse(answer.response.body);
    if (answer.watch) static_cast<void>(core.read_watch(*answer.watch));
    now += std::chrono::seconds(1);
    core.on_timeout(now);
  }
}

}  // namespace evenkeel::fuzz
