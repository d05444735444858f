// SPDX-License-Identifier: Apache-2.0
// Creates, reads and updates through the core, and its errors.
#include "core_fixture.hpp"

namespace evenkeel::apiserver::tests {
namespace {

class ApiServerCoreWrites : public CoreFixture {};

TEST(ApiServerCoreOptions, RefusesWhatCannotWork) {
  EXPECT_THROW(ApiServerCore({.history = 0}), std::invalid_argument);
  EXPECT_THROW(ApiServerCore({.bookmark_interval = Duration::zero()}), std::invalid_argument);
}

TEST(ApiServerCoreSeed, DecidesUidsAndNames) {
  const http::Request request{.method = http::Method::post,
                              .target = "/api/v1/namespaces/default/configmaps",
                              .headers = {{"Content-Type", "application/json"}},
                              .body = R"({"metadata":{"generateName":"x-"}})"};
  ApiServerCore one({.seed = 7});
  ApiServerCore same({.seed = 7});
  ApiServerCore other({.seed = 8});
  const std::string first = one.handle(request, {}).response.body;
  EXPECT_EQ(first, same.handle(request, {}).response.body);
  EXPECT_NE(first, other.handle(request, {}).response.body);
}

TEST_F(ApiServerCoreWrites, CreateFillsInIdentity) {
  const CoreReply made = post(maps, config_map("a"));
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.uid().size(), 36U);
  EXPECT_EQ(made.body.at({"metadata", "creationTimestamp"}), Json("2026-02-02T02:40:00Z"));
  EXPECT_EQ(made.body.at({"metadata", "namespace"}), Json("default"));
  EXPECT_EQ(get(maps + "/a").text, made.text);
  EXPECT_EQ(std::to_string(core.resource_version()), made.version());
}

TEST_F(ApiServerCoreWrites, EveryChangeHasItsOwnVersion) {
  const CoreReply a = post(maps, config_map("a"));
  const CoreReply b = post(maps, config_map("b"));
  const CoreReply changed = merge(maps + "/a", R"({"data":{"k":"w"}})");
  EXPECT_LT(std::stoull(a.version()), std::stoull(b.version()));
  EXPECT_LT(std::stoull(b.version()), std::stoull(changed.version()));
}

TEST_F(ApiServerCoreWrites, NothingChangedKeepsTheVersion) {
  const CoreReply made = post(maps, config_map("a"));
  now += std::chrono::minutes(5);
  EXPECT_EQ(put(maps + "/a", made.body).version(), made.version());
  EXPECT_EQ(merge(maps + "/a", R"({"data":{"k":"v"}})").version(), made.version());
  EXPECT_EQ(std::to_string(core.resource_version()), made.version());
}

TEST_F(ApiServerCoreWrites, StaleVersionIsAConflict) {
  const CoreReply made = post(maps, config_map("a"));
  merge(maps + "/a", R"({"data":{"k":"w"}})");
  const CoreReply refused = put(maps + "/a", made.body);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.reason(), "Conflict");
  EXPECT_EQ(refused.body.at({"details", "kind"}), Json("configmaps"));
}

TEST_F(ApiServerCoreWrites, LeasesMustNameTheirVersionAndMayBeMadeByPut) {
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  Json lease = Json::parse(
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"},"spec":{}})");
  EXPECT_EQ(put(leases + "/l", lease).status, 201);
  lease["spec"]["holderIdentity"] = "a";
  const CoreReply refused = put(leases + "/l", lease);
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.body.at({"details", "causes"})[std::size_t{0}]["field"],
            Json("metadata.resourceVersion"));
}

TEST_F(ApiServerCoreWrites, GeneratedNamesEndInFiveLetters) {
  const CoreReply made = post(maps, Json::parse(R"({"metadata":{"generateName":"job-"}})"));
  const std::string name = made.body.at({"metadata", "name"}).as_string();
  EXPECT_EQ(name.size(), 9U);
  EXPECT_TRUE(name.starts_with("job-"));
  EXPECT_NE(post(maps, Json::parse(R"({"metadata":{"generateName":"job-"}})")).body.at({"metadata", "name"}),
            Json(name));
}

