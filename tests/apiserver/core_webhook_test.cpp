// SPDX-License-Identifier: Apache-2.0
// Admission by webhooks in the core: who is asked, with which review, and what comes of the answers.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <evenkeel/api/bytes.hpp>

#include "core_fixture.hpp"

namespace evenkeel::apiserver::tests::webhooks {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string configurations = "/apis/admissionregistration.k8s.io/v1/";

Json allow() {
  return Json::object({{"allowed", true}});
}
Json patch(const std::string& operations) {
  Json out = allow();
  out["patchType"] = "JSONPatch";
  out["patch"] = Bytes(operations).base64();
  return out;
}
Json deny(const std::string& status) {
  return Json::object({{"allowed", false}, {"status", Json::parse(status)}});
}

class WebhookAdmissionTest : public CoreFixture {
 protected:
  using Hook = std::function<Json(const Json& request)>;

  /// Adds a configuration with one webhook, which answers with `hook`. `more` are further members of it.
  void add(const std::string& kind, const std::string& name, Hook hook, const std::string& more = "{}") {
    Json entry = Json::parse(
        R"({"clientConfig":{"url":"https://127.0.0.1:9443/x"},"sideEffects":"None","admissionReviewVersions":["v1"],)"
        R"("rules":[{"apiGroups":["*"],"apiVersions":["*"],"resources":["configmaps","ships"],)"
        R"("operations":["CREATE","UPDATE","DELETE"]}]})");
    entry["name"] = name + ".example.com";
    const Json members = Json::parse(more);
    for (const auto& [key, value] : members.as_object()) entry[key] = value;
    hooks[name + ".example.com"] = std::move(hook);
    const CoreReply reply = CoreFixture::post(configurations + kind + "webhookconfigurations",
                                              Json::object({{"metadata", Json::object({{"name", name}})},
                                                            {"webhooks", Json::array({std::move(entry)})}}));
    ASSERT_EQ(reply.status, 201) << reply.text;
  }
  void mutating(const std::string& name, Hook hook, const std::string& more = "{}") {
    add("mutating", name, std::move(hook), more);
  }
  void validating(const std::string& name, Hook hook, const std::string& more = "{}") {
    add("validating", name, std::move(hook), more);
  }

  /// Sends a request and answers the calls of its webhooks.
  CoreReply write(http::Method method, const std::string& target, const std::string& body = "",
                  const std::string& type = "application/json") {
    const auto answer = [this](const WebhookCall& call) {
      if (meanwhile) std::exchange(meanwhile, nullptr)();
      return answer_to(call);
    };
    return send_answering(answer, method, target, body, type);
  }
  WebhookAnswer answer_to(const WebhookCall& call) {
    asked.push_back(call.webhook.substr(0, call.webhook.find('.')));
    calls.push_back(call);
    if (raw) return *raw;
    const Json review = Json::parse(call.body);
    Json response = hooks.at(call.webhook)(review["request"]);
    response["uid"] = review.at({"request", "uid"});
    const Json body = Json::object(
        {{"apiVersion", review["apiVersion"]}, {"kind", "AdmissionReview"}, {"response", response}});
    return {.status = 200, .body = body.dump()};
  }
  CoreReply create(const std::string& name = "a") {
    return write(http::Method::post, maps, config_map(name).dump());
  }
  /// Returns the AdmissionRequest of the last call.
  Json request() const { return Json::parse(calls.back().body)["request"]; }

