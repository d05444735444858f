// SPDX-License-Identifier: Apache-2.0
// Unit tests of the demo operator: no server, no thread, virtual time.
#include "demo.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include <evenkeel/testing/run.hpp>

using namespace std::chrono_literals;

const ek::ObjectKey web{"default", "web"};

Demo demo(int replicas, const std::string& image = "web:1") {
  return {.metadata = {.name = "web", .namespace_ = "default"},
          .spec = {.replicas = replicas, .image = image}};
}

TEST(Demo, RollsOutOneReplicaAtATime) {
  // One run. What it answered, and what it wrote:
  const ek::testing::Bench bench = ek::testing::run_once(reconcile, {demo(3)});
  EXPECT_EQ(bench.last().outcome.kind, ek::OutcomeKind::requeue_after);
  EXPECT_EQ(bench.last().outcome.delay, 100ms);
  EXPECT_EQ(bench.get<Demo>(web)->status.ready_replicas, 1) << bench.str();
  EXPECT_EQ(bench.get<ek::ConfigMap>(web)->data.at("image"), "web:1");
}

TEST(Demo, ComesToRest) {
  // The whole controller, with all that its own writes cause, until nothing is due.
  ek::testing::Bench bench = ek::testing::run(demo_controller(), {demo(3)});
  EXPECT_EQ(bench.get<Demo>(web)->status.phase, "Ready") << bench.str();
  // Nobody asks for anything new: a run more must change nothing.
  const std::size_t changes = bench.changes().size();
  bench.enqueue(web);
  bench.settle();
  EXPECT_EQ(bench.changes().size(), changes) << bench.str();
}

TEST(Demo, RetriesABrokenImageUntilItIsMended) {
  ek::testing::Bench bench = ek::testing::run(demo_controller(), {demo(1, "web:broken")},
                                              {.limit = 1min, .bench = {.expect_failures = true}});
  EXPECT_EQ(bench.last().outcome.kind, ek::OutcomeKind::error);
  EXPECT_EQ(bench.last().outcome.message, "no such image: web:broken");
  EXPECT_GT(bench.last().attempt, 5u);
  bench.edit<Demo>(web, [](Demo& demo) { demo.spec.image = "web:2"; });
  bench.settle();
  EXPECT_EQ(bench.get<Demo>(web)->status.image, "web:2") << bench.str();
}

TEST(Demo, GoesOnAfterAConflictAndAfterACrash) {
  ek::testing::Bench bench(
      {.faults = {{.verb = "patch", .resource = "demos/status", .count = 1, .status = 409}}});
  bench.add(demo_controller());
  bench.create({demo(3)});
  bench.run_for(150ms);
  bench.restart();
  bench.settle();
  EXPECT_EQ(bench.get<Demo>(web)->status.ready_replicas, 3) << bench.str();
}

TEST(Demo, CleansUpBeforeItGoes) {
  ek::testing::Bench bench = ek::testing::run(demo_controller(), {demo(1)});
  bench.remove<Demo>(web);
  bench.settle();
  EXPECT_FALSE(bench.find<Demo>(web)) << bench.str();
  EXPECT_FALSE(bench.find<ek::ConfigMap>(web)) << "the garbage collector takes what it owned";
}
