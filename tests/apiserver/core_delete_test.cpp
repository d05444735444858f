// SPDX-License-Identifier: Apache-2.0
// Deletion in the core: finalizers, dependents, namespaces, CRDs.
#include "core_fixture.hpp"

namespace evenkeel::apiserver::tests {
namespace {

class ApiServerCoreDeletes : public CoreFixture {
 protected:
  /// Creates a config map with owners; returns its uid.
  std::string child(const std::string& name, const std::vector<std::pair<std::string, std::string>>& owners,
                    bool blocks = false) {
    Json map = config_map(name);
    Json references = Json::array();
    for (const auto& [owner, uid] : owners)
      references.push_back(Json::object({{"apiVersion", "v1"},
                                         {"kind", "ConfigMap"},
                                         {"name", owner},
                                         {"uid", uid},
                                         {"blockOwnerDeletion", blocks}}));
    map["metadata"]["ownerReferences"] = std::move(references);
    const CoreReply made = post(maps, map);
    EXPECT_EQ(made.status, 201) << made.text;
    return made.uid();
  }
  bool exists(const std::string& name) { return get(maps + "/" + name).status == 200; }
};

TEST_F(ApiServerCoreDeletes, AnswersAStatusOrTheObject) {
  const CoreReply made = post(maps, config_map("a"));
  const CoreReply gone = remove(maps + "/a");
  EXPECT_EQ(gone["status"], Json("Success"));
  EXPECT_EQ(gone.body.at({"details", "uid"}), Json(made.uid()));
  const std::string accounts = "/api/v1/namespaces/default/serviceaccounts";
  post(accounts, Json::parse(R"({"metadata":{"name":"s"}})"));
  EXPECT_EQ(remove(accounts + "/s")["kind"], Json("ServiceAccount"));
  EXPECT_EQ(remove(maps + "/a").status, 404);
}

TEST_F(ApiServerCoreDeletes, PreconditionsHold) {
  const CoreReply made = post(maps, config_map("a"));
  EXPECT_EQ(remove(maps + "/a", R"({"preconditions":{"uid":"other"}})").status, 409);
  EXPECT_EQ(remove(maps + "/a", R"({"preconditions":{"resourceVersion":"1"}})").status, 409);
  EXPECT_EQ(remove(maps + "/a", R"({"propagationPolicy":"Sideways"})").status, 422);
  EXPECT_EQ(remove(maps + "/a", R"({"preconditions":{"uid":")" + made.uid() + R"("}})").status, 200);
}

TEST_F(ApiServerCoreDeletes, FinalizersHoldAnObject) {
  Json map = config_map("a");
  map["metadata"]["finalizers"] = Json::array({"example.com/hold"});
  post(maps, map);
  const CoreReply stream = get(maps + "?watch=1&resourceVersion=" + std::to_string(core.resource_version()));
  const CoreReply marked = remove(maps + "/a");
  EXPECT_EQ(marked["kind"], Json("ConfigMap"));
  EXPECT_FALSE(marked.body.at({"metadata", "deletionTimestamp"}).is_null());
  EXPECT_EQ(remove(maps + "/a").version(), marked.version());
  EXPECT_EQ(
      merge(maps + "/a", R"({"metadata":{"finalizers":["example.com/hold","example.com/more"]}})").status,
      422);
  EXPECT_EQ(merge(maps + "/a", R"({"metadata":{"deletionTimestamp":null}})")
                .body.at({"metadata", "deletionTimestamp"}),
            marked.body.at({"metadata", "deletionTimestamp"}));
  EXPECT_EQ(merge(maps + "/a", R"({"metadata":{"finalizers":null}})").status, 200);
  EXPECT_FALSE(exists("a"));
  EXPECT_EQ(seen(stream), "MODIFIED a, DELETED a");
}

TEST_F(ApiServerCoreDeletes, DependentsGoWithTheirOwner) {
  const std::string owner = post(maps, config_map("owner")).uid();
  const std::string middle = child("middle", {{"owner", owner}});
  child("leaf", {{"middle", middle}});
  core.on_timeout(now);
  EXPECT_TRUE(exists("leaf"));
  EXPECT_FALSE(core.next_due() && *core.next_due() <= now);
  remove(maps + "/owner");
  ASSERT_TRUE(core.next_due() && *core.next_due() <= now) << "there is work";
  core.on_timeout(now);
  EXPECT_FALSE(exists("middle"));
  EXPECT_FALSE(exists("leaf"));
}

TEST_F(ApiServerCoreDeletes, OneOfTwoOwnersIsEnough) {
  const std::string one = post(maps, config_map("one")).uid();
  const std::string two = post(maps, config_map("two")).uid();
  child("shared", {{"one", one}, {"two", two}});
  remove(maps + "/one");
  core.on_timeout(now);
  const CoreReply shared = get(maps + "/shared");
  ASSERT_EQ(shared.status, 200);
  ASSERT_EQ(shared.body.at({"metadata", "ownerReferences"}).size(), 1U);
  EXPECT_EQ(shared.body.at({"metadata", "ownerReferences"})[std::size_t{0}]["name"], Json("two"));
}

TEST_F(ApiServerCoreDeletes, DependentsOfNobodyGo) {
  child("lost", {{"never", "11111111-2222-3333-4444-555555555555"}});
  core.on_timeout(now);
  EXPECT_FALSE(exists("lost"));
}

TEST_F(ApiServerCoreDeletes, OrphansStay) {
  const std::string owner = post(maps, config_map("owner")).uid();
  child("left", {{"owner", owner}});
  remove(maps + "/owner", R"({"propagationPolicy":"Orphan"})");
  core.on_timeout(now);
  EXPECT_FALSE(exists("owner"));
  ASSERT_TRUE(exists("left"));
  EXPECT_TRUE(get(maps + "/left").body.at({"metadata", "ownerReferences"}).is_null());
}

TEST_F(ApiServerCoreDeletes, InTheForegroundTheOwnerGoesLast) {
  const std::string owner = post(maps, config_map("owner")).uid();
  child("blocks", {{"owner", owner}}, true);
  merge(maps + "/blocks", R"({"metadata":{"finalizers":["example.com/hold"]}})");
  const CoreReply marked = remove(maps + "/owner", R"({"propagationPolicy":"Foreground"})");
  EXPECT_EQ(marked.status, 200);
  EXPECT_EQ(marked.body.at({"metadata", "finalizers"}), Json::array({"foregroundDeletion"}));
  core.on_timeout(now);
  EXPECT_TRUE(exists("owner"));
  EXPECT_FALSE(get(maps + "/blocks").body.at({"metadata", "deletionTimestamp"}).is_null());
  merge(maps + "/blocks", R"({"metadata":{"finalizers":null}})");
  core.on_timeout(now);
  EXPECT_FALSE(exists("blocks"));
  EXPECT_FALSE(exists("owner"));
}

// Regression: dependents that do not block were deleted only after their owner, which may wait long for one
// that does. Source: graph_builder.go processTransitions.
TEST_F(ApiServerCoreDeletes, InTheForegroundDependentsThatDoNotBlockGoAtOnce) {
  const std::string owner = post(maps, config_map("owner")).uid();
  child("blocks", {{"owner", owner}}, true);
  child("free", {{"owner", owner}});
  merge(maps + "/blocks", R"({"metadata":{"finalizers":["example.com/hold"]}})");
  remove(maps + "/owner", R"({"propagationPolicy":"Foreground"})");
  core.on_timeout(now);
  EXPECT_TRUE(exists("owner"));
  EXPECT_TRUE(exists("blocks"));
  EXPECT_FALSE(exists("free"));
}

// Regression: objects that own each other and block waited for each other's deletion without an end.
// Source: garbagecollector.go attemptToDeleteItem.
TEST_F(ApiServerCoreDeletes, InTheForegroundACycleOfOwnersIsDeleted) {
  const std::string first = post(maps, config_map("first")).uid();
  const std::string second = child("second", {{"first", first}}, true);
  const std::string third = child("third", {{"second", second}}, true);
  merge(maps + "/first", R"({"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap",)"
                         R"("name":"third","uid":")" +
                             third + R"(","blockOwnerDeletion":true}]}})");
  core.on_timeout(now);
  ASSERT_TRUE(exists("first") && exists("second") && exists("third"));
  remove(maps + "/first", R"({"propagationPolicy":"Foreground"})");
  core.on_timeout(now);
  EXPECT_FALSE(exists("first"));
  EXPECT_FALSE(exists("second"));
  EXPECT_FALSE(exists("third"));
}

