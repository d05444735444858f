// SPDX-License-Identifier: Apache-2.0
// A fixture that answers the calls of a conversion webhook: ships in two versions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "core_fixture.hpp"

namespace evenkeel::apiserver::tests::conversions {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

inline constexpr const char* json_type = "application/json";
inline constexpr const char* merge_type = "application/merge-patch+json";
inline constexpr const char* apply_type = "application/apply-patch+yaml";

/// The schemas of a ship: v1 has spec.crew, v2 has spec.people.count.
inline const std::string v1_spec =
    R"({"type":"object","properties":{"crew":{"type":"integer"},"port":{"type":"string"}}})";
inline const std::string v2_spec =
    R"({"type":"object","properties":{"people":{"type":"object","properties":{"count":{"type":"integer"}}},)"
    R"("port":{"type":"string"}}})";
inline const std::string hook = R"({"strategy":"Webhook","webhook":{"conversionReviewVersions":["v2","v1"],)"
                                R"("clientConfig":{"url":"https://127.0.0.1:9443/convert"}}})";

inline std::string version(const std::string& name, const std::string& spec, bool stored,
                           const std::string& replicas) {
  return R"({"name":")" + name + R"(","served":true,"storage":)" + (stored ? "true" : "false") +
         R"(,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":)" + spec +
         R"(,"status":{"type":"object","properties":{"crew":{"type":"integer"}}}}}},)"
         R"("subresources":{"status":{},"scale":{"specReplicasPath":")" +
         replicas +
         R"(","statusReplicasPath":".status.crew"}},"selectableFields":[{"jsonPath":".spec.port"})" +
         // A server refuses equal fields beside different schemas.
         (name == "v2" ? R"(,{"jsonPath":".spec.people.count"}]})" : "]}");
}

inline Json definition(const std::string& stored = "v1", const std::string& conversion = hook) {
  return Json::parse(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
                     R"("metadata":{"name":"ships.example.com"},"spec":{"group":"example.com",)"
                     R"("scope":"Namespaced","names":{"plural":"ships","singular":"ship","kind":"Ship",)"
                     R"("listKind":"ShipList"},"conversion":)" +
                     conversion + R"(,"versions":[)" + version("v1", v1_spec, stored == "v1", ".spec.crew") +
                     "," + version("v2", v2_spec, stored == "v2", ".spec.people.count") + "]}}");
}

inline Json new_ship(const std::string& name, int count) {
  Json out =
      Json::parse(R"({"apiVersion":"example.com/v2","kind":"Ship","metadata":{},"spec":{"people":{}}})");
  out["metadata"]["name"] = name;
  out["spec"]["people"]["count"] = count;
  return out;
}

/// Converts like the webhook of the definition.
inline Json convert(Json object, const std::string& wanted) {
  if (!object.contains("spec")) object["spec"] = Json::object();
  Json& spec = object["spec"];
  if (wanted == "example.com/v2") {
    const Json crew = std::as_const(spec)["crew"];
    spec.erase("crew");
    if (!crew.is_null()) spec["people"] = Json::object({{"count", crew}});
  } else {
    const Json count = std::as_const(spec).at({"people", "count"});
    spec.erase("people");
    if (!count.is_null()) spec["crew"] = count;
  }
  object["apiVersion"] = wanted;
  return object;
}

class ConversionWebhookTest : public CoreFixture {
 protected:
  using Change = std::function<void(Json& response)>;

  void SetUp() override { ASSERT_EQ(post(crds, definition()).status, 201); }

  /// Sends a request and answers the calls that it needs.
  CoreReply ask(http::Method method, const std::string& target, const std::string& body = "",
                const std::string& type = json_type) {
    const auto answer = [this](const WebhookCall& call) {
      if (meanwhile) std::exchange(meanwhile, nullptr)();
      if (always) always();
      return answer_to(call);
    };
    return send_answering(answer, method, target, body, type);
  }
  CoreReply ask(const std::string& target) { return ask(http::Method::get, target); }

  /// Answers the calls of running watches.
  void answer_watches() {
    for (const WatchWebhookCall& each : core.take_webhook_calls())
      core.on_webhook_answer(each.id, answer_to(each.call));
  }

  /// Lets the calls of running watches be made again, once a second.
  void retry(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      tick_after(1s);
      answer_watches();
      answer_watches();  // what is divided is asked at once
    }
  }
  /// Lets the webhook refuse every review with this object.
  void refuse(const std::string& name) {
    change = [this, name](Json& response) {
      const Json request = asked_for();
      for (const Json& object : request["objects"].as_array())
        if (object["metadata"]["name"] == Json(name))
          response["result"] = Json::parse(R"({"status":"Failure","message":"no way"})");
    };
  }

  WebhookAnswer answer_to(const WebhookCall& call) {
    const Json review = Json::parse(call.body);
    const Json& request = review["request"];
    std::string told = request["desiredAPIVersion"].as_string().substr(12) + ":";
    for (const Json& object : request["objects"].as_array())
      told += " " + object["metadata"]["name"].string_or("");
    asked.push_back(std::move(told));
    calls.push_back(call);
    if (raw) return *raw;
    Json response =
        Json::object({{"uid", request["uid"]}, {"result", Json::object({{"status", "Success"}})}});
    response["convertedObjects"] = Json::array();
    for (const Json& object : request["objects"].as_array())
      response["convertedObjects"].push_back(convert(object, request["desiredAPIVersion"].as_string()));
    if (change) change(response);
    return {.status = 200,
            .body = Json::object({{"apiVersion", review["apiVersion"]},
                                  {"kind", "ConversionReview"},
                                  {"response", std::move(response)}})
                        .dump()};
  }
  Json asked_for() const { return Json::parse(calls.back().body)["request"]; }
  /// Stores a ship in v1, for which nobody is asked.
  void store(const std::string& name, int crew, const std::string& port = "") {
    Json object = ship(name, crew);
    if (!port.empty()) object["spec"]["port"] = port;
    ASSERT_EQ(ask(http::Method::post, ships, object.dump()).status, 201);
    ASSERT_THAT(std::exchange(asked, {}), IsEmpty());
  }
  /// Returns the message of GET of a ship in v2 after a change of the response.
  std::string refusal(Change wrong) {
    change = std::move(wrong);
    const CoreReply reply = ask(v2 + "/a");
    EXPECT_EQ(reply.status, 500) << reply.text;
    EXPECT_EQ(reply.reason(), "");
    return reply.message();
  }
  std::string applied(const std::string& version_path, const std::string& manager, const Json& object,
                      const std::string& more = "") {
    const CoreReply reply =
        ask(http::Method::patch,
            version_path + "/" + object["metadata"]["name"].as_string() + "?fieldManager=" + manager + more,
            object.dump(), apply_type);
    return reply.status < 300 ? reply.body["spec"].dump() : reply.message();
  }

  const std::string v2 = "/apis/example.com/v2/namespaces/default/ships";
  std::vector<std::string> asked = {};  ///< "v2: a b"
  std::vector<WebhookCall> calls = {};
  std::optional<WebhookAnswer> raw = {};
  Change change = {};
  std::function<void()> meanwhile = {};  ///< Runs while the first webhook works.
  std::function<void()> always = {};     ///< Runs while each works.
  int crew = 1;
};

}  // namespace evenkeel::apiserver::tests::conversions
