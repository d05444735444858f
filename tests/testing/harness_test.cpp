// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/int_or_string.hpp>
#include <evenkeel/api/quantity.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/run.hpp>

#include "gadget.hpp"

namespace harness_types {

// Kinds of other projects: one in a group with the same suffix as those of Kubernetes, one for which no CRD
// can be made.
struct Gateway {
  static constexpr evenkeel::ResourceInfo resource{
      .group = "gateway.networking.k8s.io", .kind = "Gateway", .plural = "gateways"};
  evenkeel::ObjectMeta metadata;
};
EVENKEEL_FIELDS(Gateway, metadata)
struct Dotless {
  static constexpr evenkeel::ResourceInfo resource{
      .group = "dotless", .kind = "Dotless", .plural = "dotlesses"};
  evenkeel::ObjectMeta metadata;
};
EVENKEEL_FIELDS(Dotless, metadata)

// A schema must not admit what the decoder refuses: nobody could read such an object any more.
struct LimitsSpec {
  std::optional<evenkeel::Duration> max_age = {};
  std::optional<evenkeel::Quantity> size = {};
  std::optional<evenkeel::IntOrString> port = {};
  std::optional<std::uint8_t> count = {};
};
EVENKEEL_FIELDS(LimitsSpec, max_age, (size, evenkeel::pattern("[0-9]")), (port, evenkeel::maximum(1e12)),
                (count, evenkeel::maximum(1000)))
struct Limits {
  static constexpr evenkeel::ResourceInfo resource{
      .group = "a.example.com", .version = "v1", .kind = "Limits", .plural = "limits", .installs_crd = true};
  evenkeel::ObjectMeta metadata = {};
  LimitsSpec spec = {};
};
EVENKEEL_FIELDS(Limits, metadata, spec)

}  // namespace harness_types

namespace evenkeel::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<std::string> texts(const std::vector<Write>& writes) {
  std::vector<std::string> lines;
  for (const Write& write : writes) lines.push_back(write.str());
  return lines;
}

TEST(Run, GoesOnUntilNothingIsDueInVirtualTime) {
  const Harness harness = run(reconcile_gadget, {gadget("web", 3)});
  EXPECT_EQ(harness.get<Gadget>(web)->status.ready_replicas, 3) << harness.str();
  EXPECT_EQ(harness.get<ConfigMap>(web)->data.at("image"), "web:1");
  EXPECT_EQ(harness.last().outcome.kind, OutcomeKind::success);
}

TEST(Run, TellsRunsWritesAndLogInOrder) {
  const Harness harness = run(rollout_controller(), {gadget("web", 2)});
  ASSERT_THAT(harness.runs(), SizeIs(2)) << harness.str();
  const ReconcileRun& first = harness.runs()[0];
  EXPECT_EQ(first.key, web);
  EXPECT_EQ(first.at, 0s);
  EXPECT_EQ(first.outcome.kind, OutcomeKind::requeue_after);
  EXPECT_EQ(first.outcome.delay, 10s);
  EXPECT_EQ(harness.runs()[1].at, 10s);
  EXPECT_EQ(harness.elapsed(), 10s);
  ASSERT_THAT(first.writes, SizeIs(2));
  EXPECT_EQ(first.writes[0].verb, "apply");
  EXPECT_EQ(first.writes[0].resource, "configmaps");
  EXPECT_EQ(first.writes[0].key, web);
  EXPECT_TRUE(first.writes[0].before.is_null());
  EXPECT_EQ(first.writes[0].after["data"]["image"].string_or(""), "web:1");
  EXPECT_EQ(first.writes[0].after["metadata"]["ownerReferences"][0]["kind"].string_or(""), "Gadget");
  EXPECT_EQ(first.writes[1].str(),
            "patch gadgets.test.evenkeel.dev/status default/web: status: added {\"readyReplicas\":1}");
  EXPECT_THAT(first.log,
              ::testing::Contains(HasSubstr("INFO reconciled controller=gadget object=default/web")));
  EXPECT_THAT(
      texts(harness.runs()[1].writes),
      ElementsAre("apply configmaps default/web: nothing changed",
                  "patch gadgets.test.evenkeel.dev/status default/web: status.readyReplicas: 1 -> 2"));
  EXPECT_THAT(harness.changes(), SizeIs(3));
}

TEST(Run, IsTheSameStoryForTheSameSeed) {
  const auto story = [](std::uint64_t seed) {
    return run(gadget_controller(), {gadget("web", 3), gadget("db", 2)}, {.harness = {.seed = seed}}).str();
  };
  EXPECT_EQ(story(7), story(7));
  EXPECT_NE(story(7), story(8));
}