TEST_F(ApiServerCoreWrites, DryRunStoresNothing) {
  EXPECT_EQ(post(maps + "?dryRun=All", config_map("a")).status, 201);
  EXPECT_EQ(get(maps + "/a").status, 404);
  post(maps, config_map("a"));
  const auto before = core.resource_version();
  EXPECT_EQ(merge(maps + "/a?dryRun=All", R"({"data":{"k":"w"}})").body.at({"data", "k"}), Json("w"));
  EXPECT_EQ(remove(maps + "/a?dryRun=All").status, 200);
  EXPECT_EQ(get(maps + "/a").body.at({"data", "k"}), Json("v"));
  EXPECT_EQ(core.resource_version(), before);
}

TEST_F(ApiServerCoreWrites, WarnsOfUnknownFields) {
  Json map = config_map("a");
  map["colour"] = "red";
  const CoreReply made = post(maps, map);
  EXPECT_EQ(made.status, 201);
  ASSERT_NE(made.headers.find("Warning"), nullptr);
  EXPECT_EQ(*made.headers.find("Warning"), R"(299 - "unknown field \"colour\"")");
  EXPECT_EQ(post(maps + "?fieldValidation=Strict", map).status, 400);
}

TEST_F(ApiServerCoreWrites, TakesYaml) {
  const CoreReply made =
      send(http::Method::post, maps,
           "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  m: \"5\"\n  t: 'true'\n",
           "application/yaml");
  EXPECT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.body.at({"data", "m"}), Json("5"));
  EXPECT_EQ(made.body.at({"data", "t"}), Json("true"));
  EXPECT_EQ(send(http::Method::post, maps, "a: [", "application/yaml").status, 400);
}

TEST_F(ApiServerCoreWrites, ServicesGetAddressesAndPortsOfTheirOwn) {
  const std::string services = "/api/v1/namespaces/default/services";
  const auto service = [&](const std::string& name, const std::string& spec) {
    return post(services, Json::parse(R"({"metadata":{"name":")" + name +
                                      R"("},"spec":{"ports":[{"port":80}])" + spec + "}}"));
  };
  const Json first = service("a", "").body["spec"];
  const Json second = service("b", R"(,"type":"NodePort")").body["spec"];
  EXPECT_EQ(first["clusterIPs"], Json::array({first["clusterIP"]}));
  EXPECT_NE(first["clusterIP"], second["clusterIP"]);
  const Json port = second["ports"][std::size_t{0}]["nodePort"];
  EXPECT_GE(port.integer_or(0), 30000);
  EXPECT_EQ(service("c", R"(,"clusterIP":)" + first["clusterIP"].dump()).status, 422);
  EXPECT_EQ(merge(services + "/a", R"({"spec":{"clusterIP":"10.0.200.1"}})").status, 422);
  // Values that an update leaves out are kept.
  const CoreReply again = put(services + "/b", Json::parse(R"({"metadata":{"name":"b"},"spec":)"
                                                           R"({"type":"NodePort","ports":[{"port":80}]}})"));
  EXPECT_EQ(again.body["spec"]["clusterIP"], second["clusterIP"]);
  EXPECT_EQ(again.body["spec"]["ports"][std::size_t{0}]["nodePort"], port);
}

struct Refusal {
  const char* what;
  http::Method method;
  std::string path;
  std::string body;
  int status;
  std::string reason;
};

