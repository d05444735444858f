// SPDX-License-Identifier: Apache-2.0
// The gate with a server, in virtual time: own writes of a failing reconciler leave it on the ladder, and
// writes of anybody else run it at once.
#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/testing/harness.hpp>

namespace evenkeel::own_write_gate_tests {

struct BoxSpec {
  int size = 1;
};
EVENKEEL_FIELDS(BoxSpec, size)

struct BoxStatus {
  std::optional<int> tries = {};
  std::optional<std::string> address = {};
  std::vector<Condition> conditions = {};
};
EVENKEEL_FIELDS(BoxStatus, tries, address, conditions)

struct Box {
  static constexpr ResourceInfo resource{
      .group = "own-write.evenkeel.dev", .version = "v1", .kind = "Box", .plural = "boxes"};
  ObjectMeta metadata = {};
  BoxSpec spec = {};
  BoxStatus status = {};
};
EVENKEEL_FIELDS(Box, metadata, spec, status)

namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::Harness;

const ObjectKey web{"default", "web"};
constexpr std::array<Duration, 10> ladder = {0ms, 5ms, 15ms, 35ms, 75ms, 155ms, 315ms, 635ms, 1275ms, 2555ms};

Box box() {
  return {.metadata = {.name = web.name, .namespace_ = web.namespace_}};
}

void set_address(Harness& harness, const std::string& address) {
  harness.edit_status<Box>(web, [&](BoxStatus& status) { status.address = address; });
}

std::vector<Duration> starts_of(const Harness& harness, const std::string& controller = "box") {
  std::vector<Duration> starts;
  for (const auto& run : harness.runs()) {
    if (run.controller == controller) starts.push_back(run.at);
  }
  return starts;
}

[[noreturn]] void fail() {
  throw std::runtime_error("not yet");
}

// Writes something else in each run.
using WriteOnce = std::function<void(Context&, const Box&, int run)>;

ControllerSpec writes_and_fails(const WriteOnce& write) {
  return controller_for<Box>([write, run = 0](Context& context, const Box& box) mutable {
    write(context, box, ++run);
    fail();
  });
}

// A reconciler that fails until the kubelet reports a condition must not sleep through the report.
TEST(OwnWriteGate, AConditionThatTheKubeletWritesRunsAFailingPodAtOnce) {
  for (const Duration reported : {30s, 700s, 1400s}) {
    Harness harness({.expect_failures = true});
    harness.add(controller_for<Pod>([](Context&, const Pod& pod) {
      const auto is_ready = [](const core_v1::PodCondition& one) {
        return one.type == "Ready" && one.status == "True";
      };
      if (std::ranges::none_of(pod.status.conditions, is_ready)) throw std::runtime_error("not ready yet");
    }));
    harness.create({R"(
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec: {containers: [{name: web, image: "web:1"}]})"});
    harness.after(reported, [&] {
      harness.edit_status<Pod>(
          web, [](core_v1::PodStatus& status) { status.conditions = {{.status = "True", .type = "Ready"}}; });
    });
    harness.run_for(1h);
    EXPECT_THAT(starts_of(harness, "pod"), Contains(reported)) << harness.str();
    EXPECT_EQ(harness.last().at, reported) << "and that was the last run";
  }
}

TEST(OwnWriteGate, AReconcilerThatWritesAndFailsStaysOnTheLadder) {
  const std::map<std::string, WriteOnce> writes = {
      {"patch of the status",
       [](Context& context, const Box& box, int run) {
         context.patch_status(box, [run](BoxStatus& status) { status.tries = run; });
       }},
      {"patch of a list in the status",
       [](Context& context, const Box& box, int run) {
         context.patch_status(box, [run](BoxStatus& status) {
           status.conditions = {{.type = "Ready", .status = "False", .reason = "Try" + std::to_string(run)}};
         });
       }},
      {"apply of the status",
       [](Context& context, const Box&, int run) {
         Box applied = box();
         applied.status.tries = run;
         applied.status.conditions = {
             {.type = "Ready", .status = "False", .reason = "Try" + std::to_string(run)}};
         context.client().apply_status(applied);
       }},
      {"two patches of the status",
       [](Context& context, const Box& box, int run) {
         context.patch_status(box, [run](BoxStatus& status) { status.tries = run; });
         context.patch_status(box, [run](BoxStatus& status) { status.address = std::to_string(run); });
       }},
      {"spec", [](Context& context, const Box& box,
                  int run) { context.patch(box, [run](Box& changed) { changed.spec.size = run + 1; }); }},
      {"label and annotation",
       [](Context& context, const Box& box, int run) {
         context.patch(box, [run](Box& changed) {
           changed.metadata.labels["run"] = std::to_string(run);
           changed.metadata.annotations["run"] = std::to_string(run);
         });
       }},
      {"finalizer",
       [](Context& context, const Box& box, int run) {
         context.patch(box, [run](Box& changed) {
           changed.metadata.finalizers = {"own-write.evenkeel.dev/" + std::to_string(run)};
         });
       }},
      {"JSON patch of a list in the status",
       [](Context& context, const Box& box, int run) {
         const Json item = Json::object({{"type", "Ready"},
                                         {"status", "False"},
                                         {"reason", "Try" + std::to_string(run)},
                                         {"message", ""},
                                         {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
         const bool first = box.status.conditions.empty();
         Json operations = Json::array();
         operations.push_back(
             Json::object({{"op", first ? "add" : "replace"},
                           {"path", first ? "/status" : "/status/conditions/0"},
                           {"value", first ? Json::object({{"conditions", Json::array({item})}}) : item}}));
         context.client().patch<Box>(web, Patch::json(operations), {.subresource = "status"});
       }},
      {"update of the whole object",
       [](Context& context, const Box&, int run) {
         const ResourceClient boxes = context.client().resource(ResourceId(Box::resource));
         DynamicObject object = *boxes.get(web);
         object["spec"]["size"] = run + 1;
         boxes.update(object);
       }},
  };
  for (const auto& [what, write] : writes) {
    for (const Duration lag : {0ms, 1ms, 300ms}) {
      SCOPED_TRACE(what + ", the events " + std::to_string(lag / 1ms) + " ms late");
      Harness harness({.cache_lag = lag, .expect_failures = true});
      harness.add(writes_and_fails(write));
      harness.create({box()});
      harness.run_for(3s);
      EXPECT_THAT(starts_of(harness), ElementsAreArray(ladder)) << harness.str();
    }
  }
}

// The finalizer is written before the reconciler is called.
TEST(OwnWriteGate, AFinalizerThatTheLibraryAddsLeavesTheObjectOnTheLadder) {
  Harness harness({.expect_failures = true});
  harness.add(controller_for<Box>([](Context&, const Box&) {
                fail();
              }).finalize("own-write.evenkeel.dev/x", [](Context&, const Box&) { return done(); }));
  harness.create({box()});
  harness.run_for(3s);
  EXPECT_THAT(starts_of(harness), ElementsAreArray(ladder)) << harness.str();
  EXPECT_EQ(harness.changes().size(), 1U);
}

// Both events come 40 ms later, each by itself.
TEST(OwnWriteGate, AStatusOfSomebodyElseRightAfterAnOwnOneRunsAtOnce) {
  Harness harness({.cache_lag = 40ms, .expect_failures = true});
  harness.add(writes_and_fails([&](Context& context, const Box& box, int run) {
    if (run > 1) return;
    context.patch_status(box, [](BoxStatus& status) { status.tries = 1; });
    set_address(harness, "10.0.0.1");
  }));
  harness.create({box()});
  harness.run_for(100ms);
  EXPECT_THAT(starts_of(harness), ElementsAre(0ms, 5ms, 15ms, 35ms, 40ms, 75ms)) << harness.str();
}

// The apply changes nothing and is answered with the version of the status that the cache has not seen yet.
TEST(OwnWriteGate, AnApplyWithoutAnEffectDoesNotHideTheStatusOfSomebodyElse) {
  Harness harness({.cache_lag = 100ms, .expect_failures = true});
  harness.add(writes_and_fails([](Context& context, const Box&, int) {
    Box applied = box();
    applied.status.tries = 1;
    context.client().apply_status(applied);
  }));
  harness.create({box()});
  harness.after(320ms, [&] { set_address(harness, "10.0.0.1"); });
  harness.after(400ms, [&] { harness.enqueue(web); });
  harness.run_for(700ms);
  EXPECT_THAT(starts_of(harness), ElementsAre(0ms, 5ms, 15ms, 35ms, 75ms, 155ms, 315ms, 400ms, 420ms, 635ms))
      << harness.str();
}

TEST(OwnWriteGate, AWriteWhoseAnswerWasLostCountsAsOneOfSomebodyElse) {
  Harness harness(
      {.faults =
           {{.verb = "patch", .resource = "boxes/status", .count = 1, .drop = apiserver::FaultDrop::after}},
       .expect_failures = true});
  harness.add(writes_and_fails([](Context& context, const Box& box, int run) {
    context.patch_status(box, [run](BoxStatus& status) { status.tries = run; });
  }));
  harness.create({box()});
  harness.run_for(40ms);
  EXPECT_THAT(starts_of(harness), ElementsAre(0ms, 0ms, 5ms, 15ms, 35ms)) << harness.str();
}

// The first controller waits for what the second one writes; both write the status.
TEST(OwnWriteGate, AWriteOfAnotherControllerOfTheProcessRunsAtOnce) {
  Harness harness({.expect_failures = true});
  harness.add(controller_for<Box>([run = 0](Context& context, const Box& box) mutable {
                if (box.status.address) return;
                context.patch_status(box, [&](BoxStatus& status) { status.tries = ++run; });
                fail();
              }).named("user"));
  harness.add(controller_for<Box>(
                  [](Context& context, const Box& box) {
                    if (context.clock().now() < TimePoint{} + 700s) return requeue_after(700s);
                    context.patch_status(box, [](BoxStatus& status) { status.address = "10.0.0.1"; });
                    return done();
                  },
                  {.when = generation_changed()})
                  .named("giver"));
  harness.create({box()});
  harness.run_for(701s);
  EXPECT_EQ(starts_of(harness, "giver").back(), starts_of(harness, "user").back()) << harness.str();
  EXPECT_GE(starts_of(harness, "user").back(), 700s);
}

TEST(OwnWriteGate, AUserWhoCorrectsTheSpecDuringAFailingRunIsAnsweredAtOnce) {
  Harness harness({.expect_failures = true});
  harness.add(controller_for<Box>([&](Context& context, const Box& box) {
    if (box.spec.size > 1) return;
    context.patch_status(box, [](BoxStatus& status) { status.tries = 1; });
    harness.edit<Box>(web, [](Box& changed) { changed.spec.size = 2; });
    fail();
  }));
  harness.create({box()});
  harness.run_for(1s);
  EXPECT_THAT(starts_of(harness), ElementsAre(0ms, 0ms)) << harness.str();
}

}  // namespace
}  // namespace evenkeel::own_write_gate_tests