  std::map<std::string, Hook> hooks = {};
  std::vector<std::string> asked = {};  ///< The names of the webhooks that were called.
  std::vector<WebhookCall> calls = {};
  std::optional<WebhookAnswer> raw = {};
  std::function<void()> meanwhile = {};  ///< Runs while the first webhook works.
};

TEST_F(WebhookAdmissionTest, StoresWhatAMutatingWebhookMakesOfAnObject) {
  mutating("m", [](const Json&) { return patch(R"([{"op":"add","path":"/data/more","value":"w"}])"); });
  const CoreReply reply = create();
  EXPECT_EQ(reply.status, 201) << reply.text;
  EXPECT_EQ(reply["data"], Json::parse(R"({"k":"v","more":"w"})"));
  EXPECT_EQ(get(maps + "/a")["data"], reply["data"]);
}

TEST_F(WebhookAdmissionTest, AsksWithTheReviewOfARealServer) {
  mutating("m", [](const Json&) { return allow(); });
  caller = {.user = "ada", .groups = {"dev"}, .uid = "7", .extra = {{"scopes", {"view"}}}};
  ASSERT_EQ(write(http::Method::post, maps + "?fieldManager=me", config_map("a").dump()).status, 201);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].url, "https://127.0.0.1:9443/x?timeout=10s");
  EXPECT_EQ(calls[0].timeout, 10s);
  const Json review = Json::parse(calls[0].body);
  EXPECT_EQ(review["apiVersion"], Json("admission.k8s.io/v1"));
  Json seen = review["request"];
  EXPECT_FALSE(seen["uid"].as_string().empty());
  seen.erase("uid");
  seen["object"]["metadata"].erase("managedFields");
  EXPECT_EQ(
      seen,
      Json::parse(
          R"({"kind":{"group":"","version":"v1","kind":"ConfigMap"},"resource":{"group":"","version":"v1","resource":"configmaps"},)"
          R"("requestKind":{"group":"","version":"v1","kind":"ConfigMap"},)"
          R"("requestResource":{"group":"","version":"v1","resource":"configmaps"},"name":"a","namespace":"default",)"
          R"("operation":"CREATE","userInfo":{"username":"ada","uid":"7","groups":["dev"],"extra":{"scopes":["view"]}},)"
          R"("object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"},"data":{"k":"v"}},)"
          R"("oldObject":null,"dryRun":false,)"
          R"("options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1","fieldManager":"me"}})"))
      << seen.dump();
}

TEST_F(WebhookAdmissionTest, AsksAboutUpdatesPatchesAndDeletionsWithTheOldObject) {
  ASSERT_EQ(create().status, 201);
  validating("v", [](const Json&) { return allow(); });
  ASSERT_EQ(write(http::Method::put, maps + "/a", config_map("a", "w").dump()).status, 200);
  EXPECT_EQ(request()["operation"], Json("UPDATE"));
  EXPECT_EQ(request().at({"oldObject", "data", "k"}), Json("v"));
  EXPECT_EQ(request().at({"object", "data", "k"}), Json("w"));
  ASSERT_EQ(
      write(http::Method::patch, maps + "/a", R"({"data":{"k":"x"}})", "application/merge-patch+json").status,
      200);
  EXPECT_EQ(request().at({"options", "kind"}), Json("UpdateOptions"));
  EXPECT_EQ(request().at({"object", "data", "k"}), Json("x"));
  ASSERT_EQ(write(http::Method::delete_, maps + "/a", R"({"propagationPolicy":"Background"})").status, 200);
  EXPECT_EQ(request()["operation"], Json("DELETE"));
  EXPECT_EQ(request()["object"], Json());
  EXPECT_EQ(request().at({"oldObject", "data", "k"}), Json("x"));
  EXPECT_EQ(
      request()["options"],
      Json::parse(
          R"({"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","propagationPolicy":"Background"})"));
}

TEST_F(WebhookAdmissionTest, DeniesWithTheWordsOfTheWebhook) {
  Json answer = deny(R"({"message":"no","reason":"Forbidden","code":403})");
  validating("v", [&](const Json&) { return answer; });
  CoreReply reply = create();
  EXPECT_EQ(reply.status, 403);
  EXPECT_EQ(reply.message(), R"(admission webhook "v.example.com" denied the request: no)");
  EXPECT_EQ(reply.reason(), "Forbidden");
  answer = deny(R"({"reason":"Because"})");
  reply = create();
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.message(), R"(admission webhook "v.example.com" denied the request: Because)");
  answer = deny("{}");
  EXPECT_EQ(create().message(),
            R"(admission webhook "v.example.com" denied the request without explanation)");
  EXPECT_EQ(get(maps + "/a").status, 404);
}

