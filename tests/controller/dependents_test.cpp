// SPDX-License-Identifier: Apache-2.0
// Passes over a graph of dependents: order, waiting, deletions and what the status shows of them.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dependents_fixture.hpp"

namespace evenkeel::dependents_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_F(DependentsTest, AppliesWhatMayExistAndWaitsWithTheRest) {
  add(shop_graph());
  EXPECT_THAT(changes(), ElementsAre("apply web-base", "apply web-side")) << harness.str();
  EXPECT_EQ(story(), "NotReady: base: ConfigMap default/web-base is not ready");
  EXPECT_EQ(condition().status, "False");
  EXPECT_EQ(condition().observed_generation, 1);
  open("base");
  EXPECT_THAT(changes(), ElementsAre("apply web-middle", "apply web-last"));
  EXPECT_EQ(story(), "Ready: all dependents are ready");
  EXPECT_EQ(condition().status, "True");
}

TEST_F(DependentsTest, SendsNothingIfNothingChanged) {
  add(shop_graph());
  open("base");
  const std::size_t before = harness.writes().size();
  harness.enqueue(web);
  harness.settle();
  harness.restart();
  harness.settle();
  EXPECT_EQ(harness.writes().size(), before) << harness.str();
}

TEST_F(DependentsTest, LeavesWhatWaitsAsItIs) {
  add(shop_graph());
  open("base");
  harness.edit<ConfigMap>(key_of_part("base"), [](ConfigMap& map) { map.data.erase("open"); });
  edit([](ShopSpec& spec) { spec.text = "two"; });
  EXPECT_EQ(harness.get<ConfigMap>(key_of_part("base"))->data.at("text"), "two");
  EXPECT_EQ(harness.get<ConfigMap>(key_of_part("last"))->data.at("text"), "one");
  open("base");
  EXPECT_EQ(harness.get<ConfigMap>(key_of_part("last"))->data.at("text"), "two");
}

TEST_F(DependentsTest, DeletesInReverseOrderWhenAConditionBecomesFalse) {
  add(shop_graph());
  open("base");
  changes();
  edit([](ShopSpec& spec) { spec.off = {"base"}; });
  EXPECT_THAT(changes(), ElementsAre("delete web-last", "delete web-middle", "delete web-base"));
  EXPECT_EQ(story(), "Ready: all dependents are ready");
  edit([](ShopSpec& spec) { spec.off = {}; });
  EXPECT_THAT(changes(), ElementsAre("apply web-base"));
}

TEST_F(DependentsTest, WaitsForTheEndOfAnObjectBeforeItDeletesWhatThatDependsOn) {
  add(shop_graph());
  open("base");
  hold<ConfigMap>(key_of_part("last"));
  changes();
  edit([](ShopSpec& spec) { spec.off = {"base"}; });
  EXPECT_THAT(changes(), ElementsAre("delete web-last"));
  EXPECT_EQ(story(), "Deleting: base: waits for the end of middle, last");
  hold<ConfigMap>(key_of_part("last"), false);
  EXPECT_THAT(changes(), ElementsAre("delete web-middle", "delete web-base")) << harness.str();
}

TEST_F(DependentsTest, MakesAnObjectAgainWhenItsOldOneIsGone) {
  add(shop_graph());
  hold<ServiceAccount>(key_of_part("side"));
  changes();
  harness.remove<ServiceAccount>(key_of_part("side"));
  harness.settle();
  EXPECT_THAT(changes(), IsEmpty());
  edit([](ShopSpec& spec) { spec.off = {"base"}; });
  EXPECT_EQ(story(), "Waiting: side: ServiceAccount default/web-side is being deleted");
  changes();
  hold<ServiceAccount>(key_of_part("side"), false);
  EXPECT_THAT(changes(), ElementsAre("apply web-side")) << harness.str();
}

TEST_F(DependentsTest, AnEndedRunIsNotAFailureOfADependent) {
  bool ends = false;
  add(dependents<Shop>()
          .add<ConfigMap>("base", part<ConfigMap>("base"))
          .add<ConfigMap>("last", [&](const Shop& shop) {
            if (ends) throw Cancelled("the reconcile timeout is over");
            return part<ConfigMap>("last")(shop);
          }));
  ends = true;
  harness.enqueue(web);
  harness.run_for(1s);
  EXPECT_EQ(harness.last().outcome.message, "the reconcile timeout is over");
  EXPECT_EQ(story(), "Ready: all dependents are ready");
}

