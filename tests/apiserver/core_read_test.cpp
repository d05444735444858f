// SPDX-License-Identifier: Apache-2.0
// Lists, selectors, pages, forms and discovery of the core.
#include "core_fixture.hpp"

namespace evenkeel::apiserver::tests {
namespace {

class ApiServerCoreReads : public CoreFixture {
 protected:
  void fill(int count) {
    for (int i = 0; i < count; ++i) {
      Json map = config_map("m" + std::to_string(i));
      map["metadata"]["labels"] =
          Json::object({{"even", i % 2 == 0 ? "yes" : "no"}, {"n", std::to_string(i)}});
      post(maps, map);
    }
  }
  static std::string names(const CoreReply& list) {
    std::string out;
    for (std::size_t i = 0; i < list["items"].size(); ++i)
      out += (i == 0 ? "" : " ") + list["items"][i].at({"metadata", "name"}).string_or("?");
    return out;
  }
  static std::string token(const CoreReply& list) {
    return list.body.at({"metadata", "continue"}).string_or("");
  }
};

TEST_F(ApiServerCoreReads, SelectsByLabels) {
  fill(4);
  const std::vector<std::pair<std::string, std::string>> table = {{"even=yes", "m0 m2"},
                                                                  {"even==no", "m1 m3"},
                                                                  {"even!=yes", "m1 m3"},
                                                                  {"n+in+(1,2)", "m1 m2"},
                                                                  {"n+notin+(1,2)", "m0 m3"},
                                                                  {"even", "m0 m1 m2 m3"},
                                                                  {"!even", ""},
                                                                  {"other!=x", "m0 m1 m2 m3"},
                                                                  {"n>1", "m2 m3"},
                                                                  {"n<1,even=yes", "m0"},
                                                                  {"even=", ""},
                                                                  {"", "m0 m1 m2 m3"}};
  for (const auto& [selector, expected] : table)
    EXPECT_EQ(names(get(maps + "?labelSelector=" + selector)), expected) << selector;
}

TEST_F(ApiServerCoreReads, RefusesSelectorsThatCannotBeRead) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"a===", "unable to parse requirement: found '=', expected: identifier"},
      {"a,,b", "found ',', expected: identifier after ','"},
      {"a+b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
      {"a+in+x", "unable to parse requirement: found 'x' expected: '('"},
      {")", "found ')', expected: !, identifier, or 'end of string'"}};
  for (const auto& [selector, message] : table) {
    const CoreReply reply = get(maps + "?labelSelector=" + selector);
    EXPECT_EQ(reply.status, 400) << selector;
    EXPECT_EQ(reply.message(), message);
  }
}

TEST_F(ApiServerCoreReads, SelectsByFields) {
  install_ships();
  post(
      ships,
      Json::parse(
          R"({"apiVersion":"example.com/v1","kind":"Ship","metadata":{"name":"a"},"spec":{"port":"Kiel"}})"));
  post(
      ships,
      Json::parse(
          R"({"apiVersion":"example.com/v1","kind":"Ship","metadata":{"name":"b"},"spec":{"port":"Bergen"}})"));
  EXPECT_EQ(names(get(ships + "?fieldSelector=spec.port%3DKiel")), "a");
  EXPECT_EQ(names(get(ships + "?fieldSelector=spec.port!%3DKiel")), "b");
  EXPECT_EQ(names(get(ships + "?fieldSelector=metadata.name%3Db,metadata.namespace%3Ddefault")), "b");
  EXPECT_EQ(get(ships + "?fieldSelector=spec.crew%3D1").message(), "field label not supported: spec.crew");
  post("/api/v1/namespaces/default/pods",
       Json::parse(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})"));
  EXPECT_EQ(names(get("/api/v1/pods?fieldSelector=status.phase%3DPending")), "p");
  EXPECT_EQ(names(get("/api/v1/pods?fieldSelector=spec.nodeName%3D")), "p");
}

TEST_F(ApiServerCoreReads, PagesShowOneMoment) {
  fill(5);
  const CoreReply first = get(maps + "?limit=2");
  EXPECT_EQ(names(first), "m0 m1");
  EXPECT_EQ(first.body.at({"metadata", "remainingItemCount"}), Json(3));
  remove(maps + "/m2");
  post(maps, config_map("m1a"));
  merge(maps + "/m3", R"({"data":{"k":"later"}})");
  const CoreReply second = get(maps + "?limit=2&continue=" + token(first));
  EXPECT_EQ(names(second), "m2 m3");
  EXPECT_EQ(second["items"][std::size_t{1}].at({"data", "k"}), Json("v"));
  EXPECT_EQ(second.version(), first.version());
  const CoreReply last = get(maps + "?limit=2&continue=" + token(second));
  EXPECT_EQ(names(last), "m4");
  EXPECT_EQ(token(last), "");
  EXPECT_EQ(names(get(maps)), "m0 m1 m1a m3 m4");
}

TEST_F(ApiServerCoreReads, PagesOfASelectionAreFull) {
  fill(6);
  const CoreReply first = get(maps + "?limit=2&labelSelector=even%3Dyes");
  EXPECT_EQ(names(first), "m0 m2");
  EXPECT_TRUE(first.body.at({"metadata", "remainingItemCount"}).is_null());
  EXPECT_EQ(names(get(maps + "?limit=2&labelSelector=even%3Dyes&continue=" + token(first))), "m4");
}