TEST_F(ApiServerCoreDeletes, OwnersThatCannotBeLookedUpAreNotMissed) {
  Json map = config_map("of-an-unknown-kind");
  map["metadata"]["ownerReferences"] =
      Json::parse(R"([{"apiVersion":"nowhere.example.com/v1","kind":"Nothing","name":"n","uid":"u"}])");
  post(maps, map);
  // Objects without a namespace can only be owned by others without one.
  const std::string roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  post(roles, Json::parse(R"({"metadata":{"name":"r","ownerReferences":[)"
                          R"({"apiVersion":"v1","kind":"ConfigMap","name":"gone","uid":"v"}]}})"));
  core.on_timeout(now);
  EXPECT_TRUE(exists("of-an-unknown-kind"));
  EXPECT_EQ(get(roles + "/r").status, 200);
}

TEST_F(ApiServerCoreDeletes, AnOwnerInAnotherNamespaceIsNone) {
  post("/api/v1/namespaces", Json::parse(R"({"metadata":{"name":"other"}})"));
  const std::string uid = post("/api/v1/namespaces/other/configmaps", config_map("owner")).uid();
  child("child", {{"owner", uid}});
  core.on_timeout(now);
  EXPECT_FALSE(exists("child"));
}

// Regression: an owner was found by its uid alone, so that a reference with the uid of a Secret and the kind
// ConfigMap held its object. Source: garbagecollector.go isDangling.
TEST_F(ApiServerCoreDeletes, AnOwnerOfAnotherKindIsNone) {
  const std::string uid =
      post("/api/v1/namespaces/default/secrets", Json::parse(R"({"metadata":{"name":"owner"}})")).uid();
  child("child", {{"owner", uid}});
  const std::string present = post(maps, config_map("present")).uid();
  child("shared", {{"owner", uid}, {"present", present}});
  core.on_timeout(now);
  EXPECT_FALSE(exists("child"));
  const CoreReply shared = get(maps + "/shared");
  EXPECT_EQ(shared.body.at({"metadata", "ownerReferences"}).size(), 1U) << shared.text;
  child("misnamed", {{"absent", present}});
  core.on_timeout(now);
  EXPECT_FALSE(exists("misnamed"));
  // A reference that a later write makes wrong.
  Json left = config_map("left");
  left["metadata"]["ownerReferences"] = shared.body.at({"metadata", "ownerReferences"});
  post(maps, left);
  core.on_timeout(now);
  EXPECT_TRUE(exists("left"));
  left["metadata"]["ownerReferences"][std::size_t{0}]["kind"] = "Secret";
  EXPECT_EQ(put(maps + "/left", left).status, 200);
  core.on_timeout(now);
  EXPECT_FALSE(exists("left"));
}

