// SPDX-License-Identifier: Apache-2.0
// Roles, bindings and reviews in the core; tests/conformance compares the answers with a real server's.
#include <chrono>
#include <string>

#include "core_fixture.hpp"

namespace evenkeel::apiserver::tests::access {
namespace {

const std::string rbac = "/apis/rbac.authorization.k8s.io/v1";
const std::string reviews = "/apis/authorization.k8s.io/v1";

class AuthorizerTest : public CoreFixture {
 protected:
  AuthorizerTest() : CoreFixture({.authorization = Authorization::rbac}) {}

  void be(const std::string& user, std::vector<std::string> groups = {"system:authenticated"}) {
    caller = {.user = user, .groups = std::move(groups)};
  }
  CoreReply create(const std::string& target, const std::string& body) {
    return send(http::Method::post, target, body);
  }
  /// Gives `rules` to a user in the namespace default.
  void give(const std::string& user, const std::string& rules, const std::string& name = "given") {
    const Caller before = std::exchange(caller, Caller{});
    ASSERT_EQ(create(rbac + "/namespaces/default/roles",
                     R"({"metadata":{"name":")" + name + R"("},"rules":)" + rules + "}")
                  .status,
              201);
    ASSERT_EQ(bind(name, "Role", user).status, 201);
    caller = before;
  }
  CoreReply bind(const std::string& role, const std::string& kind, const std::string& user) {
    return create(rbac + "/namespaces/default/rolebindings",
                  R"({"metadata":{"name":")" + role +
                      R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)" + R"("kind":")" + kind +
                      R"(","name":")" + role +
                      R"("},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":")" +
                      user + R"("}]})");
  }
};

TEST_F(AuthorizerTest, RefusesWhatNoBindingAllows) {
  be("alice");
  CoreReply reply = get("/api/v1/namespaces/default/pods");
  EXPECT_EQ(reply.status, 403);
  EXPECT_EQ(
      reply.message(),
      R"(pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "default")");
  EXPECT_EQ(
      get("/apis/apps/v1/deployments?watch=1").message(),
      R"(deployments.apps is forbidden: User "alice" cannot watch resource "deployments" in API group "apps" at the cluster scope)");
  EXPECT_EQ(
      get("/api/v1/namespaces/default/pods/x/status").message(),
      R"(pods "x" is forbidden: User "alice" cannot get resource "pods/status" in API group "" in the namespace "default")");
  EXPECT_EQ(get("/metrics").message(), R"(forbidden: User "alice" cannot get path "/metrics")");
  EXPECT_EQ(
      get("/api/v1/namespaces/team").message(),
      R"(namespaces "team" is forbidden: User "alice" cannot get resource "namespaces" in API group "" in the namespace "team")");
}

TEST_F(AuthorizerTest, LetsEveryoneDiscover) {
  be("alice");
  EXPECT_EQ(get("/api").status, 200);
  EXPECT_EQ(get("/apis/apps/v1").status, 200);
  be("system:anonymous", {"system:unauthenticated"});
  EXPECT_EQ(get("/version").status, 200);
  EXPECT_EQ(get("/api").status, 403);
}

TEST_F(AuthorizerTest, AllowsByVerbNameAndSubresource) {
  give("alice", R"([{"apiGroups":[""],"resources":["configmaps"],"resourceNames":["a"],"verbs":["get"]},)"
                R"({"apiGroups":["apps"],"resources":["*/scale"],"verbs":["*"]}])");
  be("alice");
  EXPECT_EQ(get(maps + "/a").status, 404);
  EXPECT_EQ(get(maps + "/b").status, 403);
  EXPECT_EQ(get(maps).status, 403);
  EXPECT_EQ(get("/api/v1/namespaces/other/configmaps/a").status, 403);
  EXPECT_EQ(get("/apis/apps/v1/namespaces/default/deployments/d/scale").status, 404);
  EXPECT_EQ(get("/apis/apps/v1/namespaces/default/deployments/d").status, 403);
}