TEST_F(ApiServerCoreReads, ListsAnEarlierMoment) {
  fill(2);
  const std::string then = get(maps).version();
  remove(maps + "/m0");
  EXPECT_EQ(names(get(maps + "?resourceVersion=" + then + "&resourceVersionMatch=Exact")), "m0 m1");
  EXPECT_EQ(names(get(maps + "?resourceVersion=" + then + "&resourceVersionMatch=NotOlderThan")), "m1");
  EXPECT_EQ(names(get(maps + "?resourceVersion=" + then)), "m1");
  const CoreReply future = get(maps + "?resourceVersion=999999");
  EXPECT_EQ(future.status, 504);
  EXPECT_EQ(*future.headers.find("Retry-After"), "1");
}

TEST_F(ApiServerCoreReads, ListsOverAllNamespaces) {
  post(maps, config_map("a"));
  post("/api/v1/namespaces/kube-system/configmaps", config_map("b"));
  EXPECT_EQ(names(get("/api/v1/configmaps")), "a b");
  EXPECT_EQ(names(get("/api/v1/namespaces")), "default kube-node-lease kube-public kube-system");
}

TEST_F(ApiServerCoreReads, ShowsMetadataAlone) {
  fill(1);
  const CoreReply one = get(maps + "/m0", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
  EXPECT_EQ(one["kind"], Json("PartialObjectMetadata"));
  EXPECT_FALSE(one.body.contains("data"));
  const CoreReply list = get(maps, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  EXPECT_EQ(list["kind"], Json("PartialObjectMetadataList"));
  EXPECT_EQ(names(list), "m0");
}

TEST_F(ApiServerCoreReads, AnswersHealthAndVersion) {
  for (const char* path : {"/healthz", "/readyz", "/livez"}) EXPECT_EQ(get(path).text, "ok") << path;
  EXPECT_EQ(get("/version")["gitVersion"], Json("v1.36.3"));
  EXPECT_EQ(get("/nowhere").text, "404 page not found\n");
}

TEST_F(ApiServerCoreReads, DiscoversInBothForms) {
  install_ships();
  const std::string wanted =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
  const CoreReply aggregated = get("/apis", wanted);
  EXPECT_EQ(aggregated["kind"], Json("APIGroupDiscoveryList"));
  EXPECT_EQ(*aggregated.headers.find("Content-Type"),
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  const Json& last = aggregated["items"][aggregated["items"].size() - 1];
  EXPECT_EQ(last.at({"metadata", "name"}), Json("example.com"));
  EXPECT_EQ(last["versions"][std::size_t{0}]["resources"][std::size_t{0}]["resource"], Json("ships"));
  EXPECT_EQ(get("/apis")["kind"], Json("APIGroupList"));
  EXPECT_EQ(get("/apis/example.com").body.at({"preferredVersion", "version"}), Json("v1"));
  std::string found;
  const CoreReply resources = get("/apis/example.com/v1");
  for (std::size_t i = 0; i < resources["resources"].size(); ++i)
    found += resources["resources"][i]["name"].as_string() + " ";
  EXPECT_EQ(found, "ships ships/status ships/scale ");
  EXPECT_EQ(get("/apis/no.such").status, 404);
}

TEST_F(ApiServerCoreReads, AnswersReviews) {
  const CoreReply review =
      post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
           Json::parse(R"({"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}})"));
  EXPECT_EQ(review.status, 201);
  EXPECT_EQ(review.body.at({"status", "allowed"}), Json(true));
  const CoreReply self = post("/apis/authentication.k8s.io/v1/selfsubjectreviews", Json::object());
  EXPECT_EQ(self.body.at({"status", "userInfo", "username"}), Json("kubernetes-admin"));
}

TEST(ApiServerCoreHistory, OldContinueTokensExpireButOfferTheRest) {
  ApiServerCore core({.history = 4});
  const WallTime now{};
  const auto ask = [&](http::Method method, const std::string& target, const std::string& body = "") {
    return core
        .handle({.method = method,
                 .target = target,
                 .headers = {{"Content-Type", "application/json"}},
                 .body = body},
                now)
        .response;
  };
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  for (const char* name : {"a", "b", "c"})
    ask(http::Method::post, maps, R"({"metadata":{"name":")" + std::string(name) + R"("}})");
  const Json first = Json::parse(ask(http::Method::get, maps + "?limit=1").body);
  for (int i = 0; i < 6; ++i) ask(http::Method::post, maps, R"({"metadata":{"generateName":"x"}})");
  const auto expired =
      ask(http::Method::get, maps + "?limit=1&continue=" + first.at({"metadata", "continue"}).as_string());
  EXPECT_EQ(expired.status, 410);
  const Json status = Json::parse(expired.body);
  EXPECT_EQ(status["reason"], Json("Expired"));
  const Json rest = Json::parse(
      ask(http::Method::get, maps + "?limit=1&continue=" + status.at({"metadata", "continue"}).as_string())
          .body);
  EXPECT_EQ(rest["items"][std::size_t{0}].at({"metadata", "name"}), Json("b"));
}

}  // namespace
}  // namespace evenkeel::apiserver::tests
