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

#include <evenkeel/testing/bench.hpp>
#include <evenkeel/testing/run.hpp>

#include "gadget.hpp"

namespace bench_types {

// Kinds of other projects: one in a group that ends as those of Kubernetes do, one that no CRD can define.
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

}  // namespace bench_types

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
  const Bench bench = run(reconcile_gadget, {gadget("web", 3)});
  EXPECT_EQ(bench.get<Gadget>(web)->status.ready_replicas, 3) << bench.str();
  EXPECT_EQ(bench.get<ConfigMap>(web)->data.at("image"), "web:1");
  EXPECT_EQ(bench.last().outcome.kind, OutcomeKind::success);
}

TEST(Run, TellsRunsWritesAndLogInOrder) {
  const Bench bench = run(rollout_controller(), {gadget("web", 2)});
  ASSERT_THAT(bench.runs(), SizeIs(2)) << bench.str();
  const ReconcileRun& first = bench.runs()[0];
  EXPECT_EQ(first.key, web);
  EXPECT_EQ(first.at, 0s);
  EXPECT_EQ(first.outcome.kind, OutcomeKind::requeue_after);
  EXPECT_EQ(first.outcome.delay, 10s);
  EXPECT_EQ(bench.runs()[1].at, 10s);
  EXPECT_EQ(bench.elapsed(), 10s);
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
      texts(bench.runs()[1].writes),
      ElementsAre("apply configmaps default/web: nothing changed",
                  "patch gadgets.test.evenkeel.dev/status default/web: status.readyReplicas: 1 -> 2"));
  EXPECT_THAT(bench.changes(), SizeIs(3));
}

TEST(Run, IsTheSameStoryForTheSameSeed) {
  const auto story = [](std::uint64_t seed) {
    return run(gadget_controller(), {gadget("web", 3), gadget("db", 2)}, {.bench = {.seed = seed}}).str();
  };
  EXPECT_EQ(story(7), story(7));
  EXPECT_NE(story(7), story(8));
}

TEST(Run, CallsARequestReconcilerWhoseTypeIsGiven) {
  std::vector<ObjectKey> seen;
  const Bench bench =
      run<ConfigMap>([&seen](Context&, const Request& request) { seen.push_back(request.object_key()); },
                     {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: team}}"});
  EXPECT_THAT(seen, ::testing::Contains(ObjectKey{"team", "a"}));
}

TEST(Run, RetriesFailuresWithTheControllersOwnBackOff) {
  int failures = 3;
  const Bench bench = run(
      [&failures](Context&, const Gadget&) {
        if (failures-- > 0) throw std::runtime_error("no such image");
      },
      {gadget("web")}, {.bench = {.expect_failures = true}});
  ASSERT_THAT(bench.runs(), SizeIs(4)) << bench.str();
  EXPECT_EQ(bench.runs()[0].outcome.message, "no such image");
  EXPECT_THROW(std::rethrow_exception(bench.runs()[0].error), std::runtime_error);
  EXPECT_EQ(bench.runs()[1].at, 5ms);
  EXPECT_EQ(bench.runs()[2].at, 15ms);
  EXPECT_EQ(bench.runs()[3].at, 35ms);
  EXPECT_EQ(bench.runs()[3].attempt, 4u);
}

TEST(Run, EndsAtItsLimitIfWorkNeverEnds) {
  const Bench bench =
      run([](Context&, const Gadget&) { return requeue_after(1h); }, {gadget("web")}, {.limit = 150min});
  EXPECT_THAT(bench.runs(), SizeIs(3));
  EXPECT_EQ(bench.elapsed(), 150min);
}

TEST(Run, RefusesRunsWithoutEndAndShowsWhatCausesThem) {
  int count = 0;
  const auto restless = [&count](Context& context, const Gadget& gadget) {
    context.patch_status(gadget, [&](GadgetStatus& status) { status.ready_replicas = ++count; });
  };
  try {
    run(restless, {gadget("web")}, {.bench = {.max_runs = 20}});
    FAIL() << "it ended";
  } catch (const TooManyRuns& error) {
    EXPECT_THAT(error.what(), HasSubstr("Bench: more than 20 runs, and still something is due at 0s"));
    EXPECT_THAT(error.what(), HasSubstr("status.readyReplicas: 20 -> 21"));
  }
}