TEST_F(ApiServerCoreDeletes, AReferenceMayNameAnyVersionOfItsOwner) {
  const CoreReply owner =
      post("/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
           Json::parse(R"({"metadata":{"name":"owner"},"spec":{"maxReplicas":2,)"
                       R"("scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}})"));
  ASSERT_EQ(owner.status, 201) << owner.text;
  for (const char* version : {"v1", "v2"}) {
    Json map = config_map(version);
    map["metadata"]["ownerReferences"] =
        Json::array({Json::object({{"apiVersion", std::string("autoscaling/") + version},
                                   {"kind", "HorizontalPodAutoscaler"},
                                   {"name", "owner"},
                                   {"uid", owner.uid()}})});
    post(maps, map);
  }
  core.on_timeout(now);
  EXPECT_TRUE(exists("v1"));
  EXPECT_TRUE(exists("v2"));
  remove("/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers/owner");
  core.on_timeout(now);
  EXPECT_FALSE(exists("v1"));
  EXPECT_FALSE(exists("v2"));
}

TEST_F(ApiServerCoreDeletes, ThePatienceWithAPodOnlyGetsShorter) {
  const std::string pods = "/api/v1/namespaces/default/pods";
  post(pods, Json::parse(R"({"metadata":{"name":"p"},"spec":{"nodeName":"n",)"
                         R"("containers":[{"name":"c","image":"i"}]}})"));
  const auto patience = [&](const std::string& seconds) {
    return remove(pods + "/p" + seconds).body.at({"metadata", "deletionGracePeriodSeconds"});
  };
  EXPECT_EQ(patience(""), Json(30));
  EXPECT_EQ(patience("?gracePeriodSeconds=60"), Json(30));
  EXPECT_EQ(patience("?gracePeriodSeconds=5"), Json(5));
  EXPECT_EQ(patience("?gracePeriodSeconds=0"), Json(0));
  EXPECT_EQ(get(pods + "/p").status, 404);
}

