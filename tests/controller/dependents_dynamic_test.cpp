// SPDX-License-Identifier: Apache-2.0
// Dependents of kinds without a C++ type, and of kinds that the server does not serve yet, or any more.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/controller/readiness.hpp>
#include <evenkeel/controller/resource_context.hpp>

#include "dependents_fixture.hpp"

namespace evenkeel::dependents_test {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Branch {
  static constexpr ResourceInfo resource{
      .group = "test.evenkeel.dev", .version = "v1", .kind = "Branch", .plural = "branches"};
  ObjectMeta metadata = {};
};
EVENKEEL_FIELDS(Branch, metadata)

DynamicObject monitor(const Shop& shop, const std::string& name = "monitor") {
  DynamicObject object(monitors, "", shop.metadata.name + "-" + name);
  object["spec"]["text"] = shop.spec.text;
  if (!shop.spec.shelves.empty()) object["spec"]["shelf"] = shop.spec.shelves.front();
  return object;
}

DynamicObject monitor_of(const Shop& shop) {
  return monitor(shop);
}

/// base <- monitor <- last
Dependents<Shop> monitored(DependentOptions<Shop, DynamicObject> options = {}) {
  options.after = {"base"};
  if (!options.when) options.when = unless_off("monitor");
  return dependents<Shop>()
      .add<ConfigMap>("base", part<ConfigMap>("base"), {.when = unless_off("base")})
      .add(monitors, "monitor", monitor_of, std::move(options))
      .add<ConfigMap>("last", part<ConfigMap>("last"), {.after = {"monitor"}});
}

class DynamicDependentsTest : public DependentsTest {
 protected:
  ResourceClient monitors_now() const { return harness.client().resource(monitors); }
  Snapshot<DynamicObject> found(const std::string& name = "monitor") const {
    return monitors_now().find(key_of_part(name));
  }
  void run_with(const Dependents<Shop>& graph, ShopSpec spec = {}) {
    harness.create({Shop{.metadata = {.name = web.name, .namespace_ = web.namespace_}, .spec = spec}});
    harness.add(controller_for(graph));
    harness.run_for(1s);
  }
  void set_ready(const std::string& status) {
    monitors_now().patch(
        found(),
        [&](DynamicObject& object) {
          object["status"] =
              Json::parse(R"({"conditions": [{"type": "Ready", "status": ")" + status + "\"}]}");
        },
        "status");
    harness.settle();
  }
  /// Returns the accesses to monitors, as "list", sorted.
  std::vector<std::string> accesses_to_monitors() const {
    std::vector<std::string> verbs;
    for (const Access& access : harness.accesses().accesses()) {
      if (access.resource == "monitors") verbs.push_back(access.verb);
    }
    return verbs;
  }
};

TEST_F(DynamicDependentsTest, AreAppliedOwnedAndWaitedFor) {
  harness.create({monitor_definition});
  add(monitored({.ready = has_condition("Ready")}));
  EXPECT_THAT(changes(), ElementsAre("apply web-base", "apply web-monitor")) << harness.str();
  const auto object = found();
  EXPECT_EQ(controller_of(object->metadata())->uid, harness.get<Shop>(web)->metadata.uid);
  EXPECT_EQ(object->annotation(mark), "monitor");
  EXPECT_EQ(story(), "NotReady: monitor: Monitor default/web-monitor: it has no condition Ready");
  set_ready("False");
  EXPECT_EQ(story(), "NotReady: monitor: Monitor default/web-monitor: Ready is False");
  set_ready("True");
  EXPECT_THAT(changes(), ElementsAre("apply web-last"));
  EXPECT_EQ(story(), "Ready: all dependents are ready");
}

TEST_F(DynamicDependentsTest, SendNothingIfNothingChanged) {
  harness.create({monitor_definition});
  add(monitored());
  const std::size_t before = harness.writes().size();
  ASSERT_TRUE(found());
  harness.enqueue(web);
  ASSERT_TRUE(harness.settle());
  harness.restart();
  ASSERT_TRUE(harness.settle());
  EXPECT_EQ(harness.writes().size(), before) << harness.str();
  edit([](ShopSpec& spec) { spec.text = "two"; });
  EXPECT_EQ((*found())["spec"]["text"], Json("two"));
  monitors_now().remove(key_of_part("monitor"));
  harness.settle();
  EXPECT_TRUE(found()) << "an event caused a run";
}

TEST_F(DynamicDependentsTest, AreDeletedInOrderIfAConditionBecomesFalse) {
  harness.create({monitor_definition});
  add(monitored());
  changes();
  edit([](ShopSpec& spec) { spec.off = {"base"}; });
  EXPECT_THAT(changes(), ElementsAre("delete web-last", "delete web-monitor", "delete web-base"));
}

