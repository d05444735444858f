// SPDX-License-Identifier: Apache-2.0
// Dependents and their owners: what a graph writes, deletes and leaves alone, and the end of an owner.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/controller/builder.hpp>
#include <evenkeel/manager/manifests.hpp>

#include "dependents_fixture.hpp"

namespace evenkeel::dependents_test {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

using DependentsOwnershipTest = DependentsTest;

TEST_F(DependentsOwnershipTest, OwnsAndMarksItsObjects) {
  add(shop_graph());
  const auto base = harness.get<ConfigMap>(key_of_part("base"));
  EXPECT_EQ(controller_of(base->metadata)->uid, harness.get<Shop>(web)->metadata.uid);
  EXPECT_EQ(base->metadata.annotations.at(mark), "base");
}

TEST_F(DependentsOwnershipTest, LeavesObjectsAloneThatTheGraphDidNotMake) {
  add(shop_graph());
  ConfigMap other{.metadata = {.name = "other", .namespace_ = "default"}};
  set_controller_reference(*harness.get<Shop>(web), other.metadata);
  ConfigMap marked{.metadata = {.name = "marked", .namespace_ = "default", .annotations = {{mark, "base"}}}};
  harness.create({other, marked});
  edit([](ShopSpec& spec) { spec.off = {"base"}; });
  EXPECT_FALSE(exists<ConfigMap>("base"));
  EXPECT_TRUE(harness.find<ConfigMap>({"default", "other"})) << "made by another part of the program";
  EXPECT_TRUE(harness.find<ConfigMap>({"default", "marked"})) << "nobody controls it";
}

TEST_F(DependentsOwnershipTest, RefusesAnObjectThatItDoesNotOwn) {
  harness.create(
      {ConfigMap{.metadata = {.name = "web-base", .namespace_ = "default"}, .data = {{"a", "b"}}}});
  harness.create({Shop{.metadata = {.name = web.name, .namespace_ = web.namespace_}}});
  harness.add(controller_for(shop_graph()));
  harness.run_for(1s);
  EXPECT_EQ(
      story(),
      "Failed: base: apply ConfigMap default/web-base: Shop web cannot control it: it exists and has no "
      "controller");
  EXPECT_EQ(harness.last().outcome.message,
            "dependents of Shop default/web failed: base: apply ConfigMap default/web-base: Shop web cannot "
            "control it: it exists and has no controller");
  EXPECT_TRUE(exists<ServiceAccount>("side")) << "another branch";
  harness.edit<Shop>(web, [](Shop& shop) { shop.spec.off = {"base"}; });
  harness.settle();
  EXPECT_EQ(harness.get<ConfigMap>(key_of_part("base"))->data.at("a"), "b");
  EXPECT_EQ(story(), "Ready: all dependents are ready");
}

TEST_F(DependentsOwnershipTest, AnObjectOfAFormerOwnerIsWaitedFor) {
  add(shop_graph());
  std::string seen;
  // The server has no time between an owner's end and that of its objects, so the owner is what differs.
  const auto as_another = [&, graph = shop_graph()](Context& context, const Shop& shop) {
    Shop another = shop;
    another.metadata.uid = "11111111-2222-3333-4444-555555555555";
    seen = graph.reconcile(context, another).condition().message;
  };
  harness.add(controller_for<Shop>(as_another).named("another"));
  changes();
  harness.settle();
  EXPECT_EQ(seen, "base: ConfigMap default/web-base is of a former Shop web");
  EXPECT_THAT(changes(), IsEmpty());
}

TEST_F(DependentsOwnershipTest, AnObjectThatTheGarbageCollectorDeletesIsMadeAgain) {
  ConfigMap old{.metadata = {.name = "web-base", .namespace_ = "default"}, .data = {{"old", "yes"}}};
  old.metadata.owner_references = {{.api_version = "test.evenkeel.dev/v1",
                                    .kind = "Shop",
                                    .name = "web",
                                    .uid = "11111111-2222-3333-4444-555555555555",
                                    .controller = true}};
  old.metadata.finalizers = {"other.example.com/hold"};
  harness.create({old});
  add(shop_graph());
  EXPECT_EQ(story(), "Waiting: base: ConfigMap default/web-base is being deleted");
  hold<ConfigMap>(key_of_part("base"), false);
  EXPECT_FALSE(harness.get<ConfigMap>(key_of_part("base"))->data.contains("old")) << harness.str();
}

TEST_F(DependentsOwnershipTest, AnOwnerThatIsMadeAgainGetsNewObjects) {
  add(shop_graph());
  const std::string uid = harness.get<ConfigMap>(key_of_part("base"))->metadata.uid;
  harness.remove<Shop>(web);
  harness.create({Shop{.metadata = {.name = web.name, .namespace_ = web.namespace_}}});
  harness.settle();
  const auto base = harness.get<ConfigMap>(key_of_part("base"));
  EXPECT_NE(base->metadata.uid, uid) << harness.str();
  EXPECT_EQ(controller_of(base->metadata)->uid, harness.get<Shop>(web)->metadata.uid);
  EXPECT_EQ(story(), "NotReady: base: ConfigMap default/web-base is not ready");
}

TEST_F(DependentsOwnershipTest, DeletesOnlyTheObjectThatItSaw) {
  bool wanted = true;
  testing::Harness slow{{.cache_lag = 1h, .expect_failures = true}};
  slow.create({Shop{.metadata = {.name = web.name, .namespace_ = web.namespace_}}});
  slow.add(controller_for(dependents<Shop>().add<ConfigMap>("base", part<ConfigMap>("base"),
                                                            {.when = [&](const Shop&) { return wanted; }})));
  slow.run_for(1min);
  ASSERT_TRUE(slow.find<ConfigMap>(key_of_part("base")));
  slow.remove<ConfigMap>(key_of_part("base"));
  slow.create({ConfigMap{.metadata = {.name = "web-base", .namespace_ = "default"}, .data = {{"a", "b"}}}});
  wanted = false;
  slow.enqueue(web);
  slow.run_for(1min);
  const std::vector<testing::Write> writes = slow.writes();
  ASSERT_THAT(writes, Contains(::testing::Field(&testing::Write::verb, "delete"))) << slow.str();
  EXPECT_EQ(slow.get<ConfigMap>(key_of_part("base"))->data.at("a"), "b");
  slow.settle(3h);
  EXPECT_EQ(slow.get<ConfigMap>(key_of_part("base"))->data.at("a"), "b");
  EXPECT_EQ(find_condition(slow.get<Shop>(web)->status.conditions, "Ready")->status, "True") << slow.str();
}

TEST_F(DependentsOwnershipTest, DeletesWhatIsNotDeclaredAnyMore) {
  add(dependents<Shop>()
          .add<ConfigMap>("base", part<ConfigMap>("base"))
          .add<ConfigMap>("former", part<ConfigMap>("former")));
  ASSERT_TRUE(exists<ConfigMap>("former"));
  testing::Harness next{{.world = harness.snapshot()}};
  next.add(controller_for(dependents<Shop>().add<ConfigMap>("base", part<ConfigMap>("base"))));
  next.settle();
  EXPECT_FALSE(next.find<ConfigMap>(key_of_part("former"))) << next.str();
  EXPECT_TRUE(next.find<ConfigMap>(key_of_part("base")));
}

TEST_F(DependentsOwnershipTest, GraphsWithNamesDoNotKnowOneAnothersObjects) {
  const auto both = [one = dependents<Shop>("one").add<ConfigMap>("base", part<ConfigMap>("base")),
                     two = dependents<Shop>().add<ConfigMap>("last", part<ConfigMap>("last"))](
                        Context& context, const Shop& shop) {
    const DependentsReport first = one.reconcile(context, shop);
    const DependentsReport second = two.reconcile(context, shop);
    EXPECT_THAT(first.dependents(), SizeIs(1));
    EXPECT_THAT(second.dependents(), SizeIs(1));
  };
  harness.create({Shop{.metadata = {.name = web.name, .namespace_ = web.namespace_}}});
  harness.add(controller_for<Shop>(both).owns<ConfigMap>());
  harness.settle();
  harness.enqueue(web);
  harness.settle();
  EXPECT_THAT(changes(), ElementsAre("apply web-base", "apply web-last")) << harness.str();
  EXPECT_EQ(harness.get<ConfigMap>(key_of_part("base"))->metadata.annotations.at(mark), "one/base");
}

TEST_F(DependentsOwnershipTest, TheGarbageCollectorDeletesThemWithTheirOwner) {
  add(shop_graph(), {.shelves = {"a"}});
  open("base");
  changes();
  harness.remove<Shop>(web);
  harness.settle();
  EXPECT_THAT(harness.list<Secret>(), IsEmpty());
  EXPECT_THAT(changes(), IsEmpty());
}

TEST_F(DependentsOwnershipTest, DeletesInOrderBeforeItsOwnerGoes) {
  add(shop_graph().delete_in_order("test.evenkeel.dev/dependents"), {.shelves = {"a"}});
  open("base");
  hold<ConfigMap>(key_of_part("last"));
  changes();
  harness.remove<Shop>(web);
  harness.settle(10s);
  EXPECT_THAT(changes(), ElementsAre("delete web-side", "delete shelf-a", "delete web-last"))
      << harness.str();
  EXPECT_EQ(harness.last().outcome.message,
            "deleting dependents: base: Deleting: waits for the end of middle, last; middle: Deleting: waits "
            "for the end of last; last: Deleting: ConfigMap default/web-last is being deleted; shelves: "
            "NotWanted; side: NotWanted");
  hold<ConfigMap>(key_of_part("last"), false);
  EXPECT_THAT(changes(), ElementsAre("delete web-middle", "delete web-base", "patch web")) << harness.str();
  EXPECT_FALSE(harness.find<Shop>(web));
}

TEST_F(DependentsOwnershipTest, WaitsUntilWhatADependentStandsForIsGone) {
  bool gone = false;
  add(dependents<Shop>()
          .add<ConfigMap>("base", part<ConfigMap>("base"), {.when = unless_off("base")})
          .add<Secret>("next", [](const Shop&) { return Secret{.metadata = {.name = "web-next"}}; },
                       {.after = {"base"}, .gone = [&](const Shop&) -> Readiness {
                          return {gone, "the disk is in use"};
                        }}));
  changes();
  edit([](ShopSpec& spec) { spec.off = {"base"}; });
  EXPECT_THAT(changes(), ElementsAre("delete web-next"));
  EXPECT_EQ(story(), "Deleting: base: waits for the end of next");
  gone = true;
  harness.enqueue(web);
  harness.settle();
  EXPECT_THAT(changes(), ElementsAre("delete web-base"));
}

TEST_F(DependentsOwnershipTest, DeletesWithTheDeclaredPropagation) {
  add(dependents<Shop>().add<ConfigMap>(
      "base", part<ConfigMap>("base"), {.when = unless_off("base"), .propagation = Propagation::foreground}));
  const std::string uid = harness.get<ConfigMap>(key_of_part("base"))->metadata.uid;
  edit([](ShopSpec& spec) { spec.off = {"base"}; });
  for (const testing::Write& write : harness.writes()) {
    if (write.verb != "delete") continue;
    EXPECT_EQ(write.sent["propagationPolicy"], Json("Foreground"));
    EXPECT_EQ(write.sent["preconditions"]["uid"], Json(uid));
  }
  EXPECT_FALSE(exists<ConfigMap>("base"));
}

TEST_F(DependentsOwnershipTest, RefusesObjectsThatItCannotOwn) {
  const auto named = [](std::string name, std::string namespace_ = {}) {
    return [=](const Shop&) { return ConfigMap{.metadata = {.name = name, .namespace_ = namespace_}}; };
  };
  harness.create({"{apiVersion: v1, kind: Namespace, metadata: {name: far}}"});
  add(dependents<Shop>()
          .add<ConfigMap>("nameless", named(""))
          .add<ConfigMap>("far", named("map", "far"))
          .add<ConfigMap>("one", named("same"))
          .add<ConfigMap>("two", named("same"))
          .add_each<ConfigMap>(
              "twice",
              [](const Shop&) { return std::vector<ConfigMap>(2, ConfigMap{.metadata = {.name = "twin"}}); })
          .conditions(DependentConditions::each));
  EXPECT_EQ(condition("NamelessReady").message, "ConfigMap: the object has no name");
  EXPECT_EQ(condition("FarReady").message,
            "owner reference: object \"far/map\" cannot be owned by Shop default/web of another namespace");
  EXPECT_EQ(condition("OneReady").status, "True");
  EXPECT_EQ(condition("TwoReady").message, "ConfigMap default/same is made by \"one\", too");
  EXPECT_EQ(condition("TwiceReady").message, "ConfigMap default/twin is made twice");
  EXPECT_THAT(harness.list<ConfigMap>({.namespace_ = "far"}), IsEmpty());
}

TEST_F(DependentsOwnershipTest, NothingIsAppliedForAnOwnerThatIsBeingDeleted) {
  const auto graph = shop_graph();
  std::string seen;
  harness.create(
      {Shop{.metadata = {
                .name = web.name, .namespace_ = web.namespace_, .finalizers = {"other.example.com/hold"}}}});
  harness.remove<Shop>(web);
  harness.add(controller_for<Shop>([&](Context& context, const Request&) {
    if (const auto shop = context.find<Shop>(web)) seen = graph.reconcile(context, *shop).condition().message;
  }));
  harness.settle();
  EXPECT_EQ(seen, "base: Shop default/web is being deleted");
  EXPECT_THAT(changes(), IsEmpty());
}

/// A cluster-scoped owner.
struct Chain {
  static constexpr ResourceInfo resource{.group = "test.evenkeel.dev",
                                         .version = "v1",
                                         .kind = "Chain",
                                         .plural = "chains",
                                         .scope = Scope::cluster};
  struct Spec {
    std::vector<std::string> towns = {};
  };
  struct Status {
    std::vector<Condition> conditions = {};
  };
  ObjectMeta metadata = {};
  Spec spec = {};
  Status status = {};
};
EVENKEEL_FIELDS(Chain::Spec, towns)
EVENKEEL_FIELDS(Chain::Status, conditions)
EVENKEEL_FIELDS(Chain, metadata, spec, status)

TEST_F(DependentsOwnershipTest, AClusterScopedOwnerHasObjectsInAnyNamespace) {
  const auto branches = [](const Chain& chain) {
    std::vector<ConfigMap> maps;
    for (const std::string& town : chain.spec.towns)
      maps.push_back({.metadata = {.name = "branch", .namespace_ = town}});
    return maps;
  };
  harness.create({"{apiVersion: v1, kind: Namespace, metadata: {name: far}}",
                  Chain{.metadata = {.name = "books"}, .spec = {.towns = {"default", "far"}}}});
  harness.add(controller_for(dependents<Chain>().add_each<ConfigMap>("branches", branches)));
  harness.settle();
  EXPECT_TRUE(harness.find<ConfigMap>({"default", "branch"})) << harness.str();
  EXPECT_TRUE(harness.find<ConfigMap>({"far", "branch"}));
  harness.edit<Chain>({"", "books"}, [](Chain& chain) { chain.spec.towns = {"far"}; });
  harness.settle();
  EXPECT_FALSE(harness.find<ConfigMap>({"default", "branch"})) << harness.str();
  harness.edit<Chain>({"", "books"}, [](Chain& chain) { chain.spec.towns = {"far", ""}; });
  harness.run_for(1s);
  EXPECT_EQ(harness.get<Chain>({"", "books"})->status.conditions[0].message,
            "branches: ConfigMap branch: the object needs a namespace, because its owner has none");
  EXPECT_TRUE(harness.find<ConfigMap>({"far", "branch"}));
}

TEST_F(DependentsOwnershipTest, AKindThatCannotBeReadFailsAlone) {
  std::string seen;
  const auto graph = shop_graph();
  harness.create(
      {Shop{.metadata = {.name = web.name, .namespace_ = web.namespace_}, .spec = {.off = {"side"}}}});
  // Without watches of their kinds, the objects are read from the server.
  harness.add(controller_for<Shop>([&](Context& context, const Shop& shop) {
    const DependentsReport report = graph.reconcile(context, shop);
    seen = report.str();
  }));
  harness.settle();
  ASSERT_EQ(seen,
            "base: NotReady: ConfigMap default/web-base is not ready; middle: Waiting: waits for base; last: "
            "Waiting: waits for base, middle; shelves: Ready; side: NotWanted");
  harness.inject({.verb = "list", .resource = "configmaps", .status = 403});
  harness.edit<Shop>(web, [](Shop& shop) { shop.spec.off = {}; });
  harness.settle();
  const std::string failed = "Failed: list ConfigMap in default: 403 Forbidden: injected by a fault rule";
  EXPECT_EQ(seen, "base: " + failed + "; middle: Waiting: waits for base; last: Waiting: waits for base, " +
                      "middle; shelves: " + failed + "; side: Ready");
  EXPECT_TRUE(exists<ServiceAccount>("side"));
  EXPECT_TRUE(exists<ConfigMap>("base"));
}

TEST_F(DependentsOwnershipTest, StatesTheRightsThatItNeeds) {
  const auto graph = shop_graph();
  add(graph, {.shelves = {"a"}});
  open("base");
  edit([](ShopSpec& spec) { spec = {.off = {"base", "side"}}; });
  const std::vector<PolicyRule> rules = printed_rules({controller_for(graph)}, graph.rules());
  // Reads after conflicts and lost answers, and where OwnerReferencesPermissionEnforcement is on.
  EXPECT_THAT(
      compare_rights(rules, harness.accesses().accesses()),
      Each(AnyOf(StartsWith("not used: get of "), "not used: update of shops.test.evenkeel.dev/finalizers")));
}

}  // namespace
}  // namespace evenkeel::dependents_test
