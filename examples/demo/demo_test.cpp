// SPDX-License-Identifier: Apache-2.0
// Unit tests of the demo operator: no server, no thread, virtual time.
#include "demo.hpp"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/testing/run.hpp>

using namespace std::chrono_literals;

const ek::ObjectKey web{"default", "web"};

Demo demo(int replicas, const std::string& image = "web:1") {
  return {.metadata = {.name = "web", .namespace_ = "default"},
          .spec = {.replicas = replicas, .image = image}};
}

TEST(Demo, RollsOutOneReplicaAtATime) {
  // One run, its result, and its writes:
  const ek::testing::Harness harness = ek::testing::run_once(reconcile, {demo(3)});
  EXPECT_EQ(harness.last().outcome.kind, ek::OutcomeKind::requeue_after);
  EXPECT_EQ(harness.last().outcome.delay, 100ms);
  EXPECT_EQ(harness.get<Demo>(web)->status.ready_replicas, 1) << harness.str();
  EXPECT_EQ(harness.get<ek::ConfigMap>(web)->data.at("image"), "web:1");
}

TEST(Demo, ComesToRest) {
  // The complete controller, including the effects of its own writes, until no work is left.
  ek::testing::Harness harness = ek::testing::run(demo_controller(), {demo(3)});
  EXPECT_EQ(harness.get<Demo>(web)->status.phase, "Ready") << harness.str();
  // The desired state is unchanged: another run must not change anything.
  const std::size_t changes = harness.changes().size();
  harness.enqueue(web);
  harness.settle();
  EXPECT_EQ(harness.changes().size(), changes) << harness.str();
}

TEST(Demo, RetriesABrokenImageUntilItIsMended) {
  ek::testing::Harness harness = ek::testing::run(demo_controller(), {demo(1, "web:broken")},
                                                  {.limit = 1min, .harness = {.expect_failures = true}});
  EXPECT_EQ(harness.last().outcome.kind, ek::OutcomeKind::error);
  EXPECT_EQ(harness.last().outcome.message, "no such image: web:broken");
  EXPECT_GT(harness.last().attempt, 5u);
  harness.edit<Demo>(web, [](Demo& demo) { demo.spec.image = "web:2"; });
  harness.settle();
  EXPECT_EQ(harness.get<Demo>(web)->status.image, "web:2") << harness.str();
}

TEST(Demo, GoesOnAfterAConflictAndAfterACrash) {
  ek::testing::Harness harness(
      {.faults = {{.verb = "patch", .resource = "demos/status", .count = 1, .status = 409}}});
  harness.add(demo_controller());
  harness.create({demo(3)});
  harness.run_for(150ms);
  harness.restart();
  harness.settle();
  EXPECT_EQ(harness.get<Demo>(web)->status.ready_replicas, 3) << harness.str();
}

TEST(Demo, ScalesEitherWayFromOneWorld) {
  const ek::testing::Harness settled = ek::testing::run(demo_controller(), {demo(3)});
  const ek::apiserver::World world = settled.snapshot();
  for (const int replicas : {1, 5}) {
    ek::testing::Harness harness({.world = world});
    harness.add(demo_controller());
    harness.edit<Demo>(web, [replicas](Demo& demo) { demo.spec.replicas = replicas; });
    harness.settle();
    EXPECT_EQ(harness.get<Demo>(web)->status.ready_replicas, replicas) << harness.str();
  }
  EXPECT_EQ(settled.get<Demo>(web)->status.ready_replicas, 3);
}

TEST(Demo, CleansUpBeforeItGoes) {
  ek::testing::Harness harness = ek::testing::run(demo_controller(), {demo(1)});
  harness.remove<Demo>(web);
  harness.settle();
  EXPECT_FALSE(harness.find<Demo>(web)) << harness.str();
  EXPECT_FALSE(harness.find<ek::ConfigMap>(web)) << "the garbage collector takes what it owned";
}

TEST(Demo, IsGrantedExactlyWhatItDoes) {
  ek::testing::Harness harness = ek::testing::run(demo_controller(), {demo(2)});
  harness.remove<Demo>(web);
  harness.settle();
  const std::vector<ek::PolicyRule> rules = ek::printed_rules({demo_controller()}, demo_rules());
  EXPECT_THAT(ek::compare_rights(rules, harness.accesses().accesses()),
              ::testing::UnorderedElementsAre(
                  // After a conflict or a lost answer.
                  "not used: get of configmaps", "not used: get of demos.demo.evenkeel.dev",
                  // Where OwnerReferencesPermissionEnforcement is on.
                  "not used: update of demos.demo.evenkeel.dev/finalizers"));
}