TEST_F(WebhookAdmissionTest, FailsOrIgnoresAFailedCallAsItsPolicySays) {
  validating("v", [](const Json&) { return allow(); });
  raw = WebhookAnswer{.error = R"(Post "https://127.0.0.1:9443/x?timeout=10s": connection refused)"};
  CoreReply reply = create();
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(reply.reason(), "InternalError");
  EXPECT_EQ(reply.message(),
            R"(Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: )"
            R"(Post "https://127.0.0.1:9443/x?timeout=10s": connection refused)");
  ASSERT_EQ(CoreFixture::remove(configurations + "validatingwebhookconfigurations/v").status, 200);
  validating(
      "v", [](const Json&) { return allow(); }, R"({"failurePolicy":"Ignore"})");
  mutating(
      "m", [](const Json&) { return allow(); }, R"({"failurePolicy":"Ignore"})");
  EXPECT_EQ(create().status, 201);
}

struct InvalidResponse {
  const char* review;
  const char* problem;
};
class InvalidResponseTest : public WebhookAdmissionTest,
                            public ::testing::WithParamInterface<InvalidResponse> {};

TEST_P(InvalidResponseTest, FailsTheCallWithAReason) {
  validating("v", [](const Json&) { return allow(); });
  Answer first = core.handle({.method = http::Method::post,
                              .target = maps,
                              .headers = {{"Content-Type", "application/json"}},
                              .body = config_map("a").dump()},
                             now);
  const std::string uid = Json::parse(first.call.value().body).at({"request", "uid"}).as_string();
  std::string review = GetParam().review;
  if (const auto at = review.find("UID"); at != std::string::npos) review.replace(at, 3, uid);
  first.progress.add(*first.call, {.status = 200, .body = review});
  const Answer answer = core.handle({.method = http::Method::post,
                                     .target = maps,
                                     .headers = {{"Content-Type", "application/json"}},
                                     .body = config_map("a").dump()},
                                    now, {}, {}, first.progress);
  ASSERT_FALSE(answer.call);
  std::string message = Json::parse(answer.response.body)["message"].string_or("");
  if (const auto at = message.find(uid); at != std::string::npos) message.replace(at, uid.size(), "UID");
  EXPECT_EQ(message, std::string("Internal error occurred: failed calling webhook \"v.example.com\": ") +
                         GetParam().problem);
}

INSTANTIATE_TEST_SUITE_P(
    Reviews, InvalidResponseTest,
    ::testing::Values(
        InvalidResponse{R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})",
                        "received invalid webhook response: webhook response was absent"},
        InvalidResponse{R"({"apiVersion":"v1","kind":"Pod"})",
                        R"(failed to call webhook: no kind "Pod" is registered for version "v1")"},
        InvalidResponse{
            R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"x","allowed":true}})",
            "received invalid webhook response: expected response.uid=\"UID\", got \"x\""},
        InvalidResponse{
            R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"UID","allowed":true,"patch":"W10=","patchType":"JSONPatch"}})",
            "received invalid webhook response: validating webhook may not return response.patch"},
        InvalidResponse{
            R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"UID","allowed":true,"patchType":"JSONPatch"}})",
            "received invalid webhook response: validating webhook may not return response.patchType"}));

struct Match {
  const char* name;
  const char* more;  ///< Members of the webhook.
  bool matches;
};
class WebhookMatchTest : public WebhookAdmissionTest, public ::testing::WithParamInterface<Match> {};