TEST_F(ApiServerCoreWrites, RefusesWithTheRightStatus) {
  post(maps, config_map("a"));
  const std::vector<Refusal> table = {
      {"twice", http::Method::post, maps, config_map("a").dump(), 409, "AlreadyExists"},
      {"another version", http::Method::post, maps,
       R"({"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"x"}})", 400, "BadRequest"},
      {"a list", http::Method::post, maps, "[]", 400, "BadRequest"},
      {"a missing namespace", http::Method::post, "/api/v1/namespaces/no/configmaps", config_map("x").dump(),
       404, "NotFound"},
      {"no such resource", http::Method::get, "/api/v1/namespaces/default/nosuch", "", 404, "NotFound"},
      {"a namespaced object outside", http::Method::get, "/api/v1/configmaps/a", "", 404, "NotFound"},
      {"create outside", http::Method::post, "/api/v1/configmaps", config_map("x").dump(), 405,
       "MethodNotAllowed"},
      {"PUT of a collection", http::Method::put, maps, config_map("a").dump(), 405, "MethodNotAllowed"},
      {"unknown subresource", http::Method::get, maps + "/a/scale", "", 404, "NotFound"},
      {"a protected namespace", http::Method::delete_, "/api/v1/namespaces/default", "", 403, "Forbidden"},
      {"name in capitals", http::Method::post, maps, config_map("A").dump(), 422, "Invalid"},
      {"service name", http::Method::post, "/api/v1/namespaces/default/services",
       R"({"metadata":{"name":"web.a"},"spec":{"ports":[{"port":80}]}})", 422, "Invalid"},
      {"namespace name", http::Method::post, "/api/v1/namespaces", R"({"metadata":{"name":"a.b"}})", 422,
       "Invalid"},
  };
  for (const Refusal& refusal : table) {
    const CoreReply reply = send(refusal.method, refusal.path, refusal.body);
    EXPECT_EQ(reply.status, refusal.status) << refusal.what << ": " << reply.text;
    EXPECT_EQ(reply.reason(), refusal.reason) << refusal.what;
    EXPECT_EQ(reply["code"], Json(refusal.status)) << refusal.what;
  }
}

TEST_F(ApiServerCoreWrites, RefusesBodiesThatAreTooLarge) {
  const CoreReply reply = send(http::Method::post, maps, std::string((3U << 20) + 1, ' '));
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(reply.reason(), "RequestEntityTooLarge");
}

TEST_F(ApiServerCoreWrites, RefusesMediaTypesItDoesNotSpeak) {
  EXPECT_EQ(get(maps, "application/vnd.kubernetes.protobuf").status, 406);
  EXPECT_EQ(get(maps, "application/vnd.kubernetes.protobuf,application/json").status, 200);
  EXPECT_EQ(get(maps, "*/*").status, 200);
  EXPECT_EQ(send(http::Method::post, maps, "x", "text/plain").status, 415);
}

TEST_F(ApiServerCoreWrites, SaysWhyABodyIsNotJson) {
  const auto problem = [&](const std::string& body) {
    return send(http::Method::post, maps, body).message();
  };
  for (const auto& [body, place] :
       {std::pair("{", "line 1, column 2"), std::pair("{\"a\"\n 1}", "line 2, column 2"),
        std::pair("x", "line 1, column 1")})
    EXPECT_NE(problem(body).find(place), std::string::npos) << problem(body);
}

TEST_F(ApiServerCoreWrites, GenerationCountsSpecOnly) {
  install_ships();
  EXPECT_EQ(post(ships, ship("s")).body.at({"metadata", "generation"}), Json(1));
  EXPECT_EQ(merge(ships + "/s", R"({"metadata":{"labels":{"a":"b"}}})").body.at({"metadata", "generation"}),
            Json(1));
  EXPECT_EQ(merge(ships + "/s/status", R"({"status":{"crew":1}})").body.at({"metadata", "generation"}),
            Json(1));
  EXPECT_EQ(merge(ships + "/s", R"({"spec":{"crew":2}})").body.at({"metadata", "generation"}), Json(2));
  EXPECT_TRUE(post(maps, config_map("a")).body.at({"metadata", "generation"}).is_null());
}

TEST_F(ApiServerCoreWrites, StatusAndSpecAreWrittenApart) {
  install_ships();
  Json both = ship("s");
  both["status"] = Json::object({{"crew", 9}});
  CoreReply made = post(ships, both);
  EXPECT_FALSE(made.body.contains("status"));
  both = made.body;
  both["spec"]["crew"] = 5;
  both["status"] = Json::object({{"crew", 5}});
  const CoreReply status = put(ships + "/s/status", both);
  EXPECT_EQ(status.body.at({"spec", "crew"}), Json(1));
  EXPECT_EQ(status.body.at({"status", "crew"}), Json(5));
  const CoreReply spec = merge(ships + "/s", R"({"spec":{"crew":7},"status":{"crew":7}})");
  EXPECT_EQ(spec.body.at({"spec", "crew"}), Json(7));
  EXPECT_EQ(spec.body.at({"status", "crew"}), Json(5));
}