TEST_F(DynamicDependentsTest, GrowAndShrinkAndAreForgottenByNoVersion) {
  const auto each = [](const Shop& shop) {
    std::vector<Json> all;
    for (const std::string& shelf : shop.spec.shelves) {
      Json one = Json::object();
      one["metadata"]["name"] = "shelf-" + shelf;
      all.push_back(one);
    }
    return all;
  };
  harness.create({monitor_definition});
  add(dependents<Shop>().add_each(monitors, "each", each).add(monitors, "one", monitor_of),
      {.shelves = {"a", "b"}});
  EXPECT_THAT(changes(), ElementsAre("apply shelf-a", "apply shelf-b", "apply web-monitor"));
  edit([](ShopSpec& spec) { spec.shelves = {"a"}; });
  EXPECT_THAT(changes(), ElementsAre("delete shelf-b"));
  testing::Harness next{{.world = harness.snapshot()}};
  next.add(controller_for(dependents<Shop>().add(monitors, "one", monitor_of)));
  next.settle();
  EXPECT_FALSE(next.client().resource(monitors).find({"default", "shelf-a"})) << next.str();
}

TEST_F(DynamicDependentsTest, AreRecreatedIfAFieldIsImmutable) {
  harness.create({monitor_definition});
  add(monitored({.recreate_immutable = true}), {.shelves = {"a"}});
  const std::string uid(found()->uid());
  edit([](ShopSpec& spec) { spec.shelves = {"b"}; });
  EXPECT_EQ((*found())["spec"]["shelf"], Json("b")) << harness.str();
  EXPECT_NE(found()->uid(), uid);
}

TEST_F(DynamicDependentsTest, RefuseAnObjectThatTheyDoNotOwn) {
  harness.create({monitor_definition,
                  "{apiVersion: monitoring.example.com/v1, kind: Monitor, metadata: {name: web-monitor, "
                  "namespace: default}, spec: {text: mine}}"});
  run_with(monitored());
  EXPECT_EQ(story(),
            "Failed: monitor: apply Monitor default/web-monitor: Shop web cannot control it: it exists and "
            "has no controller");
  EXPECT_EQ((*found())["spec"]["text"], Json("mine"));
}

TEST_F(DynamicDependentsTest, RefuseObjectsOfAnotherForm) {
  harness.create({monitor_definition});
  run_with(
      dependents<Shop>()
          .add(monitors, "other", [](const Shop&) { return DynamicObject(Pod::resource, "", "web"); })
          .add(monitors, "text", [](const Shop&) { return Json("web"); })
          .add(monitors, "nameless", [](const Shop&) { return Json::object(); })
          .add(monitors, "far", [](const Shop&) { return DynamicObject(monitors, "kube-system", "web"); })
          .conditions(DependentConditions::each));
  EXPECT_EQ(condition("OtherReady").message, "Monitor (monitoring.example.com/v1): the object is a Pod (v1)");
  EXPECT_EQ(condition("TextReady").message, "Monitor: expected an object, found string");
  EXPECT_EQ(condition("NamelessReady").message, "Monitor: the object has no name");
  EXPECT_EQ(
      condition("FarReady").message,
      "owner reference: object \"kube-system/web\" cannot be owned by Shop default/web of another namespace");
}

TEST_F(DynamicDependentsTest, ShareAKindWithDependentsOfAType) {
  const auto loose = [](const Shop&) { return DynamicObject(ConfigMap::resource, "", "web-loose"); };
  add(dependents<Shop>()
          .add(ConfigMap::resource, "loose", loose, {.when = unless_off("loose")})
          .add<ConfigMap>("base", part<ConfigMap>("base"), {.after = {"loose"}}));
  EXPECT_THAT(changes(), ElementsAre("apply web-loose", "apply web-base")) << harness.str();
  edit([](ShopSpec& spec) { spec.off = {"loose"}; });
  EXPECT_THAT(changes(), ElementsAre("delete web-base", "delete web-loose"));
}