TEST(Run, CallsARequestReconcilerWhoseTypeIsGiven) {
  std::vector<ObjectKey> seen;
  const Harness harness =
      run<ConfigMap>([&seen](Context&, const Request& request) { seen.push_back(request.object_key()); },
                     {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: team}}"});
  EXPECT_THAT(seen, ::testing::Contains(ObjectKey{"team", "a"}));
}

TEST(Run, RetriesFailuresWithTheControllersOwnBackOff) {
  int failures = 3;
  const Harness harness = run(
      [&failures](Context&, const Gadget&) {
        if (failures-- > 0) throw std::runtime_error("no such image");
      },
      {gadget("web")}, {.harness = {.expect_failures = true}});
  ASSERT_THAT(harness.runs(), SizeIs(4)) << harness.str();
  EXPECT_EQ(harness.runs()[0].outcome.message, "no such image");
  EXPECT_THROW(std::rethrow_exception(harness.runs()[0].error), std::runtime_error);
  EXPECT_EQ(harness.runs()[1].at, 5ms);
  EXPECT_EQ(harness.runs()[2].at, 15ms);
  EXPECT_EQ(harness.runs()[3].at, 35ms);
  EXPECT_EQ(harness.runs()[3].attempt, 4u);
}

TEST(Run, EndsAtItsLimitIfWorkNeverEnds) {
  const Harness harness =
      run([](Context&, const Gadget&) { return requeue_after(1h); }, {gadget("web")}, {.limit = 150min});
  EXPECT_THAT(harness.runs(), SizeIs(3));
  EXPECT_EQ(harness.elapsed(), 150min);
}

TEST(Run, RefusesRunsWithoutEndAndShowsWhatCausesThem) {
  int count = 0;
  const auto restless = [&count](Context& context, const Gadget& gadget) {
    context.patch_status(gadget, [&](GadgetStatus& status) { status.ready_replicas = ++count; });
  };
  try {
    run(restless, {gadget("web")}, {.harness = {.max_runs = 20}});
    FAIL() << "it ended";
  } catch (const TooManyRuns& error) {
    EXPECT_THAT(error.what(), HasSubstr("Harness: more than 20 runs, and a timer is still due at 0s"));
    EXPECT_THAT(error.what(), HasSubstr("status.readyReplicas: 20 -> 21"));
  }
}

TEST(RunOnce, DoesOneRunOfTheFirstObjectOfTheKind) {
  const Harness harness = run_once(reconcile_gadget, {gadget("web", 3), gadget("db", 3)});
  ASSERT_THAT(harness.runs(), SizeIs(1));
  EXPECT_EQ(harness.last().key, web);
  EXPECT_EQ(harness.last().outcome.kind, OutcomeKind::requeue_after);
  EXPECT_EQ(harness.get<Gadget>(web)->status.ready_replicas, 1);
  EXPECT_EQ(harness.get<Gadget>({"default", "db"})->status.ready_replicas, 0);
}

TEST(RunOnce, TakesTheKeyThatIsGivenAlsoOfWhatDoesNotExist) {
  bool found = true;
  const auto look = [&found](Context& context, const Request&) {
    found = static_cast<bool>(context.find<Gadget>(context.key()));
  };
  const Harness harness = run_once<Gadget>(look, {}, {.key = ObjectKey{"default", "gone"}});
  EXPECT_THAT(harness.runs(), SizeIs(1));
  EXPECT_FALSE(found);
}

TEST(RunOnce, NamesTheKindIfNoObjectIsOfIt) {
  try {
    run_once(reconcile_gadget, {"{apiVersion: v1, kind: Namespace, metadata: {name: team}}"});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "run_once: no object is a Gadget, and RunOptions.key is not set");
  }
}

// ---- A cluster that changes

class HarnessTest : public ::testing::Test {
 protected:
  void start(int replicas = 1) {
    harness.add(gadget_controller());
    harness.create({gadget("web", replicas)});
    ASSERT_TRUE(harness.settle()) << harness.str();
  }
  Harness harness;
};

TEST_F(HarnessTest, ReconcilesWhatAUserEdits) {
  start(1);
  harness.edit<Gadget>(web, [](Gadget& gadget) { gadget.spec.image = "web:2"; });
  EXPECT_TRUE(harness.settle());
  EXPECT_EQ(harness.get<ConfigMap>(web)->data.at("image"), "web:2") << harness.str();
}

TEST_F(HarnessTest, KeepsThePredicatesOfTheController) {
  start(1);
  const std::size_t before = harness.runs().size();
  harness.edit_status<Gadget>(web, [](GadgetStatus& status) { status.ready_replicas = 7; });
  EXPECT_TRUE(harness.settle());
  EXPECT_EQ(harness.runs().size(), before) << harness.str();
}