TEST_F(DependentsTest, GrowsAndShrinks) {
  add(shop_graph(), {.shelves = {"a", "b"}});
  EXPECT_THAT(changes(), ElementsAre("apply web-base", "apply shelf-a", "apply shelf-b", "apply web-side"));
  edit([](ShopSpec& spec) { spec.shelves = {"c", "b"}; });
  EXPECT_THAT(changes(), ElementsAre("apply shelf-c", "delete shelf-a")) << harness.str();
  edit([](ShopSpec& spec) { spec.shelves = {}; });
  EXPECT_THAT(changes(), UnorderedElementsAre("delete shelf-b", "delete shelf-c"));
}

TEST_F(DependentsTest, FailuresOfBranchesAreThrownTogether) {
  harness.create({Shop{.metadata = {.name = web.name, .namespace_ = web.namespace_},
                       .spec = {.broken = {"base", "side"}, .shelves = {"a"}}}});
  harness.add(controller_for(shop_graph()));
  harness.run_for(1s);
  EXPECT_THAT(changes(), ElementsAre("apply shelf-a")) << harness.str();
  EXPECT_EQ(harness.last().outcome.message,
            "dependents of Shop default/web failed: base: no base today; side: no side today");
  EXPECT_EQ(story(), "Failed: base: no base today");
  EXPECT_EQ(condition("MiddleReady").type, "");
  edit([](ShopSpec& spec) { spec.broken = {}; });
  EXPECT_TRUE(exists<ServiceAccount>("side"));
}

TEST_F(DependentsTest, AFailureOfAConditionDeletesNothing) {
  bool fails = false;
  add(dependents<Shop>()
          .add<ConfigMap>("base", part<ConfigMap>("base"),
                          {.when =
                               [&](const Shop&) {
                                 if (fails) throw std::runtime_error("no idea");
                                 return true;
                               }})
          .add<Secret>("next", [](const Shop&) { return Secret{.metadata = {.name = "web-next"}}; },
                       {.after = {"base"}}));
  changes();
  fails = true;
  harness.enqueue(web);
  harness.run_for(1s);
  EXPECT_EQ(story(), "Failed: base: no idea");
  EXPECT_THAT(changes(), IsEmpty());
}

TEST_F(DependentsTest, RecreatesWhatCannotBeChangedIfThatIsDeclared) {
  const auto fixed = [](const Shop& shop) {
    return ConfigMap{.metadata = {.name = "web-base"}, .data = {{"text", shop.spec.text}}, .immutable = true};
  };
  add(dependents<Shop>().add<ConfigMap>("base", fixed, {.recreate_immutable = true}));
  edit([](ShopSpec& spec) { spec.text = "two"; });
  EXPECT_EQ(harness.get<ConfigMap>(key_of_part("base"))->data.at("text"), "two");
}

TEST_F(DependentsTest, ReportsEachDependentIfThatIsAsked) {
  add(shop_graph().conditions(DependentConditions::each), {.off = {"side"}});
  EXPECT_EQ(condition("BaseReady").status, "False");
  EXPECT_EQ(condition("BaseReady").message, "ConfigMap default/web-base is not ready");
  EXPECT_EQ(condition("MiddleReady").reason, "Waiting");
  EXPECT_EQ(condition("MiddleReady").message, "waits for base");
  EXPECT_EQ(condition("ShelvesReady").status, "True");
  EXPECT_EQ(condition("SideReady").type, "") << "it is unwanted";
  edit([](ShopSpec& spec) { spec.off = {}; });
  EXPECT_EQ(condition("SideReady").status, "True");
  edit([](ShopSpec& spec) { spec.off = {"side"}; });
  EXPECT_EQ(condition("SideReady").type, "");
}

TEST_F(DependentsTest, WritesNoConditionIfNoneIsAsked) {
  add(shop_graph().conditions(DependentConditions::none));
  EXPECT_EQ(condition().type, "");
  EXPECT_TRUE(exists<ConfigMap>("base"));
}

TEST_F(DependentsTest, AReconcilerOfTheProgramMayCallIt) {
  std::vector<std::string> reports;
  const auto graph = shop_graph();
  const auto reconcile = [&reports, graph](Context& context, const Shop& shop) {
    const DependentsReport report = graph.reconcile(context, shop);
    reports.push_back(std::string(state_name(report.at("middle").state)) + ", " +
                      std::to_string(report.at("base").written) + " written");
    return report.result();
  };
  harness.create({Shop{.metadata = {.name = web.name, .namespace_ = web.namespace_}}});
  harness.add(controller_for(graph, reconcile));
  harness.settle();
  open("base");
  EXPECT_EQ(reports.front(), "Waiting, 1 written");
  EXPECT_EQ(reports.back(), "Ready, 0 written");
  EXPECT_EQ(condition().type, "") << "the program writes its status";
}

}  // namespace
}  // namespace evenkeel::dependents_test