TEST_F(AuthorizerTest, FollowsChangesOfRolesAtOnce) {
  give("alice", R"([{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}])");
  be("alice");
  EXPECT_EQ(get(maps).status, 200);
  caller = {};
  EXPECT_EQ(remove(rbac + "/namespaces/default/roles/given").status, 200);
  be("alice");
  EXPECT_EQ(
      get(maps).message(),
      R"(configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the )"
      R"(namespace "default": RBAC: role.rbac.authorization.k8s.io "given" not found)");
}

TEST_F(AuthorizerTest, KnowsServiceAccountsAndGroups) {
  ASSERT_EQ(
      create(
          rbac + "/clusterrolebindings",
          R"({"metadata":{"name":"viewers"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",)"
          R"("name":"view"},"subjects":[{"kind":"ServiceAccount","name":"op","namespace":"team"},)"
          R"({"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"ops"}]})")
          .status,
      201);
  caller = service_account_caller("team", "op");
  EXPECT_EQ(get(maps).status, 200) << "view aggregates";
  EXPECT_EQ(get("/api/v1/namespaces/default/secrets").status, 403);
  caller = service_account_caller("team", "other");
  EXPECT_EQ(get(maps).status, 403);
  be("zoe", {"ops"});
  EXPECT_EQ(get(maps).status, 200);
}

TEST_F(AuthorizerTest, AggregatesNewClusterRoles) {
  give("alice", "[]", "none");
  ASSERT_EQ(bind("admin", "ClusterRole", "alice").status, 201);
  install_ships();
  ASSERT_EQ(
      create(
          rbac + "/clusterroles",
          R"({"metadata":{"name":"ships","labels":{"rbac.authorization.k8s.io/aggregate-to-view":"true"}},)"
          R"("rules":[{"apiGroups":["example.com"],"resources":["ships"],"verbs":["list"]}]})")
          .status,
      201);
  tick_after(std::chrono::seconds(1));
  be("alice");
  EXPECT_EQ(get(ships).status, 200) << "view is part of edit, and edit of admin";
  EXPECT_EQ(post(ships, ship("a")).status, 403);
}

TEST_F(AuthorizerTest, LetsNobodyGrantMoreThanTheyHold) {
  give(
      "alice",
      R"([{"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles","rolebindings"],"verbs":["create","update"]},)"
      R"({"apiGroups":[""],"resources":["pods"],"resourceNames":["a"],"verbs":["get","list"]}])");
  be("alice", {"team", "system:authenticated"});
  const std::string roles = rbac + "/namespaces/default/roles";
  CoreReply reply = create(
      roles,
      R"({"metadata":{"name":"e"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]},)"
      R"({"apiGroups":[""],"resources":["pods"],"resourceNames":["b"],"verbs":["get"]}]})");
  EXPECT_EQ(reply.status, 403);
  EXPECT_EQ(reply.message(),
            "roles.rbac.authorization.k8s.io \"e\" is forbidden: user \"alice\" (groups=[\"team\" "
            "\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n"
            "{APIGroups:[\"\"], Resources:[\"pods\"], ResourceNames:[\"b\"], Verbs:[\"get\"]}\n"
            "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\" \"list\"]}");
  EXPECT_EQ(
      create(
          roles,
          R"({"metadata":{"name":"f"},"rules":[{"apiGroups":[""],"resources":["pods"],"resourceNames":["a"],"verbs":["get"]}]})")
          .status,
      201);
  EXPECT_EQ(bind("system:basic-user", "ClusterRole", "bob").status, 201) << "everybody holds its rules";
  EXPECT_EQ(bind("view", "ClusterRole", "bob").status, 403);
  EXPECT_EQ(bind("nix", "Role", "bob").message(),
            R"(rolebindings.rbac.authorization.k8s.io "nix" not found)");
}

TEST_F(AuthorizerTest, LetsHoldersOfBindAndEscalateGrantMore) {
  give(
      "alice",
      R"([{"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles"],"verbs":["create","escalate"]},)"
      R"({"apiGroups":["rbac.authorization.k8s.io"],"resources":["rolebindings"],"verbs":["create"]},)"
      R"({"apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles"],"resourceNames":["view"],"verbs":["bind"]}])");
  be("alice");
  EXPECT_EQ(
      create(rbac + "/namespaces/default/roles",
             R"({"metadata":{"name":"e"},"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]})")
          .status,
      201);
  EXPECT_EQ(bind("view", "ClusterRole", "bob").status, 201);
  EXPECT_EQ(bind("edit", "ClusterRole", "bob").status, 403);
}