TEST(RunOnce, DoesOneRunOfTheFirstObjectOfTheKind) {
  const Bench bench = run_once(reconcile_gadget, {gadget("web", 3), gadget("db", 3)});
  ASSERT_THAT(bench.runs(), SizeIs(1));
  EXPECT_EQ(bench.last().key, web);
  EXPECT_EQ(bench.last().outcome.kind, OutcomeKind::requeue_after);
  EXPECT_EQ(bench.get<Gadget>(web)->status.ready_replicas, 1);
  EXPECT_EQ(bench.get<Gadget>({"default", "db"})->status.ready_replicas, 0);
}

TEST(RunOnce, TakesTheKeyThatIsGivenAlsoOfWhatDoesNotExist) {
  bool found = true;
  const auto look = [&found](Context& context, const Request&) {
    found = static_cast<bool>(context.find<Gadget>(context.key()));
  };
  const Bench bench = run_once<Gadget>(look, {}, {.key = ObjectKey{"default", "gone"}});
  EXPECT_THAT(bench.runs(), SizeIs(1));
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

// ---- A world that goes on

class BenchTest : public ::testing::Test {
 protected:
  void start(int replicas = 1) {
    bench.add(gadget_controller());
    bench.create({gadget("web", replicas)});
    ASSERT_TRUE(bench.settle()) << bench.str();
  }
  Bench bench;
};

TEST_F(BenchTest, ReconcilesWhatAUserEdits) {
  start(1);
  bench.edit<Gadget>(web, [](Gadget& gadget) { gadget.spec.image = "web:2"; });
  EXPECT_TRUE(bench.settle());
  EXPECT_EQ(bench.get<ConfigMap>(web)->data.at("image"), "web:2") << bench.str();
}

TEST_F(BenchTest, KeepsThePredicatesOfTheController) {
  start(1);
  const std::size_t before = bench.runs().size();
  bench.edit_status<Gadget>(web, [](GadgetStatus& status) { status.ready_replicas = 7; });
  EXPECT_TRUE(bench.settle());
  EXPECT_EQ(bench.runs().size(), before) << bench.str();
}

TEST_F(BenchTest, ReconcilesTheOwnerOfWhatAppears) {
  start(1);
  ASSERT_THAT(bench.runs(), SizeIs(2)) << bench.str();
  EXPECT_TRUE(bench.changes().size() == 2) << "the config map's creation causes a run that changes nothing";
}

TEST_F(BenchTest, ReconcilesTheOwnerOfWhatIsRemoved) {
  start(1);
  bench.remove<ConfigMap>(web);
  EXPECT_FALSE(bench.find<ConfigMap>(web));
  EXPECT_TRUE(bench.settle());
  EXPECT_TRUE(bench.find<ConfigMap>(web)) << bench.str();
}

TEST_F(BenchTest, CollectsWhatARemovedOwnerLeaves) {
  start(1);
  bench.remove<Gadget>(web);
  EXPECT_TRUE(bench.settle());
  EXPECT_FALSE(bench.find<ConfigMap>(web)) << bench.str();
}

TEST_F(BenchTest, RunsFinalizersBeforeAnObjectGoes) {
  std::vector<std::string> cleaned;
  bench.add(controller_for<Gadget>(reconcile_gadget)
                .finalize("test.evenkeel.dev/cleanup", [&cleaned](Context&, const Gadget& gadget) {
                  cleaned.push_back(gadget.metadata.name);
                }));
  bench.create({gadget("web")});
  bench.settle();
  EXPECT_THAT(bench.get<Gadget>(web)->metadata.finalizers, ElementsAre("test.evenkeel.dev/cleanup"));
  bench.remove<Gadget>(web);
  EXPECT_TRUE(bench.find<Gadget>(web));
  bench.settle();
  EXPECT_THAT(cleaned, ElementsAre("web"));
  EXPECT_FALSE(bench.find<Gadget>(web)) << bench.str();
}

TEST_F(BenchTest, StepsOneRunAtATime) {
  bench.add(rollout_controller());
  EXPECT_FALSE(bench.step());
  bench.create({gadget("web", 2)});
  const auto run = bench.step();
  ASSERT_TRUE(run);
  EXPECT_EQ(run->outcome.kind, OutcomeKind::requeue_after);
  EXPECT_FALSE(bench.step()) << "the next run is due in ten seconds only";
  EXPECT_EQ(bench.elapsed(), 0s);
}

TEST_F(BenchTest, LetsAllOfATimePass) {
  bench.add(rollout_controller());
  bench.create({gadget("web", 3)});
  bench.settle();
  bench.run_for(2h);
  EXPECT_EQ(bench.elapsed(), 2h + 20s);
}

TEST_F(BenchTest, HasOthersActMeanwhile) {
  bench.add(gadget_controller());
  bench.create({gadget("web", 3)});
  bench.after(15s, [this] { bench.edit<Gadget>(web, [](Gadget& gadget) { gadget.spec.replicas = 2; }); });
  EXPECT_TRUE(bench.settle());
  EXPECT_EQ(bench.get<Gadget>(web)->status.ready_replicas, 2) << bench.str();
}

TEST_F(BenchTest, InjectsFaultsIntoTheControllersRequestsOnly) {
  const apiserver::FaultId conflict =
      bench.inject({.verb = "patch", .resource = "gadgets/status", .count = 1, .status = 409});
  start(1);
  EXPECT_EQ(bench.fault_counts(conflict).fired, 1u);
  ASSERT_THAT(bench.runs(), SizeIs(2)) << bench.str();
  EXPECT_EQ(bench.runs()[0].outcome.kind, OutcomeKind::conflict);
  EXPECT_EQ(bench.runs()[0].writes[1].status, 409);
  EXPECT_THAT(bench.runs()[0].writes[1].str(),
              HasSubstr("patch gadgets.test.evenkeel.dev/status default/web: 409 "));
  bench.inject({.verb = "patch", .status = 500});
  bench.edit<Gadget>(web, [](Gadget& gadget) { gadget.spec.replicas = 2; });
}

TEST_F(BenchTest, TellsOfWritesThatHadNoAnswer) {
  bench.inject({.verb = "patch", .resource = "configmaps", .count = 1, .drop = apiserver::FaultDrop::after});
  start(1);
  const Write& lost = bench.runs()[0].writes[0];
  EXPECT_EQ(lost.status, 0);
  EXPECT_FALSE(lost.after.is_null()) << "the write had its effect";
  EXPECT_THAT(lost.str(), HasSubstr("the connection broke"));
  EXPECT_EQ(bench.get<Gadget>(web)->status.ready_replicas, 1);
}

TEST_F(BenchTest, WaitsForAnswersInVirtualTime) {
  bench.inject({.verb = "patch", .resource = "configmaps", .count = 1, .delay = 20s});
  start(1);
  EXPECT_EQ(bench.elapsed(), 20s);
}

TEST_F(BenchTest, RetriesOfTheClientTakeVirtualTime) {
  bench.inject({.verb = "patch", .resource = "configmaps", .count = 1, .status = 429, .retry_after = 7s});
  start(1);
  EXPECT_EQ(bench.elapsed(), 7s);
  EXPECT_THAT(texts(bench.runs()[0].writes), SizeIs(3)) << "the refused one, the same again, the status";
}

TEST_F(BenchTest, EndsRunsAtTheReconcileTimeout) {
  ControllerSpec spec = gadget_controller();
  spec.options.reconcile_timeout = 5s;
  bench.add(std::move(spec));
  bench.create({gadget("web")});
  bench.inject({.verb = "patch", .resource = "configmaps", .count = 1, .delay = 20s});
  EXPECT_TRUE(bench.settle());
  EXPECT_TRUE(bench.runs()[0].outcome.timed_out) << bench.str();
  EXPECT_EQ(bench.runs()[1].at, 5s + 5ms);
}

TEST_F(BenchTest, SurvivesWatchesThatBreak) {
  bench.inject({.verb = "watch", .count = 2, .drop = apiserver::FaultDrop::before});
  start(2);
  EXPECT_EQ(bench.get<Gadget>(web)->status.ready_replicas, 2) << bench.str();
}

TEST_F(BenchTest, StartsReconcilersAnewAfterACrash) {
  ControllerSpec spec = controller_for<Gadget>([counted = 0](Context& context, const Gadget&) mutable {
    context.log().info("counted", {{"runs", ++counted}});
  });
  bench.add(std::move(spec));
  bench.create({gadget("web")});
  bench.settle();
  bench.restart();
  bench.settle();
  ASSERT_THAT(bench.runs(), SizeIs(2)) << bench.str();
  EXPECT_THAT(bench.last().log.front(), HasSubstr("runs=1")) << "what it remembered is lost";
}

TEST_F(BenchTest, RunsSeveralControllers) {
  bench.add(gadget_controller());
  bench.add(controller_for<ConfigMap>([](Context&, const ConfigMap&) {}).named("maps"));
  bench.create({gadget("web")});
  EXPECT_TRUE(bench.settle());
  EXPECT_EQ(bench.runs()[0].controller, "gadget");
  EXPECT_EQ(bench.runs()[1].controller, "maps") << bench.str();
  EXPECT_THROW(bench.add(gadget_controller()), std::invalid_argument);
  EXPECT_THROW(bench.enqueue(web), std::invalid_argument);
  bench.enqueue(web, "maps");
  EXPECT_TRUE(bench.step());
}

TEST_F(BenchTest, RefusesToWaitForWhatNothingBrings) {
  bench.add(controller_for<Gadget>([this](Context&, const Gadget&) {
    Mutex mutex;
    CondVar never;
    MutexLock lock(mutex);
    for (;;) bench.clock()->wait(never, lock);
  }));
  bench.create({gadget("web")});
  EXPECT_THROW(bench.step(), UnexpectedFailure);
  EXPECT_THAT(bench.last().outcome.message,
              HasSubstr("somebody waits without a deadline for what nothing brings"));
}

std::size_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST_F(BenchTest, StartsNoThread) {
  std::size_t most = 0;
  std::vector<std::thread::id> ids;
  bench.add(controller_for<Gadget>([&](Context&, const Gadget&) {
    ids.push_back(std::this_thread::get_id());
    most = std::max(most, threads_of_this_process());
  }));
  bench.create({gadget("web"), gadget("db")});
  bench.settle();
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

TEST_F(BenchTest, ARunThatThrowsFailsTheTest) {
  bench.add(controller_for<Gadget>([](Context& context, const Gadget&) -> Result {
    if (context.key().name == "bad") throw std::runtime_error("no such image");
    return done();
  }));
  bench.create({gadget("good"), gadget("bad")});
  EXPECT_THAT(failure_of([this] { bench.settle(); }),
              AllOf(HasSubstr("Bench: a run failed, and BenchOptions::expect_failures is not set: "
                              "0s gadget default/bad: error: no such image"),
                    HasSubstr("the whole story:\n0s gadget default/bad: error")));
  EXPECT_NE(bench.last().error, nullptr) << "the run is there to be looked at";
  // The next call goes on where this one ended: with the retry.
  EXPECT_THAT(failure_of([this] { bench.run_for(1s); }), HasSubstr("attempt 2: error: no such image"));
  EXPECT_THAT(failure_of([this] {
                while (bench.step()) continue;
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
  EXPECT_EQ(failure_of([&] { run_once(fails, {gadget("web")}, {.bench = {.expect_failures = true}}); }),
            "none");
}

TEST_F(BenchTest, AFaultThatHitsARunExcusesItAndNoOther) {
  int runs = 0;
  bench.add(controller_for<Gadget>([&runs](Context& context, const Gadget& gadget) {
    ++runs;
    context.apply(ConfigMap{.metadata = {.name = gadget.metadata.name}});
    if (runs == 3) throw std::runtime_error("its own fault");
  }));
  bench.create({gadget("web")});
  bench.inject({.verb = "patch", .resource = "configmaps", .count = 2, .status = 403});
  EXPECT_THAT(failure_of([this] { bench.settle(); }), HasSubstr("attempt 3: error: its own fault"));
  EXPECT_EQ(runs, 3) << bench.str();
}

// Another writer is the life that a controller leads, not a mistake of its program.
TEST_F(BenchTest, AConflictIsNoFailureOfTheTest) {
  bool first = true;
  bench.add(controller_for<Gadget>(
      [&](Context& context, const Gadget& gadget) {
        if (std::exchange(first, false))
          bench.edit<Gadget>(web, [](Gadget& other) { other.metadata.finalizers = {"a.example.com/b"}; });
        context.patch(gadget, [](Gadget& mine) { mine.metadata.finalizers.push_back("a.example.com/c"); });
      },
      {.when = generation_changed()}));
  bench.create({gadget("web")});
  EXPECT_TRUE(bench.settle());
  EXPECT_EQ(bench.runs()[0].outcome.kind, OutcomeKind::conflict) << bench.str();
  EXPECT_EQ(bench.last().outcome.kind, OutcomeKind::success);
}

TEST(BenchStory, FoldsRunsThatAreAlike) {
  int left = 10;
  const Bench bench = run(
      [&left](Context& context, const Gadget&) {
        context.log().warn("trying");
        if (left-- > 0) throw std::runtime_error("no such image");
      },
      {gadget("web")}, {.limit = 24h, .bench = {.expect_failures = true}});
  ASSERT_THAT(bench.runs(), SizeIs(11));
  const std::string story = bench.str();
  EXPECT_THAT(story, ::testing::StartsWith("0s gadget default/web (x10, until 2.555s): error: no such image\n"
                                           "  log: WARN trying "));
  EXPECT_THAT(story, HasSubstr("gadget default/web attempt 11: success"));
  EXPECT_EQ(std::count(story.begin(), story.end(), '\n'), 6) << story;
}

TEST(BenchStory, ShowsRunsThatDifferOneByOne) {
  const Bench bench = run(reconcile_gadget, {gadget("web", 3)});
  EXPECT_THAT(bench.str(), Not(HasSubstr("(x"))) << "each writes another status";
}

// ---- Mappings

/// All gadgets whose image is named like the secret.
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

TEST_F(BenchTest, MappingsLookThingsUpInTheCache) {
  bench.add(controller_for<Gadget>([](Context&, const Gadget&) {}).watches<Secret>(users_of));
  bench.create({with_image("a", "tls"), with_image("b", "other"), with_image("c", "tls")});
  bench.settle();
  const std::size_t before = bench.runs().size();
  const Secret secret{.metadata = {.name = "tls", .namespace_ = "default"}};
  bench.create({secret});
  bench.settle();
  ASSERT_THAT(bench.runs(), SizeIs(before + 2)) << bench.str();
  EXPECT_EQ(bench.runs()[before].key.name, "a");
  EXPECT_EQ(bench.runs()[before + 1].key.name, "c");
  EXPECT_THAT(users_of(secret, bench.cache()),
              ElementsAre(ObjectKey{"default", "a"}, ObjectKey{"default", "c"}))
      << "and can be called by a test";
  bench.restart();
  bench.settle();
  EXPECT_THAT(users_of(secret, bench.cache()), SizeIs(2)) << "the cache of the new process";
}

TEST_F(BenchTest, MappingsOfWireObjectsAndOfUndeclaredKindsLookThingsUp) {
  bench.add(controller_for<Gadget>([](Context&, const Gadget&) {
            }).watches<ConfigMap>([](const WireObject& map, const Cache& cache) {
    // Nobody declared secrets: this is asked of the server.
    const bool wanted = static_cast<bool>(cache.find<Secret>(map.key()));
    return wanted ? std::vector<ObjectKey>{map.key()} : std::vector<ObjectKey>{};
  }));
  bench.create({gadget("web"), Secret{.metadata = {.name = "web", .namespace_ = "default"}}});
  bench.settle();
  const std::size_t before = bench.runs().size();
  bench.create({ConfigMap{.metadata = {.name = "web", .namespace_ = "default"}},
                ConfigMap{.metadata = {.name = "other", .namespace_ = "default"}}});
  bench.settle();
  ASSERT_THAT(bench.runs(), SizeIs(before + 1)) << bench.str();
  EXPECT_EQ(bench.last().key, web);
}

TEST_F(BenchTest, AMappingThatThrowsIsAskedAgainInVirtualTime) {
  int failures = 3;
  bench.add(controller_for<Gadget>([](Context&, const Gadget&) {
            }).watches<Secret>([&failures](const Secret& secret) {
    if (failures-- > 0) throw std::runtime_error("no idea");
    return key_of(secret);
  }));
  bench.create({gadget("web")});
  bench.settle();
  bench.create({Secret{.metadata = {.name = "web", .namespace_ = "default"}}});
  EXPECT_TRUE(bench.settle());
  EXPECT_EQ(bench.last().at, 1s + 2s + 4s) << bench.str();
  EXPECT_THAT(bench.runs(), SizeIs(2));
}

TEST_F(BenchTest, RunOnceKeepsToItsKeyAlsoWithAMappingThatLooksThingsUp) {
  const Bench once =
      run_once(controller_for<Gadget>([](Context&, const Gadget&) {}).watches<Secret>(users_of),
               {with_image("a", "tls"), with_image("b", "tls"),
                Secret{.metadata = {.name = "tls", .namespace_ = "default"}}});
  EXPECT_THAT(once.runs(), SizeIs(1));
  EXPECT_EQ(once.last().key.name, "a");
}

// ---- Stale reads

// A classic: it looks whether the object is there, and makes one under a new name if not.
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
  Bench bench({.cache_lag = cache_lag});
  bench.add(creating_controller());
  bench.create({gadget("web")});
  bench.step();
  bench.enqueue(web);  // for whatever reason, it runs again at once
  bench.settle();
  return bench.list<ConfigMap>({.namespace_ = "default", .label_selector = "gadget"}).size();
}

TEST(BenchCacheLag, ShowsWhatARunDoesThatBelievesAStaleCache) {
  EXPECT_EQ(maps_after_an_edit(0s), 1u);
  EXPECT_EQ(maps_after_an_edit(1s), 2u);
}

TEST(BenchCacheLag, DelaysEventsByTheLagAndOwnWritesNotAtAll) {
  Bench bench({.cache_lag = 3s});
  bench.add(gadget_controller());
  bench.create({gadget("web", 1)});
  bench.settle();
  EXPECT_EQ(bench.runs().back().at, 3s) << "the config map's event comes late\n" << bench.str();
  bench.edit<Gadget>(web, [](Gadget& gadget) { gadget.spec.image = "web:2"; });
  bench.settle();
  EXPECT_EQ(bench.get<ConfigMap>(web)->data.at("image"), "web:2");
}

// ---- Objects

TEST(CreateObjects, WritesAStatusThatIsSetAndNoOther) {
  Bench bench;
  Gadget ready = gadget("ready");
  ready.status.ready_replicas = 4;
  bench.create({ready, gadget("fresh")});
  EXPECT_EQ(bench.get<Gadget>({"default", "ready"})->status.ready_replicas, 4);
  const auto fresh = bench.get<Gadget>({"default", "fresh"});
  EXPECT_TRUE(Json::parse(fresh.raw())["status"].is_null());
}

TEST(CreateObjects, CreatesNamespacesAndOwnersWithoutUid) {
  Bench bench;
  bench.create({R"(
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
  const auto map = bench.get<ConfigMap>({"team", "web"});
  ASSERT_THAT(map->metadata.owner_references, SizeIs(1));
  EXPECT_FALSE(map->metadata.owner_references[0].uid.empty());
}

TEST(CreateObjects, MakesAnObjectThatIsBeingDeleted) {
  Bench bench;
  Gadget leaving = gadget("web");
  leaving.metadata.deletion_timestamp = Time{};
  leaving.metadata.finalizers = {"a.example.com/b"};
  leaving.metadata.resource_version = "17";
  bench.create({leaving});
  EXPECT_TRUE(is_deleting(bench.get<Gadget>(web)->metadata));
}

TEST(CreateObjects, DefinesKindsOfOtherProjectsToo) {
  Bench bench;
  bench.add(controller_for<Gadget>(reconcile_gadget).watches<bench_types::Gateway>([](const WireObject&) {
    return web;
  }));
  bench.create({bench_types::Gateway{.metadata = {.name = "edge", .namespace_ = "default"}}});
  EXPECT_EQ(bench.get<bench_types::Gateway>({"default", "edge"})->metadata.name, "edge");
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
  Bench bench;
  EXPECT_EQ(message([&] {
              bench.create({bench_types::Dotless{.metadata = {.name = "x", .namespace_ = "default"}}});
            }),
            problem);
  EXPECT_EQ(message([&] {
              bench.add(controller_for<bench_types::Dotless>([](Context&, const bench_types::Dotless&) {}));
            }),
            problem);
}

TEST(CreateObjects, SaysWhatCannotBe) {
  Bench bench;
  const auto message = [&bench](const Object& object) -> std::string {
    try {
      bench.create({object});
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