// Regression: a shortened grace period began again with the second deletion, and a pod whose period was 0
// kept the propagation policy of the first. Source: apiserver pkg/registry/rest/delete.go BeforeDelete.
TEST_F(ApiServerCoreDeletes, AShortenedGracePeriodBeginsWithTheFirstDeletion) {
  const std::string pods = "/api/v1/namespaces/default/pods";
  post(pods,
       Json::parse(R"({"metadata":{"name":"p","finalizers":["example.com/hold"]},"spec":{"nodeName":"n",)"
                   R"("containers":[{"name":"c","image":"i"}]}})"));
  remove(pods + "/p?gracePeriodSeconds=30");
  now += std::chrono::seconds(10);
  Json metadata = remove(pods + "/p?gracePeriodSeconds=20")["metadata"];
  EXPECT_EQ(metadata["deletionTimestamp"], Json("2026-02-02T02:40:20Z"));
  EXPECT_EQ(metadata["deletionGracePeriodSeconds"], Json(20));
  metadata = remove(pods + "/p?gracePeriodSeconds=5")["metadata"];
  EXPECT_EQ(metadata["deletionTimestamp"], Json("2026-02-02T02:40:10Z"));
  EXPECT_EQ(metadata["deletionGracePeriodSeconds"], Json(1));
  metadata = remove(pods + "/p?gracePeriodSeconds=0")["metadata"];
  EXPECT_EQ(metadata["deletionGracePeriodSeconds"], Json(0));
  metadata = remove(pods + "/p?propagationPolicy=Foreground")["metadata"];
  EXPECT_EQ(metadata["finalizers"], Json::array({"example.com/hold", "foregroundDeletion"}));
}

TEST_F(ApiServerCoreDeletes, CollectionsBySelector) {
  for (const char* name : {"a", "b", "c"}) {
    Json map = config_map(name);
    map["metadata"]["labels"] = Json::object({{"keep", name[0] == 'b' ? "yes" : "no"}});
    post(maps, map);
  }
  const CoreReply gone = remove(maps + "?labelSelector=keep%3Dno");
  EXPECT_EQ(gone["items"].size(), 2U);
  EXPECT_FALSE(exists("a"));
  EXPECT_TRUE(exists("b"));
}