TEST_F(HarnessTest, ReconcilesTheOwnerOfWhatAppears) {
  start(1);
  ASSERT_THAT(harness.runs(), SizeIs(2)) << harness.str();
  EXPECT_TRUE(harness.changes().size() == 2) << "the config map's creation causes a run that changes nothing";
}

TEST_F(HarnessTest, ReconcilesTheOwnerOfWhatIsRemoved) {
  start(1);
  harness.remove<ConfigMap>(web);
  EXPECT_FALSE(harness.find<ConfigMap>(web));
  EXPECT_TRUE(harness.settle());
  EXPECT_TRUE(harness.find<ConfigMap>(web)) << harness.str();
}

TEST_F(HarnessTest, CollectsWhatARemovedOwnerLeaves) {
  start(1);
  harness.remove<Gadget>(web);
  EXPECT_TRUE(harness.settle());
  EXPECT_FALSE(harness.find<ConfigMap>(web)) << harness.str();
}

TEST_F(HarnessTest, RunsFinalizersBeforeAnObjectGoes) {
  std::vector<std::string> cleaned;
  harness.add(controller_for<Gadget>(reconcile_gadget)
                  .finalize("test.evenkeel.dev/cleanup", [&cleaned](Context&, const Gadget& gadget) {
                    cleaned.push_back(gadget.metadata.name);
                  }));
  harness.create({gadget("web")});
  harness.settle();
  EXPECT_THAT(harness.get<Gadget>(web)->metadata.finalizers, ElementsAre("test.evenkeel.dev/cleanup"));
  harness.remove<Gadget>(web);
  EXPECT_TRUE(harness.find<Gadget>(web));
  harness.settle();
  EXPECT_THAT(cleaned, ElementsAre("web"));
  EXPECT_FALSE(harness.find<Gadget>(web)) << harness.str();
}

TEST_F(HarnessTest, StepsOneRunAtATime) {
  harness.add(rollout_controller());
  EXPECT_FALSE(harness.step());
  harness.create({gadget("web", 2)});
  const auto run = harness.step();
  ASSERT_TRUE(run);
  EXPECT_EQ(run->outcome.kind, OutcomeKind::requeue_after);
  EXPECT_FALSE(harness.step()) << "the next run is due in ten seconds only";
  EXPECT_EQ(harness.elapsed(), 0s);
}

TEST(Harness, RunForEndsInTimeWhereThereIsMoreWorkThanTime) {
  Harness harness({.max_runs = 10});
  harness.add(controller_for<ConfigMap>([](Context& context, const ConfigMap&) {
    sleep_until(context.clock(), context.clock().now() + 700ms, context.stop());
    return requeue_after(1ns);
  }));
  harness.create({ConfigMap{.metadata = {.name = "busy", .namespace_ = "default"}}});
  harness.run_for(2s);
  EXPECT_EQ(harness.runs().size(), 3U) << "they begin at 0, 700 and 1400 ms";
  EXPECT_EQ(harness.elapsed() / 1ms, 2100);
  EXPECT_FALSE(harness.settle(1s)) << harness.str();
  EXPECT_EQ(harness.runs().size(), 5U);
}

TEST_F(HarnessTest, LetsAllOfATimePass) {
  harness.add(rollout_controller());
  harness.create({gadget("web", 3)});
  harness.settle();
  harness.run_for(2h);
  EXPECT_EQ(harness.elapsed(), 2h + 20s);
}

TEST_F(HarnessTest, HasOthersActMeanwhile) {
  harness.add(gadget_controller());
  harness.create({gadget("web", 3)});
  harness.after(15s, [this] { harness.edit<Gadget>(web, [](Gadget& gadget) { gadget.spec.replicas = 2; }); });
  EXPECT_TRUE(harness.settle());
  EXPECT_EQ(harness.get<Gadget>(web)->status.ready_replicas, 2) << harness.str();
}

TEST_F(HarnessTest, InjectsFaultsIntoTheControllersRequestsOnly) {
  const apiserver::FaultId conflict =
      harness.inject({.verb = "patch", .resource = "gadgets/status", .count = 1, .status = 409});
  start(1);
  EXPECT_EQ(harness.fault_counts(conflict).fired, 1u);
  ASSERT_THAT(harness.runs(), SizeIs(2)) << harness.str();
  EXPECT_EQ(harness.runs()[0].outcome.kind, OutcomeKind::conflict);
  EXPECT_EQ(harness.runs()[0].writes[1].status, 409);
  EXPECT_THAT(harness.runs()[0].writes[1].str(),
              HasSubstr("patch gadgets.test.evenkeel.dev/status default/web: 409 "));
  harness.inject({.verb = "patch", .status = 500});
  harness.edit<Gadget>(web, [](Gadget& gadget) { gadget.spec.replicas = 2; });
}