TEST_F(AuthorizerTest, ReviewsAccess) {
  give("alice", R"([{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}])");
  const CoreReply allowed = create(
      reviews + "/subjectaccessreviews",
      R"({"spec":{"user":"alice","resourceAttributes":{"verb":"get","resource":"pods","namespace":"default"}}})");
  EXPECT_EQ(
      allowed["status"],
      Json::parse(
          R"({"allowed":true,"reason":"RBAC: allowed by RoleBinding \"given/default\" of Role \"given\" to User \"alice\""})"));
  const CoreReply denied = create(
      reviews + "/subjectaccessreviews",
      R"({"spec":{"user":"bob","resourceAttributes":{"verb":"get","resource":"pods","namespace":"default"}}})");
  EXPECT_EQ(denied["status"], Json::parse(R"({"allowed":false})"));
  be("alice");
  EXPECT_EQ(create(reviews + "/subjectaccessreviews", "{}").status, 403);
  const CoreReply self =
      create(reviews + "/selfsubjectaccessreviews",
             R"({"spec":{"resourceAttributes":{"verb":"delete","resource":"pods","namespace":"default"}}})");
  EXPECT_EQ(self["status"], Json::parse(R"({"allowed":false})"));
  const CoreReply rules = create(reviews + "/selfsubjectrulesreviews", R"({"spec":{"namespace":"default"}})");
  EXPECT_NE(rules.text.find(R"({"apiGroups":[""],"resources":["pods"],"verbs":["get"]})"), std::string::npos)
      << rules.text;
}

TEST_F(AuthorizerTest, AcceptsTheTokensThatItIssued) {
  ASSERT_EQ(create("/api/v1/namespaces/default/serviceaccounts", R"({"metadata":{"name":"op"}})").status,
            201);
  const CoreReply issued = create("/api/v1/namespaces/default/serviceaccounts/op/token", "{}");
  const std::string token = issued.body.at({"status", "token"}).string_or("");
  const std::optional<Caller> user = core.token_user(token, now);
  ASSERT_TRUE(user);
  EXPECT_EQ(user->user, "system:serviceaccount:default:op");
  EXPECT_FALSE(core.token_user(token + "x", now));
  EXPECT_FALSE(core.token_user(token, now + std::chrono::hours(2))) << "it has expired";
  const CoreReply review =
      create("/apis/authentication.k8s.io/v1/tokenreviews", R"({"spec":{"token":")" + token + R"("}})");
  EXPECT_EQ(review.body.at({"status", "authenticated"}), Json(true)) << review.text;
  EXPECT_EQ(review.body.at({"status", "user", "username"}), Json("system:serviceaccount:default:op"));
  ASSERT_EQ(remove("/api/v1/namespaces/default/serviceaccounts/op").status, 200);
  EXPECT_FALSE(core.token_user(token, now)) << "the account is gone";
}

TEST_F(AuthorizerTest, ImpersonatesForThoseWhoMay) {
  http::Request request{.method = http::Method::post,
                        .target = "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                        .headers = {{"Content-Type", "application/json"},
                                    {"Impersonate-User", "zoe"},
                                    {"Impersonate-Group", "g"}},
                        .body = "{}"};
  const Json seen = Json::parse(core.handle(request, now).response.body);
  EXPECT_EQ(seen["status"],
            Json::parse(R"({"userInfo":{"groups":["g","system:authenticated"],"username":"zoe"}})"));
  be("alice");
  EXPECT_EQ(core.handle(request, now, caller).response.status, 403);
  give("alice", "[]");
  request.headers = {{"Impersonate-Group", "g"}};
  EXPECT_EQ(core.handle(request, now).response.status, 400);
}

TEST_F(AuthorizerTest, IsPartOfAWorld) {
  give("alice", R"([{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}])");
  ApiServerCore copy(core.snapshot(now));
  be("alice");
  EXPECT_EQ(copy.handle({.target = maps}, now, caller).response.status, 200);
  EXPECT_EQ(copy.handle({.target = "/api/v1/pods"}, now, caller).response.status, 403);
}

}  // namespace
}  // namespace evenkeel::apiserver::tests::access