TEST_F(ApiServerCoreDeletes, NamespacesAreEmptiedFirst) {
  ASSERT_EQ(post("/api/v1/namespaces", Json::parse(R"({"metadata":{"name":"n"}})")).status, 201);
  const std::string inside = "/api/v1/namespaces/n/configmaps";
  Json held = config_map("held");
  held["metadata"]["finalizers"] = Json::array({"example.com/hold"});
  post(inside, held);
  post(inside, config_map("free"));
  const CoreReply marked = remove("/api/v1/namespaces/n");
  EXPECT_EQ(marked.body.at({"status", "phase"}), Json("Terminating"));
  const CoreReply refused = post(inside, config_map("late"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.body.at({"details", "causes"})[std::size_t{0}]["reason"], Json("NamespaceTerminating"));
  core.on_timeout(now);
  EXPECT_EQ(get(inside + "/free").status, 404);
  EXPECT_EQ(get("/api/v1/namespaces/n").body.at({"status", "conditions"}).size(), 5U);
  EXPECT_FALSE(core.next_due() && *core.next_due() <= now) << "waits for the finalizer without work";
  merge(inside + "/held", R"({"metadata":{"finalizers":null}})");
  core.on_timeout(now);
  EXPECT_EQ(get("/api/v1/namespaces/n").status, 404);
}

TEST_F(ApiServerCoreDeletes, PodsOnNodesGetTheirGracePeriod) {
  const std::string pods = "/api/v1/namespaces/default/pods";
  const auto pod = [](const std::string& name, const std::string& node) {
    Json out = Json::parse(R"({"spec":{"containers":[{"name":"c","image":"i"}]}})");
    out["metadata"] = Json::object({{"name", name}});
    if (!node.empty()) out["spec"]["nodeName"] = node;
    return out;
  };
  post(pods, pod("waiting", ""));
  post(pods, pod("running", "node-1"));
  EXPECT_EQ(remove(pods + "/waiting")["kind"], Json("Pod"));
  EXPECT_EQ(get(pods + "/waiting").status, 404);
  const CoreReply marked = remove(pods + "/running");
  EXPECT_EQ(marked.body.at({"metadata", "deletionGracePeriodSeconds"}), Json(30));
  EXPECT_EQ(get(pods + "/running").status, 200);
  EXPECT_EQ(remove(pods + "/running?gracePeriodSeconds=0").status, 200);
  EXPECT_EQ(get(pods + "/running").status, 404);
}

TEST_F(ApiServerCoreDeletes, CustomResourcesGoWithTheirDefinition) {
  install_ships();
  post(ships, ship("s"));
  const CoreReply stream = get(ships + "?watch=1&resourceVersion=" + std::to_string(core.resource_version()));
  const CoreReply marked = remove(crds + "/ships.example.com");
  EXPECT_EQ(marked["kind"], Json("CustomResourceDefinition"));
  EXPECT_EQ(post(ships, ship("late")).status, 403);
  core.on_timeout(now);
  EXPECT_EQ(get(crds + "/ships.example.com").status, 404);
  EXPECT_EQ(get(ships).text, "404 page not found\n");
  EXPECT_EQ(get("/apis/example.com").status, 404);
  events(stream);
  EXPECT_TRUE(ended);
  install_ships();
  EXPECT_EQ(get(ships)["items"].size(), 0U);
}

class ApiServerCoreEvictions : public CoreFixture {
 protected:
  /// Creates a pod that runs and is ready, with the label app.
  void run_pod(const std::string& name, const std::string& app) {
    const Json spec = Json::parse(R"({"nodeName":"n","containers":[{"name":"c","image":"i"}]})");
    const Json metadata = Json::object({{"name", name}, {"labels", Json::object({{"app", app}})}});
    ASSERT_EQ(post(pods, Json::object({{"metadata", metadata}, {"spec", spec}})).status, 201);
    const CoreReply reply =
        merge(pods + "/" + name + "/status",
              R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
    ASSERT_EQ(reply.status, 200) << reply.text;
  }
  /// Creates a budget that permits some disruptions. `selector` is JSON; empty: none.
  void add_budget(const std::string& name, const std::string& selector, int allowed) {
    const std::string member = selector.empty() ? "" : R"(,"selector":)" + selector;
    const CoreReply made = post(budgets, Json::parse(R"({"metadata":{"name":")" + name +
                                                     R"("},"spec":{"minAvailable":1)" + member + "}}"));
    ASSERT_EQ(made.status, 201) << made.text;
    const CoreReply reply =
        merge(budgets + "/" + name + "/status",
              R"({"status":{"observedGeneration":1,"currentHealthy":2,"desiredHealthy":1,)"
              R"("expectedPods":2,"disruptionsAllowed":)" +
                  std::to_string(allowed) + "}}");
    ASSERT_EQ(reply.status, 200) << reply.text;
  }
  CoreReply evict(const std::string& name, const std::string& options = "{}") {
    return post(pods + "/" + name + "/eviction",
                Json::parse(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")" + name +
                            R"("},"deleteOptions":)" + options + "}"));
  }
  Json status_of(const std::string& budget) { return get(budgets + "/" + budget)["status"]; }
  bool is_evicted(const std::string& name) {
    return !get(pods + "/" + name).body.at({"metadata", "deletionTimestamp"}).is_null();
  }

  const std::string pods = "/api/v1/namespaces/default/pods";
  const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
};