TEST_F(HarnessTest, TellsOfWritesThatHadNoAnswer) {
  harness.inject(
      {.verb = "patch", .resource = "configmaps", .count = 1, .drop = apiserver::FaultDrop::after});
  start(1);
  const Write& lost = harness.runs()[0].writes[0];
  EXPECT_EQ(lost.status, 0);
  EXPECT_FALSE(lost.after.is_null()) << "the write had its effect";
  EXPECT_THAT(lost.str(), HasSubstr("the connection broke"));
  EXPECT_EQ(harness.get<Gadget>(web)->status.ready_replicas, 1);
}

TEST_F(HarnessTest, WaitsForAnswersInVirtualTime) {
  harness.inject({.verb = "patch", .resource = "configmaps", .count = 1, .delay = 20s});
  start(1);
  EXPECT_EQ(harness.elapsed(), 20s);
}

TEST_F(HarnessTest, RetriesOfTheClientTakeVirtualTime) {
  harness.inject({.verb = "patch", .resource = "configmaps", .count = 1, .status = 429, .retry_after = 7s});
  start(1);
  EXPECT_EQ(harness.elapsed(), 7s);
  EXPECT_THAT(texts(harness.runs()[0].writes), SizeIs(3)) << "the refused one, the same again, the status";
}

TEST_F(HarnessTest, EndsRunsAtTheReconcileTimeout) {
  ControllerSpec spec = gadget_controller();
  spec.options.reconcile_timeout = 5s;
  harness.add(std::move(spec));
  harness.create({gadget("web")});
  harness.inject({.verb = "patch", .resource = "configmaps", .count = 1, .delay = 20s});
  EXPECT_TRUE(harness.settle());
  EXPECT_TRUE(harness.runs()[0].outcome.timed_out) << harness.str();
  EXPECT_EQ(harness.runs()[1].at, 5s + 5ms);
}

TEST_F(HarnessTest, SurvivesWatchesThatBreak) {
  harness.inject({.verb = "watch", .count = 2, .drop = apiserver::FaultDrop::before});
  start(2);
  EXPECT_EQ(harness.get<Gadget>(web)->status.ready_replicas, 2) << harness.str();
}

TEST_F(HarnessTest, StartsReconcilersAnewAfterACrash) {
  ControllerSpec spec = controller_for<Gadget>([counted = 0](Context& context, const Gadget&) mutable {
    context.log().info("counted", {{"runs", ++counted}});
  });
  harness.add(std::move(spec));
  harness.create({gadget("web")});
  harness.settle();
  harness.restart();
  harness.settle();
  ASSERT_THAT(harness.runs(), SizeIs(2)) << harness.str();
  EXPECT_THAT(harness.last().log.front(), HasSubstr("runs=1")) << "what it remembered is lost";
}

TEST_F(HarnessTest, RunsSeveralControllers) {
  harness.add(gadget_controller());
  harness.add(controller_for<ConfigMap>([](Context&, const ConfigMap&) {}).named("maps"));
  harness.create({gadget("web")});
  EXPECT_TRUE(harness.settle());
  EXPECT_EQ(harness.runs()[0].controller, "gadget");
  EXPECT_EQ(harness.runs()[1].controller, "maps") << harness.str();
  EXPECT_THROW(harness.add(gadget_controller()), std::invalid_argument);
  EXPECT_THROW(harness.enqueue(web), std::invalid_argument);
  harness.enqueue(web, "maps");
  EXPECT_TRUE(harness.step());
}

TEST_F(HarnessTest, RefusesToWaitForWhatNothingBrings) {
  harness.add(controller_for<Gadget>([this](Context&, const Gadget&) {
    Mutex mutex;
    CondVar never;
    MutexLock lock(mutex);
    for (;;) harness.clock()->wait(never, lock);
  }));
  harness.create({gadget("web")});
  EXPECT_THROW(harness.step(), UnexpectedFailure);
  EXPECT_THAT(harness.last().outcome.message,
              HasSubstr("a thread waits without a deadline, and nothing can wake it"));
}

std::size_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST_F(HarnessTest, StartsNoThread) {
  std::size_t most = 0;
  std::vector<std::thread::id> ids;
  harness.add(controller_for<Gadget>([&](Context&, const Gadget&) {
    ids.push_back(std::this_thread::get_id());
    most = std::max(most, threads_of_this_process());
  }));
  harness.create({gadget("web"), gadget("db")});
  harness.settle();
  EXPECT_THAT(ids, ElementsAre(std::this_thread::get_id(), std::this_thread::get_id()));
  EXPECT_EQ(most, 1u);
}

// ---- Runs that fail

std::string failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const UnexpectedFailure& error) {
    return error.what();
  }
  return "none";
}