TEST_P(WebhookMatchTest, CallsTheWebhookForWhatItSelects) {
  ASSERT_EQ(merge("/api/v1/namespaces/default", R"({"metadata":{"labels":{"team":"a"}}})").status, 200);
  validating(
      "v", [](const Json&) { return allow(); }, GetParam().more);
  Json object = config_map("a");
  object["metadata"]["labels"] = Json::object({{"app", "web"}});
  EXPECT_EQ(write(http::Method::post, maps, object.dump()).status, 201);
  EXPECT_EQ(asked.size(), GetParam().matches ? 1u : 0u);
}

#define RULE(groups, versions, resources, operations)                                                 \
  R"({"rules":[{"apiGroups":[)" groups R"(],"apiVersions":[)" versions R"(],"resources":[)" resources \
  R"(],"operations":[)" operations R"(]}]})"

INSTANTIATE_TEST_SUITE_P(
    Selections, WebhookMatchTest,
    ::testing::Values(
        Match{"Exactly", RULE(R"("")", R"("v1")", R"("configmaps")", R"("CREATE")"), true},
        Match{"AllResources", RULE(R"("*")", R"("*")", R"("*")", R"("*")"), true},
        Match{"AllWithSubresources", RULE(R"("*")", R"("*")", R"("*/*")", R"("*")"), true},
        Match{"OtherGroup", RULE(R"("apps")", R"("v1")", R"("configmaps")", R"("CREATE")"), false},
        Match{"OtherVersion", RULE(R"("")", R"("v2")", R"("configmaps")", R"("CREATE")"), false},
        Match{"OtherResource", RULE(R"("")", R"("v1")", R"("secrets")", R"("CREATE")"), false},
        Match{"Subresource", RULE(R"("")", R"("v1")", R"("configmaps/status")", R"("CREATE")"), false},
        Match{"OtherOperation", RULE(R"("")", R"("v1")", R"("configmaps")", R"("UPDATE","DELETE")"), false},
        Match{
            "ScopeOfNamespaces",
            R"({"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["CREATE"],"scope":"Namespaced"}]})",
            true},
        Match{
            "ScopeOfCluster",
            R"({"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["CREATE"],"scope":"Cluster"}]})",
            false},
        Match{"Namespace", R"({"namespaceSelector":{"matchLabels":{"team":"a"}}})", true},
        Match{"NamespaceByName",
              R"({"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"default"}}})", true},
        Match{
            "OtherNamespace",
            R"({"namespaceSelector":{"matchExpressions":[{"key":"team","operator":"NotIn","values":["a"]}]}})",
            false},
        Match{"Object", R"({"objectSelector":{"matchLabels":{"app":"web"}}})", true},
        Match{"OtherObject", R"({"objectSelector":{"matchLabels":{"app":"db"}}})", false},
        Match{
            "Condition",
            R"({"matchConditions":[{"name":"c","expression":"object.data.k == 'v' && request.userInfo.username != 'x'"}]})",
            true},
        Match{"OtherCondition",
              R"({"matchConditions":[{"name":"c","expression":"request.operation == 'DELETE'"}]})", false},
        Match{
            "OneFalseConditionAfterAnError",
            R"({"matchConditions":[{"name":"a","expression":"object.data.nix == 'v'"},{"name":"b","expression":"false"}]})",
            false},
        Match{
            "IgnoredError",
            R"({"failurePolicy":"Ignore","matchConditions":[{"name":"a","expression":"object.data.nix == 'v'"}]})",
            false}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(WebhookAdmissionTest, RefusesIfAConditionCannotBeEvaluated) {
  validating(
      "v", [](const Json&) { return allow(); },
      R"({"matchConditions":[{"name":"c","expression":"object.data.nix == 'v'"}]})");
  const CoreReply reply = create();
  EXPECT_EQ(reply.status, 403);
  EXPECT_EQ(
      reply.message(),
      R"(configmaps "a" is forbidden: expression 'object.data.nix == 'v'' resulted in error: no such key: nix)");
  EXPECT_THAT(asked, IsEmpty());
}

TEST_F(WebhookAdmissionTest, TellsWhyAnAnswerHasAStatusOfAnError) {
  validating("v", [](const Json&) { return allow(); });
  const std::string start =
      R"(Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: )";
  raw = WebhookAnswer{.status = 500, .body = "out of order\n", .content_type = "text/plain"};
  EXPECT_EQ(create().message(),
            start + R"(an error on the server ("out of order") has prevented the request from succeeding)");
  raw = WebhookAnswer{.status = 503, .body = "{}", .content_type = "application/json"};
  EXPECT_EQ(create().message(),
            start + R"(an error on the server ("unknown") has prevented the request from succeeding)");
  raw = WebhookAnswer{.status = 404};
  EXPECT_EQ(create().message(), start + "the server could not find the requested resource");
}

TEST_F(WebhookAdmissionTest, CallsThemByNameAndAgainAfterAChangeIfTheyWantThat) {
  const auto nothing = [](const Json&) { return allow(); };
  mutating("b", nothing, R"({"reinvocationPolicy":"IfNeeded"})");
  mutating("a", nothing, R"({"reinvocationPolicy":"IfNeeded"})");
  mutating("c", nothing);
  mutating(
      "d",
      [](const Json& request) {
        return request.at({"object", "data", "d"}).is_null()
                   ? patch(R"([{"op":"add","path":"/data/d","value":"1"}])")
                   : allow();
      },
      R"({"reinvocationPolicy":"IfNeeded"})");
  mutating("e", nothing, R"({"reinvocationPolicy":"IfNeeded"})");
  validating("z", nothing);
  ASSERT_EQ(create().status, 201);
  EXPECT_THAT(asked, ElementsAre("a", "b", "c", "d", "e", "a", "b", "z"))
      << "again: those before the change; not d itself";
}

TEST_F(WebhookAdmissionTest, ShowsAChangeOfTheSecondPassToThoseThatItHasNotReached) {
  const auto nothing = [](const Json&) { return allow(); };
  const auto set = [](const char* value) {
    return patch(std::string(R"([{"op":"add","path":"/data/x","value":")") + value + "\"}]");
  };
  const std::string again = R"({"reinvocationPolicy":"IfNeeded"})";
  mutating(
      "a",
      [&](const Json& request) {
        return request.at({"object", "data", "x"}) == Json("b") ? set("a") : allow();
      },
      again);
  mutating("b", [&](const Json&) { return set("b"); });
  mutating("c", nothing, again);
  const CoreReply reply = create();
  EXPECT_THAT(asked, ElementsAre("a", "b", "c", "a", "c"));
  EXPECT_EQ(reply.body.at({"data", "x"}), Json("a"));
}

TEST_F(WebhookAdmissionTest, AdmitsWhatWebhooksMakeOfAPod) {
  const std::string pods = "/api/v1/namespaces/default/pods";
  mutating(
      "m", [](const Json&) { return patch(R"([{"op":"remove","path":"/spec/tolerations"}])"); },
      R"({"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"],"operations":["CREATE"]}]})");
  const CoreReply reply =
      write(http::Method::post, pods,
            R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"nginx"}]}})");
  ASSERT_EQ(reply.status, 201) << reply.text;
  EXPECT_EQ(reply.body.at({"spec", "tolerations"}).size(), 2u) << "added again after the webhook";
}

TEST_F(WebhookAdmissionTest, GivesUpAnObjectThatChangesAllTheTime) {
  ASSERT_EQ(create().status, 201);
  mutating(
      "m", [](const Json&) { return allow(); },
      R"({"matchConditions":[{"name":"c","expression":"!has(object.data.other) || object.data.k == 'w'"}]})");
  int changes = 0;
  std::function<void()> change = [&] {
    const std::string body = R"({"data":{"other":")" + std::to_string(++changes) + "\"}}";
    ASSERT_EQ(merge(maps + "/a", body).status, 200);
    meanwhile = change;
  };
  meanwhile = change;
  const CoreReply reply =
      write(http::Method::patch, maps + "/a", R"({"data":{"k":"w"}})", "application/merge-patch+json");
  meanwhile = nullptr;
  EXPECT_EQ(reply.status, 504) << reply.text;
  EXPECT_EQ(changes, 1001);
}

TEST_F(WebhookAdmissionTest, AsksAboutLargeCollections) {
  for (int i = 0; i < 250; ++i) ASSERT_EQ(create("a" + std::to_string(i)).status, 201);
  validating("v", [](const Json&) { return allow(); });
  EXPECT_EQ(write(http::Method::delete_, maps).status, 200);
  EXPECT_EQ(asked.size(), 250u);
  EXPECT_TRUE(get(maps).body["items"].empty());
}

TEST_F(WebhookAdmissionTest, PassesWarningsOn) {
  Json answer = allow();
  answer["warnings"] = Json::array({"think twice"});
  validating("v", [&](const Json&) { return answer; });
  const CoreReply reply = create();
  ASSERT_NE(reply.headers.find("Warning"), nullptr);
  EXPECT_EQ(*reply.headers.find("Warning"), R"(299 - "think twice")");
}

TEST_F(WebhookAdmissionTest, SaysThatARunIsDry) {
  validating("v", [](const Json&) { return allow(); });
  ASSERT_EQ(write(http::Method::post, maps + "?dryRun=All", config_map("a").dump()).status, 201);
  EXPECT_EQ(request()["dryRun"], Json(true));
  EXPECT_EQ(request().at({"options", "dryRun"}), Json::array({"All"}));
  EXPECT_EQ(get(maps + "/a").status, 404);
}

TEST_F(WebhookAdmissionTest, ShowsGeneratedNamesToValidationOnly) {
  mutating("m", [](const Json&) { return patch(R"([{"op":"add","path":"/data/m","value":"1"}])"); });
  validating("v", [](const Json&) { return allow(); });
  const CoreReply reply =
      write(http::Method::post, maps, R"({"metadata":{"generateName":"g-"},"data":{"k":"v"}})");
  ASSERT_EQ(reply.status, 201);
  ASSERT_THAT(asked, ElementsAre("m", "v"));
  EXPECT_FALSE(Json::parse(calls[0].body)["request"].contains("name"));
  EXPECT_EQ(request()["name"], reply.body.at({"metadata", "name"}));
  EXPECT_THAT(request()["name"].as_string(), ::testing::StartsWith("g-"));
}

TEST_F(WebhookAdmissionTest, NamesTheServiceOfTheCall) {
  validating(
      "v", [](const Json&) { return allow(); },
      R"({"timeoutSeconds":3,"clientConfig":{"caBundle":"UEVN","service":{"name":"hooks","namespace":"team","path":"/v","port":8443}}})");
  ASSERT_EQ(create().status, 201);
  EXPECT_EQ(calls[0].url, "https://hooks.team.svc:8443/v?timeout=3s");
  EXPECT_EQ(calls[0].service_name, "hooks");
  EXPECT_EQ(calls[0].service_namespace, "team");
  EXPECT_EQ(calls[0].service_port, 8443);
  EXPECT_EQ(calls[0].ca_bundle, "PEM");
  EXPECT_EQ(calls[0].timeout, 3s);
}

TEST_F(WebhookAdmissionTest, AsksAgainIfTheObjectChangedMeanwhile) {
  ASSERT_EQ(create().status, 201);
  mutating("m", [](const Json&) { return allow(); });
  const auto change = [this] {
    ASSERT_EQ(
        write(http::Method::patch, maps + "/a", R"({"data":{"other":"x"}})", "application/merge-patch+json")
            .status,
        200);
  };
  meanwhile = change;
  const CoreReply patched =
      write(http::Method::patch, maps + "/a", R"({"data":{"k":"w"}})", "application/merge-patch+json");
  EXPECT_EQ(patched.status, 200) << patched.text;
  EXPECT_EQ(get(maps + "/a")["data"], Json::parse(R"({"k":"w","other":"x"})"));
  EXPECT_EQ(calls.size(), 3u) << "the patch twice, and the other write once";
  EXPECT_EQ(request().at({"oldObject", "data", "other"}), Json("x"));

  Json object = get(maps + "/a").body;
  object["data"]["k"] = "y";
  meanwhile = [this] {
    ASSERT_EQ(
        write(http::Method::patch, maps + "/a", R"({"data":{"other":"z"}})", "application/merge-patch+json")
            .status,
        200);
  };
  EXPECT_EQ(write(http::Method::put, maps + "/a", object.dump()).status, 409) << "it names a version";
  meanwhile = [this] { ASSERT_EQ(write(http::Method::delete_, maps + "/a").status, 200); };
  EXPECT_EQ(write(http::Method::put, maps + "/a", config_map("a", "n").dump()).status, 404);
}

TEST_F(WebhookAdmissionTest, ChangesNothingWhileAWebhookWorks) {
  mutating("m", [](const Json&) { return allow(); });
  meanwhile = [this] { EXPECT_EQ(get(maps + "/a").status, 404); };
  const CoreReply reply = create();
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(get(maps + "/a").uid(), reply.uid());
}

TEST_F(WebhookAdmissionTest, RefusesPatchesThatSpoilTheObject) {
  std::string operations = R"([{"op":"replace","path":"/data/k","value":{"a":1}}])";
  mutating("m", [&](const Json&) { return patch(operations); });
  EXPECT_EQ(create().status, 500);
  operations = R"([{"op":"remove","path":"/data/nix"}])";
  EXPECT_EQ(create().status, 500);
  operations = "[{";
  EXPECT_EQ(create().status, 500);
  operations = R"([{"op":"replace","path":"/metadata/labels","value":{"-":"bad"}}])";
  EXPECT_EQ(create().status, 422) << "a replacement adds what is not there, as in a real server";
  operations = R"([{"op":"add","path":"/metadata/labels","value":{"-":"bad"}}])";
  EXPECT_EQ(create().status, 422) << "what webhooks make is validated";
  operations = R"([{"op":"add","path":"/metadata/uid","value":"mine"}])";
  const CoreReply reply = create();
  EXPECT_EQ(reply.status, 201);
  EXPECT_NE(reply.uid(), "mine");
}

TEST_F(WebhookAdmissionTest, AsksAboutEachObjectOfACollection) {
  for (const char* name : {"a", "b"}) ASSERT_EQ(create(name).status, 201);
  validating("v", [](const Json& request) {
    return request.at({"oldObject", "metadata", "name"}) == Json("b") ? deny(R"({"message":"keep b"})")
                                                                      : allow();
  });
  EXPECT_EQ(write(http::Method::delete_, maps).message(),
            R"(admission webhook "v.example.com" denied the request: keep b)");
  EXPECT_EQ(get(maps + "/a").status, 200) << "nothing is deleted before all are admitted";
}

TEST_F(WebhookAdmissionTest, ServesCustomResourcesWithStatusAndScale) {
  install_ships();
  mutating("m", [](const Json& request) {
    return request.at({"object", "spec", "crew"}) == Json(1)
               ? patch(R"([{"op":"replace","path":"/spec/crew","value":5}])")
               : allow();
  });
  validating(
      "s",
      [](const Json& request) {
        const bool scale = request.at({"kind", "kind"}) == Json("Scale");
        return scale && request.at({"object", "spec", "replicas"}).integer_or(0) > 7
                   ? deny(R"({"message":"too many"})")
                   : allow();
      },
      R"({"rules":[{"apiGroups":["example.com"],"apiVersions":["*"],"resources":["ships/scale","ships/status"],"operations":["*"]}]})");
  const CoreReply made = write(http::Method::post, ships, ship("a").dump());
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.body.at({"spec", "crew"}), Json(5));
  EXPECT_THAT(asked, ElementsAre("m"));
  asked.clear();
  EXPECT_EQ(write(http::Method::patch, ships + "/a/scale", R"({"spec":{"replicas":8}})",
                  "application/merge-patch+json")
                .message(),
            R"(admission webhook "s.example.com" denied the request: too many)");
  EXPECT_EQ(request()["subResource"], Json("scale"));
  EXPECT_EQ(request().at({"oldObject", "spec", "replicas"}), Json(5));
  EXPECT_EQ(write(http::Method::patch, ships + "/a/scale", R"({"spec":{"replicas":6}})",
                  "application/merge-patch+json")
                .status,
            200);
  EXPECT_EQ(
      write(http::Method::patch, ships + "/a/status", R"({"status":{"x":1}})", "application/merge-patch+json")
          .status,
      200);
  EXPECT_EQ(request()["subResource"], Json("status"));
  EXPECT_THAT(asked, ElementsAre("s", "s", "s")) << "m has no rule for subresources";
}

TEST_F(WebhookAdmissionTest, AsksInAnotherVersionThatARuleNames) {
  install_ships(
      R"({"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},)"
      R"({"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}})");
  const std::string rules =
      R"("rules":[{"apiGroups":["example.com"],"apiVersions":["v2"],"resources":["ships"],"operations":["*"]}])";
  mutating(
      "equivalent", [](const Json&) { return patch(R"([{"op":"add","path":"/x","value":1}])"); },
      "{" + rules + "}");
  mutating(
      "exact", [](const Json&) { return allow(); }, R"({"matchPolicy":"Exact",)" + rules + "}");
  const CoreReply made = write(http::Method::post, ships, ship("a").dump());
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_THAT(asked, ElementsAre("equivalent"));
  EXPECT_EQ(request().at({"kind", "version"}), Json("v2"));
  EXPECT_EQ(request().at({"requestKind", "version"}), Json("v1"));
  EXPECT_EQ(request().at({"object", "apiVersion"}), Json("example.com/v2"));
  EXPECT_EQ(made["apiVersion"], Json("example.com/v1"));
  EXPECT_EQ(made["x"], Json(1));
}

TEST_F(WebhookAdmissionTest, NamesANamespaceAsItsOwn) {
  validating(
      "v", [](const Json&) { return allow(); },
      R"({"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["namespaces"],"operations":["*"]}],)"
      R"("namespaceSelector":{"matchLabels":{"team":"b"}}})");
  ASSERT_EQ(
      write(http::Method::post, "/api/v1/namespaces", R"({"metadata":{"name":"n","labels":{"team":"b"}}})")
          .status,
      201);
  ASSERT_THAT(asked, ElementsAre("v"));
  EXPECT_EQ(request()["namespace"], Json("n"));
  ASSERT_EQ(write(http::Method::post, "/api/v1/namespaces", R"({"metadata":{"name":"o"}})").status, 201);
  EXPECT_EQ(asked.size(), 1u) << "its labels are its own";
}

TEST_F(WebhookAdmissionTest, NeverAsksAboutConfigurations) {
  const std::string everything =
      R"({"rules":[{"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"operations":["*"]}]})";
  validating(
      "v", [](const Json&) { return deny("{}"); }, everything);
  EXPECT_EQ(write(http::Method::delete_, configurations + "validatingwebhookconfigurations/v").status, 200)
      << "a webhook cannot lock out its repair";
}

TEST_F(WebhookAdmissionTest, GivesEqualUidsToEqualRequests) {
  mutating("m", [](const Json&) { return allow(); });
  ApiServerCore copy(core.snapshot(now));
  const http::Request request{.method = http::Method::post,
                              .target = maps,
                              .headers = {{"Content-Type", "application/json"}},
                              .body = config_map("a").dump()};
  const Answer one = core.handle(request, now);
  const Answer other = copy.handle(request, now);
  ASSERT_TRUE(one.call && other.call);
  EXPECT_EQ(one.call->body, other.call->body);
}

}  // namespace
}  // namespace evenkeel::apiserver::tests::webhooks