// Regression: a budget with an empty selector was skipped like one without a selector.
TEST_F(ApiServerCoreEvictions, AnEmptySelectorSelectsEveryPod) {
  run_pod("a", "web");
  add_budget("without", "", 0);
  add_budget("all", "{}", 0);
  const CoreReply refused = evict("a");
  EXPECT_EQ(refused.status, 429) << refused.text;
  EXPECT_EQ(refused.body.at({"details", "causes"})[std::size_t{0}]["message"],
            Json("The disruption budget all does not allow evicting pods currently"));
  EXPECT_FALSE(is_evicted("a"));
}

// Regression: the budgets of a pod were charged one after the other. Source: eviction.go Create; the response
// itself is a 201.
TEST_F(ApiServerCoreEvictions, APodWithSeveralBudgetsIsNotEvicted) {
  run_pod("a", "web");
  add_budget("one", R"({"matchLabels":{"app":"web"}})", 1);
  add_budget("two", R"({"matchLabels":{"app":"web"}})", 1);
  const CoreReply refused = evict("a");
  EXPECT_EQ(refused.status, 201);
  EXPECT_EQ(refused.body,
            Json::parse(R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)"
                        R"("This pod has more than one PodDisruptionBudget, which the eviction subresource )"
                        R"(does not support.","code":500})"));
  EXPECT_EQ(status_of("one")["disruptionsAllowed"], Json(1));
  EXPECT_EQ(status_of("two")["disruptionsAllowed"], Json(1));
  EXPECT_FALSE(is_evicted("a"));
}

// Regression: an eviction left neither the pod nor the condition in the budget, so that a budget controller
// counted the pod as available. Source: eviction.go checkAndDecrement.
TEST_F(ApiServerCoreEvictions, TheBudgetShowsWhichPodsWereDisrupted) {
  run_pod("a", "web");
  run_pod("b", "web");
  add_budget("web", R"({"matchLabels":{"app":"web"}})", 2);
  const std::string first = "2026-02-02T02:40:00Z";
  EXPECT_EQ(evict("a", R"({"dryRun":["All"]})")["status"], Json("Success"));
  EXPECT_TRUE(status_of("web")["disruptedPods"].is_null());
  EXPECT_EQ(evict("a")["status"], Json("Success"));
  EXPECT_EQ(status_of("web")["disruptedPods"], Json::object({{"a", first}}));
  EXPECT_TRUE(status_of("web")["conditions"].is_null()) << "there is one left";
  now += std::chrono::seconds(1);
  const std::string second = "2026-02-02T02:40:01Z";
  EXPECT_EQ(evict("b")["status"], Json("Success"));
  const Json status = status_of("web");
  EXPECT_EQ(status["disruptionsAllowed"], Json(0));
  EXPECT_EQ(status["disruptedPods"], Json::object({{"a", first}, {"b", second}}));
  EXPECT_EQ(status["conditions"], Json::array({Json::object({{"type", "DisruptionAllowed"},
                                                             {"status", "False"},
                                                             {"observedGeneration", 1},
                                                             {"lastTransitionTime", second},
                                                             {"reason", "InsufficientPods"},
                                                             {"message", ""}})}));
}

TEST_F(ApiServerCoreEvictions, ARefusalNamesTheReasonOfTheBudget) {
  run_pod("a", "web");
  add_budget("web", R"({"matchLabels":{"app":"web"}})", 0);
  const auto refusal = [&](const std::string& status) {
    merge(budgets + "/web/status", R"({"status":)" + status + "}");
    return evict("a").body.at({"details", "causes"})[std::size_t{0}]["message"].string_or("");
  };
  const std::string name = "The disruption budget web ";
  EXPECT_EQ(refusal(R"({"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"SyncFailed",)"
                    R"("message":"no owner","lastTransitionTime":"2026-02-02T02:40:00Z"}]})"),
            name + "does not allow evicting pods currently because it failed sync: no owner");
  EXPECT_EQ(refusal(R"({"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"Other",)"
                    R"("message":"why","lastTransitionTime":"2026-02-02T02:40:00Z"}]})"),
            name + "does not allow evicting pods currently (Other): why");
  EXPECT_EQ(refusal(R"({"currentHealthy":1})"), name + "needs 1 healthy pods and has 1 currently");
  ASSERT_EQ(merge(budgets + "/web/status", R"({"status":{"disruptionsAllowed":-1}})").status, 200);
  const CoreReply refused = evict("a");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.message(),
            "poddisruptionbudget.policy \"web\" is forbidden: pdb disruptions allowed is negative");
}