TEST_F(HarnessTest, ARunThatThrowsFailsTheTest) {
  harness.add(controller_for<Gadget>([](Context& context, const Gadget&) -> Result {
    if (context.key().name == "bad") throw std::runtime_error("no such image");
    return done();
  }));
  harness.create({gadget("good"), gadget("bad")});
  EXPECT_THAT(failure_of([this] { harness.settle(); }),
              AllOf(HasSubstr("Harness: a run failed, and HarnessOptions::expect_failures is not set: "
                              "0s gadget default/bad: error: no such image"),
                    HasSubstr("the whole story:\n0s gadget default/bad: error")));
  EXPECT_NE(harness.last().error, nullptr) << "the run is there to be looked at";
  // The next call continues with the retry.
  EXPECT_THAT(failure_of([this] { harness.run_for(1s); }), HasSubstr("attempt 2: error: no such image"));
  EXPECT_THAT(failure_of([this] {
                while (harness.step()) continue;
              }),
              "none")
      << "no retry is due";
}

TEST(Run, FailsIfTheReconcilerThrows) {
  const auto fails = [](Context&, const Gadget&) { throw std::logic_error("a bug"); };
  EXPECT_THAT(failure_of([&] { run(fails, {gadget("web")}); }), HasSubstr("error: a bug"));
  EXPECT_THAT(failure_of([&] { run_once(fails, {gadget("web")}); }), HasSubstr("error: a bug"));
  const auto gives_up = [](Context&, const Gadget&) { throw TerminalError("never"); };
  EXPECT_THAT(failure_of([&] { run(gives_up, {gadget("web")}); }), HasSubstr("terminal_error: never"));
  EXPECT_EQ(failure_of([&] { run_once(fails, {gadget("web")}, {.harness = {.expect_failures = true}}); }),
            "none");
}

TEST_F(HarnessTest, AFaultThatHitsARunExcusesItAndNoOther) {
  int runs = 0;
  harness.add(controller_for<Gadget>([&runs](Context& context, const Gadget& gadget) {
    ++runs;
    context.apply(ConfigMap{.metadata = {.name = gadget.metadata.name}});
    if (runs == 3) throw std::runtime_error("its own fault");
  }));
  harness.create({gadget("web")});
  harness.inject({.verb = "patch", .resource = "configmaps", .count = 2, .status = 403});
  EXPECT_THAT(failure_of([this] { harness.settle(); }), HasSubstr("attempt 3: error: its own fault"));
  EXPECT_EQ(runs, 3) << harness.str();
}

// Concurrent writes are normal for a controller, not an error of the program.
TEST_F(HarnessTest, AConflictIsNoFailureOfTheTest) {
  bool first = true;
  harness.add(controller_for<Gadget>(
      [&](Context& context, const Gadget& gadget) {
        if (std::exchange(first, false))
          harness.edit<Gadget>(web, [](Gadget& other) { other.metadata.finalizers = {"a.example.com/b"}; });
        context.patch(gadget, [](Gadget& mine) { mine.metadata.finalizers.push_back("a.example.com/c"); });
      },
      {.when = generation_changed()}));
  harness.create({gadget("web")});
  EXPECT_TRUE(harness.settle());
  EXPECT_EQ(harness.runs()[0].outcome.kind, OutcomeKind::conflict) << harness.str();
  EXPECT_EQ(harness.last().outcome.kind, OutcomeKind::success);
}

TEST(HarnessStory, FoldsRunsThatAreAlike) {
  int left = 10;
  const Harness harness = run(
      [&left](Context& context, const Gadget&) {
        context.log().warn("trying");
        if (left-- > 0) throw std::runtime_error("no such image");
      },
      {gadget("web")}, {.limit = 24h, .harness = {.expect_failures = true}});
  ASSERT_THAT(harness.runs(), SizeIs(11));
  const std::string story = harness.str();
  EXPECT_THAT(story, ::testing::StartsWith("0s gadget default/web (x10, until 2.555s): error: no such image\n"
                                           "  log: WARN trying "));
  EXPECT_THAT(story, HasSubstr("gadget default/web attempt 11: success"));
  EXPECT_EQ(std::count(story.begin(), story.end(), '\n'), 6) << story;
}

TEST(HarnessStory, ShowsRunsThatDifferOneByOne) {
  const Harness harness = run(reconcile_gadget, {gadget("web", 3)});
  EXPECT_THAT(harness.str(), Not(HasSubstr("(x"))) << "each writes another status";
}

// ---- Mappings

/// Returns all gadgets whose image has the name of the secret.
std::vector<ObjectKey> users_of(const Secret& secret, const Cache& cache) {
  std::vector<ObjectKey> keys;
  for (const auto& gadget : cache.list<Gadget>({.namespace_ = secret.metadata.namespace_})) {
    if (gadget->spec.image == secret.metadata.name) keys.push_back(key_of(*gadget));
  }
  return keys;
}