TEST_F(DynamicDependentsTest, ReadinessOfKnownKindsIsThatOfTheirTypes) {
  DynamicObject object(Deployment::resource, "default", "web");
  EXPECT_EQ(rolled_out(object).why_not, "0 of 1 replicas have the last change");
  EXPECT_EQ(completed(DynamicObject(Job::resource, "default", "web")).why_not, "it is not complete");
  const auto text_of = [](auto condition) -> std::string {
    try {
      static_cast<void>(condition(DynamicObject(monitors, "default", "web")));
      return "no error";
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  EXPECT_EQ(text_of(rolled_out),
            "rolled_out is for Deployment, StatefulSet and DaemonSet (apps/v1), not Monitor "
            "(monitoring.example.com/v1)");
  EXPECT_EQ(text_of(completed), "completed is for Job (batch/v1), not Monitor (monitoring.example.com/v1)");
}

TEST_F(DynamicDependentsTest, RefuseKindsThatCannotBeOwned) {
  const auto refusal = [](const ResourceId& kind) -> std::string {
    try {
      dependents<Shop>().add(kind, "monitor", monitor_of);
      return "no error";
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal({"example.com", "v1", "Issuer", "issuers", Scope::cluster}),
            "dependents of Shop: \"monitor\": an owner with a namespace cannot own what is cluster-scoped: "
            "Issuer");
  EXPECT_EQ(refusal({"example.com", "v1", "Issuer", ""}),
            "dependents of Shop: \"monitor\": its kind needs a version, a kind and a plural");
}

// ---- Kinds that are not served

TEST_F(DynamicDependentsTest, FailUntilTheServerServesTheirKind) {
  run_with(monitored());
  const std::string text = "monitor: the server does not serve Monitor (monitoring.example.com/v1)";
  EXPECT_EQ(story(), "Failed: " + text) << harness.str();
  EXPECT_EQ(harness.last().outcome.message, "dependents of Shop default/web failed: " + text);
  EXPECT_TRUE(exists<ConfigMap>("base")) << "the rest goes on";
  EXPECT_FALSE(exists<ConfigMap>("last"));
  EXPECT_THAT(accesses_to_monitors(), IsEmpty());
  harness.create({monitor_definition});
  harness.settle();
  EXPECT_TRUE(found());
  EXPECT_TRUE(exists<ConfigMap>("last"));
  EXPECT_EQ(story(), "Ready: all dependents are ready") << harness.str();
}

TEST_F(DynamicDependentsTest, AreLeftOutWhileTheirKindIsNotServedIfThatIsDeclared) {
  run_with(monitored({.only_if_served = true}).conditions(DependentConditions::each));
  EXPECT_EQ(story(), "Ready: all dependents are ready; not served: monitor") << harness.str();
  EXPECT_EQ(condition("MonitorReady").reason, "NotServed");
  EXPECT_EQ(condition("MonitorReady").status, "False");
  EXPECT_EQ(condition("MonitorReady").message,
            "the server does not serve Monitor (monitoring.example.com/v1)");
  EXPECT_FALSE(exists<ConfigMap>("last")) << "it comes after a dependent that is left out";
  harness.run_for(1h);
  EXPECT_THAT(accesses_to_monitors(), IsEmpty());
  EXPECT_EQ(harness.last().outcome.kind, OutcomeKind::requeue_after);
}

TEST_F(DynamicDependentsTest, AreActivatedWhenTheirKindAppears) {
  run_with(monitored({.only_if_served = true}));
  harness.run_for(5min);
  ASSERT_FALSE(exists<ConfigMap>("last"));
  harness.create({monitor_definition});
  harness.run_for(1min);
  EXPECT_TRUE(found()) << harness.str();
  EXPECT_TRUE(exists<ConfigMap>("last"));
  EXPECT_TRUE(harness.settle()) << "nothing asks any more";
  EXPECT_EQ(story(), "Ready: all dependents are ready");
  EXPECT_THAT(accesses_to_monitors(), Contains("watch"));
  monitors_now().remove(key_of_part("monitor"));
  harness.settle();
  EXPECT_TRUE(found()) << "its watch causes runs";
}

TEST_F(DynamicDependentsTest, AreLeftOutAgainWhenTheirKindDisappears) {
  harness.create({monitor_definition});
  add(monitored({.only_if_served = true}));
  ASSERT_TRUE(exists<ConfigMap>("last"));
  const ResourceId definitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                               "customresourcedefinitions", Scope::cluster};
  harness.client().resource(definitions).remove({"", "monitors.monitoring.example.com"});
  harness.run_for(5min);
  EXPECT_EQ(story(), "Ready: all dependents are ready; not served: monitor") << harness.str();
  EXPECT_FALSE(exists<ConfigMap>("last"));
  harness.create({monitor_definition});
  harness.run_for(2min);
  EXPECT_TRUE(found()) << harness.str();
  EXPECT_TRUE(exists<ConfigMap>("last"));
}

TEST_F(DynamicDependentsTest, OfATypeMayBeLeftOutAsWell) {
  const auto graph =
      dependents<Shop>()
          .add<ConfigMap>("base", part<ConfigMap>("base"))
          .add<Shop>("branch", [](const Shop&) { return Shop{.metadata = {.name = "branch"}}; },
                     {.only_if_served = true});
  const ControllerSpec spec = controller_for(graph);
  ASSERT_EQ(spec.watches.size(), 3);
  EXPECT_EQ(spec.watches[2].resource, ResourceId(Shop::resource));
  EXPECT_FALSE(spec.watches[2].crd) << "it is nobody's definition to install";
}

TEST_F(DynamicDependentsTest, OfATypeAreActivatedWhenTheirKindAppears) {
  const auto branch_of = [](const Shop& shop) {
    return Branch{.metadata = {.name = shop.metadata.name + "-branch"}};
  };
  run_with(dependents<Shop>().add<Branch>("branch", branch_of, {.only_if_served = true}));
  EXPECT_EQ(story(), "Ready: all dependents are ready; not served: branch") << harness.str();
  harness.create({crd_for<Branch>()});
  harness.run_for(1min);
  EXPECT_TRUE(exists<Branch>("branch")) << harness.str();
  EXPECT_EQ(story(), "Ready: all dependents are ready");
  harness.remove<Branch>(key_of_part("branch"));
  harness.settle();
  EXPECT_TRUE(exists<Branch>("branch")) << "its watch causes runs";
}

TEST_F(DynamicDependentsTest, AskForAMissingKindOnceForAllOwners) {
  for (int number = 0; number < 50; ++number) {
    const std::string name = "shop-" + std::to_string(number);
    harness.create({Shop{.metadata = {.name = name, .namespace_ = "default"}}});
  }
  testing::Harness many{{.max_runs = 100'000, .world = harness.snapshot()}};
  const apiserver::FaultId gets = many.inject({.verb = "get", .delay = 1ns});
  many.add(controller_for(monitored({.only_if_served = true})));
  many.run_for(10min);
  EXPECT_GE(many.runs().size(), 50 * 10);
  EXPECT_LE(many.fault_counts(gets).fired, 10 + 50 * 2) << "the applies look for each object once";
  many.remove_fault(gets);
}

TEST_F(DynamicDependentsTest, WaitForTheFirstListOfTheirKind) {
  harness.create({monitor_definition});
  const apiserver::FaultId fault =
      harness.inject({.resource = "monitors.monitoring.example.com", .status = 403});
  run_with(monitored({.only_if_served = true}));
  EXPECT_THAT(story(),
              HasSubstr("Waiting: monitor: the first list of Monitor (monitoring.example.com/v1) has "
                        "not been read: list Monitor: 403 Forbidden: injected by a fault rule"))
      << harness.str();
  const std::size_t before = harness.runs().size();
  harness.run_for(10min);
  EXPECT_LE(harness.runs().size() - before, 11U) << "no run each second for each owner";
  harness.remove_fault(fault);
  harness.settle();
  EXPECT_EQ(story(), "Ready: all dependents are ready") << harness.str();
}

TEST_F(DynamicDependentsTest, ADoubtAboutTheirKindChangesNothing) {
  harness.create({monitor_definition});
  add(monitored({.only_if_served = true}));
  testing::Harness next{{.expect_failures = true, .world = harness.snapshot()}};
  const apiserver::FaultId fault = next.inject({.verb = "get", .status = 500});
  next.add(controller_for(monitored({.only_if_served = true})));
  next.run_for(1s);
  EXPECT_THAT(next.last().outcome.message,
              HasSubstr("monitor: GET /apis/monitoring.example.com/v1: 500 InternalError"));
  EXPECT_TRUE(next.find<ConfigMap>(key_of_part("last"))) << next.str();
  next.remove_fault(fault);
  EXPECT_TRUE(next.settle());
  EXPECT_EQ(next.last().outcome.kind, OutcomeKind::success);
}

TEST_F(DynamicDependentsTest, OfAControllerThatDoesNotWatchThemAreReadFromTheServer) {
  std::string seen;
  const auto graph = monitored({.only_if_served = true});
  const auto reconcile = [&seen, graph](Context& context, const Shop& shop) {
    const DependentsReport report = graph.reconcile(context, shop);
    seen = report.str();
  };
  harness.create({Shop{.metadata = {.name = web.name, .namespace_ = web.namespace_}}});
  harness.add(controller_for<Shop>(reconcile));
  harness.settle();
  EXPECT_EQ(seen,
            "base: Ready; monitor: NotServed: the server does not serve Monitor "
            "(monitoring.example.com/v1); last: NotWanted");
  harness.create({monitor_definition});
  harness.enqueue(web);
  harness.settle();
  EXPECT_EQ(seen, "base: Ready; monitor: Ready; last: Ready");
}

TEST_F(DynamicDependentsTest, OfAMissingKindDoNotHoldTheirOwner) {
  run_with(monitored({.only_if_served = true}).delete_in_order("test.evenkeel.dev/dependents"));
  harness.remove<Shop>(web);
  harness.run_for(1s);
  EXPECT_FALSE(harness.find<Shop>(web)) << harness.str();
}

}  // namespace
}  // namespace evenkeel::dependents_test