// Regression: the propagation policy of an eviction was ignored.
TEST_F(ApiServerCoreEvictions, DeleteOptionsHaveAPropagationPolicy) {
  run_pod("a", "web");
  EXPECT_EQ(evict("a", R"({"propagationPolicy":"Sideways"})").status, 422);
  EXPECT_EQ(evict("a", R"({"propagationPolicy":"Foreground","gracePeriodSeconds":7})").status, 201);
  const Json metadata = get(pods + "/a")["metadata"];
  EXPECT_EQ(metadata["finalizers"], Json::array({"foregroundDeletion"}));
  EXPECT_EQ(metadata["deletionGracePeriodSeconds"], Json(7));
}

class ApiServerCoreDefinitions : public CoreFixture {};

TEST_F(ApiServerCoreDefinitions, AreServedAtOnceAndEstablished) {
  EXPECT_EQ(get(ships).status, 404);
  install_ships();
  EXPECT_EQ(get(ships)["kind"], Json("ShipList"));
  const CoreReply crd = get(crds + "/ships.example.com");
  EXPECT_EQ(crd.body.at({"status", "acceptedNames", "kind"}), Json("Ship"));
  EXPECT_EQ(crd.body.at({"status", "storedVersions"}), Json::array({"v1"}));
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(crd.body.at({"status", "conditions"})[i]["status"], Json("True"));
}

TEST_F(ApiServerCoreDefinitions, SeveralVersionsShowOneObject) {
  const std::string open =
      R"("schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}})";
  install_ships(R"({"name":"v1beta1","served":true,"storage":false,)" + open +
                R"(,{"name":"v1","served":true,"storage":true,)" + open +
                R"(,{"name":"v1alpha1","served":false,"storage":false,)" + open);
  post(ships, ship("s"));
  const CoreReply old = get("/apis/example.com/v1beta1/namespaces/default/ships/s");
  EXPECT_EQ(old["apiVersion"], Json("example.com/v1beta1"));
  EXPECT_EQ(get("/apis/example.com/v1alpha1/namespaces/default/ships/s").status, 404);
  EXPECT_EQ(get("/apis/example.com").body.at({"preferredVersion", "version"}), Json("v1"));
}

TEST_F(ApiServerCoreDefinitions, RefusesWhatCannotBeServed) {
  const auto refused = [&](const std::string& what, const std::string& from, const std::string& to) {
    std::string text =
        R"({"metadata":{"name":"ships.example.com"},"spec":{"group":"example.com","scope":"Namespaced",)"
        R"("names":{"plural":"ships","kind":"Ship"},"versions":[{"name":"v1","served":true,"storage":true,)"
        R"("schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
    text.replace(text.find(from), from.size(), to);
    const CoreReply reply = send(http::Method::post, crds, text);
    EXPECT_EQ(reply.status, 422) << what << ": " << reply.text;
  };
  refused("another name", "ships.example.com", "boats.example.com");
  refused("no storage version", R"("storage":true)", R"("storage":false)");
  refused("an unknown scope", "Namespaced", "Everywhere");
  refused("no schema", R"(,"schema":{"openAPIV3Schema":{"type":"object"}})", "");
}

TEST_F(ApiServerCoreDefinitions, ChangesEndRunningWatches) {
  install_ships();
  const CoreReply stream = get(ships + "?watch=1");
  ASSERT_EQ(merge(crds + "/ships.example.com", R"({"metadata":{"labels":{"a":"b"}}})").status, 200);
  events(stream);
  EXPECT_FALSE(ended) << "labels change nothing of what is served";
  ASSERT_EQ(merge(crds + "/ships.example.com", R"({"spec":{"names":{"shortNames":["boat"]}}})").status, 200);
  events(stream);
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace evenkeel::apiserver::tests