Gadget with_image(const std::string& name, const std::string& image) {
  Gadget made = gadget(name);
  made.spec.image = image;
  return made;
}

TEST_F(HarnessTest, MappingsLookThingsUpInTheCache) {
  harness.add(controller_for<Gadget>([](Context&, const Gadget&) {}).watches<Secret>(users_of));
  harness.create({with_image("a", "tls"), with_image("b", "other"), with_image("c", "tls")});
  harness.settle();
  const std::size_t before = harness.runs().size();
  const Secret secret{.metadata = {.name = "tls", .namespace_ = "default"}};
  harness.create({secret});
  harness.settle();
  ASSERT_THAT(harness.runs(), SizeIs(before + 2)) << harness.str();
  EXPECT_EQ(harness.runs()[before].key.name, "a");
  EXPECT_EQ(harness.runs()[before + 1].key.name, "c");
  EXPECT_THAT(users_of(secret, harness.cache()),
              ElementsAre(ObjectKey{"default", "a"}, ObjectKey{"default", "c"}))
      << "and can be called by a test";
  harness.restart();
  harness.settle();
  EXPECT_THAT(users_of(secret, harness.cache()), SizeIs(2)) << "the cache of the new process";
}

TEST_F(HarnessTest, MappingsOfWireObjectsAndOfUndeclaredKindsLookThingsUp) {
  harness.add(controller_for<Gadget>([](Context&, const Gadget&) {
              }).watches<ConfigMap>([](const WireObject& map, const Cache& cache) {
    // Secrets are not declared: this read goes to the server.
    const bool wanted = static_cast<bool>(cache.find<Secret>(map.key()));
    return wanted ? std::vector<ObjectKey>{map.key()} : std::vector<ObjectKey>{};
  }));
  harness.create({gadget("web"), Secret{.metadata = {.name = "web", .namespace_ = "default"}}});
  harness.settle();
  const std::size_t before = harness.runs().size();
  harness.create({ConfigMap{.metadata = {.name = "web", .namespace_ = "default"}},
                  ConfigMap{.metadata = {.name = "other", .namespace_ = "default"}}});
  harness.settle();
  ASSERT_THAT(harness.runs(), SizeIs(before + 1)) << harness.str();
  EXPECT_EQ(harness.last().key, web);
}

TEST_F(HarnessTest, AMappingThatThrowsIsAskedAgainInVirtualTime) {
  int failures = 3;
  harness.add(controller_for<Gadget>([](Context&, const Gadget&) {
              }).watches<Secret>([&failures](const Secret& secret) {
    if (failures-- > 0) throw std::runtime_error("no idea");
    return key_of(secret);
  }));
  harness.create({gadget("web")});
  harness.settle();
  harness.create({Secret{.metadata = {.name = "web", .namespace_ = "default"}}});
  EXPECT_TRUE(harness.settle());
  EXPECT_EQ(harness.last().at, 1s + 2s + 4s) << harness.str();
  EXPECT_THAT(harness.runs(), SizeIs(2));
}

TEST_F(HarnessTest, RunOnceKeepsToItsKeyAlsoWithAMappingThatLooksThingsUp) {
  const Harness once =
      run_once(controller_for<Gadget>([](Context&, const Gadget&) {}).watches<Secret>(users_of),
               {with_image("a", "tls"), with_image("b", "tls"),
                Secret{.metadata = {.name = "tls", .namespace_ = "default"}}});
  EXPECT_THAT(once.runs(), SizeIs(1));
  EXPECT_EQ(once.last().key.name, "a");
}

// ---- Stale reads

// Checks if the object exists, and creates one with a new name if not.
void create_if_none(Context& context, const Gadget& gadget) {
  const auto owned = context.list<ConfigMap>({.namespace_ = "default"});
  for (const auto& map : owned) {
    if (map->metadata.labels.contains("gadget")) return;
  }
  context.client().create(ConfigMap{.metadata = {.generate_name = gadget.metadata.name + "-",
                                                 .namespace_ = "default",
                                                 .labels = {{"gadget", gadget.metadata.name}}}});
}

ControllerSpec creating_controller() {
  return controller_for<Gadget>(create_if_none).owns<ConfigMap>();
}

std::size_t maps_after_an_edit(Duration cache_lag) {
  Harness harness({.cache_lag = cache_lag});
  harness.add(creating_controller());
  harness.create({gadget("web")});
  harness.step();
  harness.enqueue(web);  // runs again at once, for whatever reason
  harness.settle();
  return harness.list<ConfigMap>({.namespace_ = "default", .label_selector = "gadget"}).size();
}