TEST_F(ApiServerCoreWrites, ScaleIsASmallViewOfTheObject) {
  install_ships();
  post(ships, ship("s", 3));
  EXPECT_EQ(get(ships + "/s/scale").body.at({"spec", "replicas"}), Json(3));
  const CoreReply scaled = merge(ships + "/s/scale", R"({"spec":{"replicas":8}})");
  EXPECT_EQ(scaled["kind"], Json("Scale"));
  EXPECT_EQ(scaled.body.at({"spec", "replicas"}), Json(8));
  const CoreReply object = get(ships + "/s");
  EXPECT_EQ(object.body.at({"spec", "crew"}), Json(8));
  EXPECT_EQ(object.body.at({"metadata", "generation"}), Json(2));
  Json stale = scaled.body;
  stale["metadata"]["resourceVersion"] = "1";
  EXPECT_EQ(put(ships + "/s/scale", stale).status, 409);
  EXPECT_EQ(merge(ships + "/s/scale", R"({"spec":{"replicas":-1}})").status, 422);
}

TEST_F(ApiServerCoreWrites, DeploymentsScaleAndShowTheirSelector) {
  const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
  ASSERT_EQ(
      post(deployments,
           Json::parse(R"({"metadata":{"name":"d"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"},
      "matchExpressions":[{"key":"t","operator":"In","values":["x","y"]}]},
      "template":{"metadata":{"labels":{"a":"b","t":"x"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})"))
          .status,
      201);
  const CoreReply scale = get(deployments + "/d/scale");
  EXPECT_EQ(scale.body.at({"spec", "replicas"}), Json(2));
  EXPECT_EQ(scale.body.at({"status", "selector"}), Json("a=b,t in (x,y)"));
}

TEST_F(ApiServerCoreWrites, EventsHaveTwoNames) {
  const std::string events = "/namespaces/default/events";
  ASSERT_EQ(post("/api/v1" + events,
                 Json::parse(R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"p",
      "namespace":"default"},"reason":"R","message":"text","type":"Normal"})"))
                .status,
            201);
  const CoreReply other = get("/apis/events.k8s.io/v1" + events + "/e");
  EXPECT_EQ(other["apiVersion"], Json("events.k8s.io/v1"));
  EXPECT_EQ(other["note"], Json("text"));
  EXPECT_EQ(other.body.at({"regarding", "name"}), Json("p"));
  EXPECT_FALSE(other.body.contains("message"));
}

TEST_F(ApiServerCoreWrites, ApplyKeepsOwnersApart) {
  EXPECT_EQ(apply(maps + "/a?fieldManager=one",
                  R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1"}})")
                .status,
            201);
  EXPECT_EQ(apply(maps + "/a?fieldManager=two",
                  R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"y":"2"}})")
                .status,
            200);
  const CoreReply conflict =
      apply(maps + "/a?fieldManager=two",
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"2"}})");
  EXPECT_EQ(conflict.status, 409);
  EXPECT_EQ(conflict.body.at({"details", "causes"})[std::size_t{0}]["field"], Json(".data.x"));
  const CoreReply forced =
      apply(maps + "/a?fieldManager=two&force=true",
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: \"2\"\n");
  EXPECT_EQ(forced.body["data"], Json::parse(R"({"x":"2"})"));
}

TEST_F(ApiServerCoreWrites, PatchesMayNotMoveAnObject) {
  post(maps, config_map("a"));
  EXPECT_EQ(merge(maps + "/a", R"({"metadata":{"name":"b"}})").status, 400);
  EXPECT_EQ(merge(maps + "/a", R"({"metadata":{"namespace":"kube-system"}})").status, 400);
  EXPECT_EQ(merge(maps + "/a", R"({"kind":"Secret"})").status, 422);
  EXPECT_EQ(merge(maps + "/a", "[1]").status, 400);
  EXPECT_EQ(merge(maps + "/a?force=true", "{}").status, 422);
}

}  // namespace
}  // namespace evenkeel::apiserver::tests
