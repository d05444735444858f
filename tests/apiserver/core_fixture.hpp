// SPDX-License-Identifier: Apache-2.0
// A fixture that sends requests to an API server core like a client, with a manual clock.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/apiserver/api_server_core.hpp>

namespace evenkeel::apiserver::tests {

struct CoreReply {
  int status = 0;
  Json body = {};
  std::string text = {};
  http::Headers headers = {};
  std::optional<WatchId> watch = {};

  const Json& operator[](std::string_view name) const { return body[name]; }
  std::string reason() const { return body["reason"].string_or(""); }
  std::string message() const { return body["message"].string_or(""); }
  std::string version() const { return body.at({"metadata", "resourceVersion"}).string_or(""); }
  std::string uid() const { return body.at({"metadata", "uid"}).string_or(""); }
};

class CoreFixture : public ::testing::Test {
 protected:
  explicit CoreFixture(ApiServerCoreOptions options = {}) : core(std::move(options)) {}

  CoreReply send(http::Method method, const std::string& target, const std::string& body = "",
                 const std::string& type = "application/json", const std::string& accept = "application/json",
                 const CacheLag& lag = {}) {
    http::Request request{.method = method, .target = target, .headers = {{"Accept", accept}}, .body = body};
    if (!body.empty()) request.headers.set("Content-Type", type);
    return reply_of(core.handle(request, now, caller, lag));
  }
  /// Sends a request and answers the webhook calls that it needs by `answer_to`.
  CoreReply send_answering(const std::function<WebhookAnswer(const WebhookCall&)>& answer_to,
                           http::Method method, const std::string& target, const std::string& body = "",
                           const std::string& type = "application/json") {
    http::Request request{.method = method, .target = target, .body = body};
    if (!body.empty()) request.headers.set("Content-Type", type);
    WebhookProgress progress;
    for (;;) {
      Answer answer = core.handle(request, now, caller, {}, progress);
      if (!answer.call) return reply_of(std::move(answer));
      progress = answer.progress;
      progress.add(*answer.call, answer_to(*answer.call));
    }
  }
  CoreReply get(const std::string& target, const std::string& accept = "application/json") {
    return send(http::Method::get, target, "", "", accept);
  }
  CoreReply post(const std::string& target, const Json& body) {
    return send(http::Method::post, target, body.dump());
  }
  CoreReply put(const std::string& target, const Json& body) {
    return send(http::Method::put, target, body.dump());
  }
  CoreReply remove(const std::string& target, const std::string& body = "") {
    return send(http::Method::delete_, target, body);
  }
  CoreReply merge(const std::string& target, const std::string& body) {
    return send(http::Method::patch, target, body, "application/merge-patch+json");
  }
  CoreReply apply(const std::string& target, const std::string& body) {
    return send(http::Method::patch, target, body, "application/apply-patch+yaml");
  }

  static CoreReply reply_of(Answer answer) {
    CoreReply reply{.status = answer.response.status,
                    .body = {},
                    .text = std::move(answer.response.body),
                    .headers = std::move(answer.response.headers),
                    .watch = answer.watch};
    if (!reply.text.empty() && (reply.text.front() == '{' || reply.text.front() == '['))
      reply.body = Json::parse(reply.text);
    return reply;
  }

  /// Returns the events of a watch since the last call, including BOOKMARKs.
  std::vector<Json> events(const CoreReply& watch) {
    std::vector<Json> out;
    WatchOutput output = core.read_watch(watch.watch.value());
    ended = output.ended;
    std::string_view rest = output.bytes;
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      out.push_back(Json::parse(rest.substr(0, end)));
      rest.remove_prefix(end + 1);
    }
    return out;
  }
  /// Returns these events as "ADDED a, DELETED b".
  std::string seen(const CoreReply& watch) {
    std::string out;
    for (const Json& event : events(watch)) {
      if (!out.empty()) out += ", ";
      out += event["type"].as_string();
      const std::string name = event.at({"object", "metadata", "name"}).string_or("");
      if (!name.empty()) out += " " + name;
    }
    return out;
  }

  static Json config_map(const std::string& name, const std::string& value = "v") {
    return Json::object({{"apiVersion", "v1"},
                         {"kind", "ConfigMap"},
                         {"metadata", Json::object({{"name", name}})},
                         {"data", Json::object({{"k", value}})}});
  }
  /// Installs example.com/v1 Ship (namespaced, status and scale), like `kubectl create -f`.
  void install_ships(const std::string& served =
                         R"({"name":"v1","served":true,"storage":true,"schema":)"
                         R"({"openAPIV3Schema":{"type":"object","properties":{)"
                         R"("spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true,)"
                         R"("properties":{"port":{"type":"string"}}},)"
                         R"("status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}},)"
                         R"("subresources":{"status":{},"scale":{"specReplicasPath":".spec.crew",)"
                         R"("statusReplicasPath":".status.crew"}},)"
                         R"("selectableFields":[{"jsonPath":".spec.port"}]})") {
    const CoreReply reply = post(
        crds, Json::parse(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
                          R"("metadata":{"name":"ships.example.com"},"spec":{"group":"example.com",)"
                          R"("scope":"Namespaced","names":{"plural":"ships","singular":"ship","kind":"Ship",)"
                          R"("listKind":"ShipList","shortNames":["sh"]},"versions":[)" +
                          served + "]}}"));
    ASSERT_EQ(reply.status, 201) << reply.text;
  }
  static Json ship(const std::string& name, int crew = 1) {
    return Json::object({{"apiVersion", "example.com/v1"},
                         {"kind", "Ship"},
                         {"metadata", Json::object({{"name", name}})},
                         {"spec", Json::object({{"crew", crew}})}});
  }

  void tick_after(std::chrono::seconds time) {
    now += time;
    core.on_timeout(now);
  }

  const std::string maps = "/api/v1/namespaces/default/configmaps";
  const std::string ships = "/apis/example.com/v1/namespaces/default/ships";
  const std::string crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  ApiServerCore core;
  Caller caller = {};  ///< Caller of the next requests.
  WallTime now = WallTime(std::chrono::seconds(1'770'000'000));
  bool ended = false;
};

}  // namespace evenkeel::apiserver::tests