// Returns the number of maps after the next run, if somebody deletes the one that there is.
std::size_t maps_after_a_deletion(Duration cache_lag) {
  Harness harness({.cache_lag = cache_lag});
  harness.add(creating_controller());
  harness.create({gadget("web")});
  harness.settle();
  const ListOptions maps{.namespace_ = "default", .label_selector = "gadget"};
  harness.remove<ConfigMap>(key_of(*harness.list<ConfigMap>(maps).at(0)));
  harness.enqueue(web);
  harness.step();
  return harness.list<ConfigMap>(maps).size();
}

TEST(HarnessWorld, IsWhereOtherHarnessesBegin) {
  Harness original = run(reconcile_gadget, {gadget("web", 3)});
  original.run_for(90s);
  const apiserver::World world = original.snapshot();
  EXPECT_EQ(world.time(), original.clock()->wall_now());
  const auto continue_with = [&world](int replicas) {
    Harness harness({.world = world});
    EXPECT_EQ(harness.elapsed(), 0s);
    EXPECT_EQ(harness.clock()->wall_now(), world.time());
    harness.add(controller_for<Gadget>(reconcile_gadget));
    harness.edit<Gadget>(web, [replicas](Gadget& gadget) { gadget.spec.replicas = replicas; });
    harness.create({gadget("other", 1)});
    harness.settle();
    return harness;
  };
  const Harness one = continue_with(5);
  const Harness two = continue_with(1);
  const Harness again = continue_with(5);
  EXPECT_EQ(one.get<Gadget>(web)->status.ready_replicas, 5) << one.str();
  EXPECT_EQ(two.get<Gadget>(web)->status.ready_replicas, 1) << two.str();
  EXPECT_EQ(original.get<Gadget>(web)->status.ready_replicas, 3);
  EXPECT_EQ(original.list<Gadget>().size(), 1U);
  EXPECT_EQ(again.str(), one.str());
  const ObjectKey other{"default", "other"};
  EXPECT_EQ(again.get<Gadget>(other)->metadata.uid, one.get<Gadget>(other)->metadata.uid);
}

TEST(HarnessCacheLag, ShowsWhatARunDoesThatBelievesAStaleCache) {
  EXPECT_EQ(maps_after_a_deletion(0s), 1u);
  EXPECT_EQ(maps_after_a_deletion(1s), 0u) << "the run saw a map that was gone";
}

TEST(HarnessCacheLag, HidesNoCreationOfTheController) {
  EXPECT_EQ(maps_after_an_edit(0s), 1u);
  EXPECT_EQ(maps_after_an_edit(1s), 1u);
}

TEST(HarnessCacheLag, DelaysEventsByTheLagAndOwnWritesNotAtAll) {
  Harness harness({.cache_lag = 3s});
  harness.add(gadget_controller());
  harness.create({gadget("web", 1)});
  harness.settle();
  EXPECT_EQ(harness.runs().back().at, 3s) << "the config map's event comes late\n" << harness.str();
  harness.edit<Gadget>(web, [](Gadget& gadget) { gadget.spec.image = "web:2"; });
  harness.settle();
  EXPECT_EQ(harness.get<ConfigMap>(web)->data.at("image"), "web:2");
}

// ---- Objects

TEST(CreateObjects, WritesAStatusThatIsSetAndNoOther) {
  Harness harness;
  Gadget ready = gadget("ready");
  ready.status.ready_replicas = 4;
  harness.create({ready, gadget("fresh")});
  EXPECT_EQ(harness.get<Gadget>({"default", "ready"})->status.ready_replicas, 4);
  const auto fresh = harness.get<Gadget>({"default", "fresh"});
  EXPECT_TRUE(Json::parse(fresh.raw())["status"].is_null());
}

TEST(CreateObjects, CreatesNamespacesAndOwnersWithoutUid) {
  Harness harness;
  harness.create({R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "web:1"}]}}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  namespace: team
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web}]
)"});
  const auto map = harness.get<ConfigMap>({"team", "web"});
  ASSERT_THAT(map->metadata.owner_references, SizeIs(1));
  EXPECT_FALSE(map->metadata.owner_references[0].uid.empty());
}

TEST(CreateObjects, MakesAnObjectThatIsBeingDeleted) {
  Harness harness;
  Gadget leaving = gadget("web");
  leaving.metadata.deletion_timestamp = Time{};
  leaving.metadata.finalizers = {"a.example.com/b"};
  leaving.metadata.resource_version = "17";
  harness.create({leaving});
  EXPECT_TRUE(is_deleting(harness.get<Gadget>(web)->metadata));
}

TEST(CreateObjects, DefinesKindsOfOtherProjectsToo) {
  Harness harness;
  harness.add(controller_for<Gadget>(reconcile_gadget).watches<harness_types::Gateway>([](const WireObject&) {
    return web;
  }));
  harness.create({harness_types::Gateway{.metadata = {.name = "edge", .namespace_ = "default"}}});
  EXPECT_EQ(harness.get<harness_types::Gateway>({"default", "edge"})->metadata.name, "edge");
}

TEST(CreateObjects, SaysThatNoServerTakesAKindOfAGroupWithoutADot) {
  constexpr const char* problem =
      "crd_for: group \"dotless\" of Dotless has no dot; the API server refuses CustomResourceDefinitions of "
      "such "
      "groups";
  const auto message = [](auto act) -> std::string {
    try {
      act();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  Harness harness;
  EXPECT_EQ(message([&] {
              harness.create({harness_types::Dotless{.metadata = {.name = "x", .namespace_ = "default"}}});
            }),
            problem);
  EXPECT_EQ(
      message([&] {
        harness.add(controller_for<harness_types::Dotless>([](Context&, const harness_types::Dotless&) {}));
      }),
      problem);
}

TEST(Harness, RefusesWhatTheDecoderOfAKindCannotRead) {
  using harness_types::Limits;
  Harness harness;
  harness.add(controller_for<Limits>([](Context&, const Limits&) {}));
  harness.create({Limits{.metadata = {.name = "one", .namespace_ = "default"},
                         .spec = {.max_age = 720h, .size = Quantity::parse("2Gi"), .port = 80, .count = 3}}});
  const auto refusal = [&](const std::string& spec) -> std::string {
    try {
      harness.client()
          .resource(Limits::resource)
          .patch({"default", "one"}, Patch::merge(Json::parse("{\"spec\": " + spec + "}")));
      harness.settle();
      static_cast<void>(harness.get<Limits>({"default", "one"})->spec);
    } catch (const ApiError& error) {
      return error.message();
    }
    return "";
  };
  EXPECT_EQ(
      refusal(R"({"maxAge": "30d"})"),
      "Limits.a.example.com \"one\" is invalid: spec.maxAge: Invalid value: \"30d\": spec.maxAge in body "
      "should match '^[+-]?(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$'");
  EXPECT_THAT(refusal(R"({"size": "1e1.5"})"), HasSubstr("spec.size in body should match"));
  EXPECT_THAT(refusal(R"({"port": 2147483648})"), HasSubstr("should be less than or equal to 2147483647"));
  EXPECT_THAT(refusal(R"({"count": 256})"), HasSubstr("should be less than or equal to 255"));
  EXPECT_EQ(refusal(R"({"maxAge": "1.5h", "size": 3, "port": 8080.0, "count": 4.0})"), "");
  EXPECT_EQ(harness.get<Limits>({"default", "one"})->spec.port, IntOrString(8080));
  EXPECT_EQ(refusal(R"({"maxAge": "9999999h"})"), "");
  EXPECT_EQ(harness.get<Limits>({"default", "one"})->spec.max_age, Duration::max());
}

// A schedule of a year is mostly idle time.
TEST(Harness, RenewsNoWatchWhileNothingIsDue) {
  Harness harness;
  harness.add(
      controller_for<ConfigMap>([](Context&, const ConfigMap&) {}).owns<Secret>().owns<core_v1::Service>());
  harness.create({ConfigMap{.metadata = {.name = "one", .namespace_ = "default"}}});
  harness.settle();
  const apiserver::FaultId renewals = harness.inject({.verb = "watch", .status = 500});
  harness.run_for(24h * 366);
  EXPECT_EQ(harness.fault_counts(renewals).matched, 0U);
  harness.edit<ConfigMap>({"default", "one"}, [](ConfigMap& map) { map.data["a"] = "b"; });
  harness.settle();
  EXPECT_THAT(harness.runs(), SizeIs(2)) << harness.str();
}

TEST(CreateObjects, SaysWhatCannotBe) {
  Harness harness;
  const auto message = [&harness](const Object& object) -> std::string {
    try {
      harness.create({object});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  Gadget leaving = gadget("web");
  leaving.metadata.deletion_timestamp = Time{};
  EXPECT_EQ(message(leaving),
            "Gadget default/web: it has a deletion timestamp but no finalizer: no server would keep it");
  EXPECT_EQ(
      message("{apiVersion: a.b.c/v1, kind: Thing, metadata: {name: x}}"),
      "Thing x: the server knows no kind Thing in \"a.b.c/v1\"; put its CustomResourceDefinition before it");
  EXPECT_EQ(message("{apiVersion: v1, kind: ConfigMap, metadata: {name: x, ownerReferences: "
                    "[{apiVersion: v1, kind: Pod, name: p}]}}"),
            "owner Pod p does not exist: it must come before what it owns");
  EXPECT_THAT(message("{apiVersion: v1, kind: ConfigMap, metadata: {name: X_}}"), HasSubstr("422 Invalid"));
}

}  // namespace
}  // namespace evenkeel::testing
