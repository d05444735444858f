// SPDX-License-Identifier: Apache-2.0
// Small operators with the shapes of published bugs (Acto, SOSP'23), each of which operations() finds, and
// operators without a bug, in which it finds nothing.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>

#include "operations_cache.hpp"

namespace evenkeel::testing {
namespace operations_planted {

enum class Phase { running, parked };
EVENKEEL_ENUM(Phase, running, parked)

struct TaskJob {
  int keep = 3;
  bool paused = false;
};
EVENKEEL_FIELDS(TaskJob, (keep, minimum(1)), paused)

struct TaskSpec {
  bool aside = false;
  int bravo = 1;
  int charlie = 1;
  int delta = 1;
  int echo = 1;
  int golf = 1;
  TaskJob job = {};
  Phase phase = Phase::running;
  bool suspend = false;
  bool verbose = false;
};
EVENKEEL_FIELDS(TaskSpec, aside, bravo, charlie, delta, echo, golf, job, phase, suspend, verbose)

struct Task {
  static constexpr ResourceInfo resource{
      .group = "test.evenkeel.dev", .version = "v1", .kind = "Task", .plural = "tasks"};
  ObjectMeta metadata = {};
  TaskSpec spec = {};
};
EVENKEEL_FIELDS(Task, metadata, spec)

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = OperationProblemKind;
using Reconcile = Result (*)(Context&, const Cache&);

ControllerSpec of(Reconcile reconcile) {
  return controller_for<Cache>(reconcile).owns<Pod>().owns<ConfigMap>();
}

Operations try_out(Reconcile reconcile, const OperationsOptions& options = {}) {
  return operations([reconcile] { return of(reconcile); }, main_cache({.settings = {{"level", "1"}}}),
                    options);
}

/// Runs only these changes.
Operations try_changes(Reconcile reconcile, std::vector<PropertyChange> changes) {
  return try_out(reconcile, {.changes = std::move(changes)});
}

void report(Context& context, const Cache& cache, const std::string& message) {
  context.patch_status(cache, [&](CacheStatus& status) {
    status.message = message;
    if (message.empty()) status.replicas = cache.spec.replicas;
  });
}

std::string problem_of(const CacheSpec& spec) {
  if (spec.replicas < 0) return "replicas must not be negative";
  const auto memory = Quantity::parse(spec.memory);
  if (!memory || *memory < Quantity(0)) return "memory is invalid: " + spec.memory;
  if (spec.image.find(' ') != std::string::npos) return "image is invalid: " + spec.image;
  if (spec.backup && std::count(spec.backup->schedule.begin(), spec.backup->schedule.end(), ' ') != 4)
    return "backup.schedule is invalid: " + spec.backup->schedule;
  return {};
}

// Pods with these names exist, with the image, and no other.
void keep_pods(Context& context, const Cache& cache) {
  for (int at = 0; at < cache.spec.replicas; ++at) {
    const std::string name = cache.metadata.name + "-" + std::to_string(at);
    const auto pod = context.find<Pod>({cache.metadata.namespace_, name});
    if (pod && !is_deleting(pod->metadata) && pod->spec.containers.at(0).image != cache.spec.image)
      context.remove<Pod>({cache.metadata.namespace_, name});
    if (!pod) context.apply(cache_pod(name, cache.spec));
  }
  const auto owned = context.owned_by<Pod>(cache);
  for (const auto& pod : owned) {
    const std::string& name = pod->metadata.name;
    if (std::stoi(name.substr(name.rfind('-') + 1)) >= cache.spec.replicas)
      context.remove<Pod>({cache.metadata.namespace_, name});
  }
}

// ---- An operator without a bug.

Result correct(Context& context, const Cache& cache) {
  const std::string problem = problem_of(cache.spec);
  if (problem.empty()) {
    keep_pods(context, cache);
    context.apply(cache_data("main-data", wanted_data(cache.spec)));
  }
  report(context, cache, problem);
  return done();
}

const TouchedProperty& property(const Operations& result, const std::string& path) {
  static const TouchedProperty none;
  for (const TouchedProperty& one : result.properties) {
    if (one.path == path) return one;
  }
  ADD_FAILURE() << "there is no " << path << " in " << result.describe();
  return none;
}

TEST(OperationsCorrect, OperatorThatReportsWrongValues) {
  const Operations result = try_out(correct);
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.changes, 30u) << result.describe();
  EXPECT_GT(result.refused, 5u) << result.describe();
  EXPECT_GT(result.reported, 4u) << result.describe();
  for (const char* path :
       {"spec.replicas", "spec.image", "spec.memory", "spec.eviction", "spec.backup", "spec.backup.schedule",
        "spec.backup.keep", "spec.settings", "spec.settings.level"})
    EXPECT_GT(property(result, path).effective, 0u) << path << "\n" << result.describe();
  EXPECT_THAT(property(result, "spec.memory").dependents,
              ElementsAre("configmaps default/main-data data.memory"));
  EXPECT_THAT(property(result, "spec.image").dependents,
              ::testing::Contains("pods default/main-0 spec.containers[0].image"));
}

TEST(OperationsCorrect, EverySeedTriesAllProperties) {
  const Operations straight = try_out(correct);
  const Operations shuffled = try_out(correct, {.seed = 1});
  EXPECT_TRUE(shuffled.ok()) << shuffled.describe();
  EXPECT_EQ(shuffled.properties.size(), straight.properties.size()) << shuffled.describe();
  EXPECT_NE(shuffled.properties.at(0).path, straight.properties.at(0).path);
  EXPECT_EQ(shuffled.describe(), try_out(correct, {.seed = 1}).describe());
}

// ---- Pods are created right, and never updated (a field that takes effect at creation only).

Result only_at_creation(Context& context, const Cache& cache) {
  const std::string problem = problem_of(cache.spec);
  report(context, cache, problem);
  if (!problem.empty()) return done();
  for (int at = 0; at < cache.spec.replicas; ++at) {
    const std::string name = cache.metadata.name + "-" + std::to_string(at);
    if (!context.find<Pod>({"default", name})) context.apply(cache_pod(name, cache.spec));
  }
  return done();
}

TEST(OperationsPlanted, FieldThatTakesEffectAtCreationOnly) {
  const Operations result = try_out(only_at_creation);
  EXPECT_TRUE(finds(result, "spec.image", Kind::not_as_fresh)) << result.describe();
  EXPECT_THAT(result.describe(),
              HasSubstr("after the change, pods default/main-0 is not as in the world of a new object: "
                        "spec.containers[0].image: \"cache:2\" -> \"cache:1\""));
  // Pods are not removed, either.
  EXPECT_TRUE(finds(result, "spec.replicas", Kind::not_rolled_back)) << result.describe();
}

TEST(OperationsPlanted, FindingRepeatsAsATest) {
  const Operations result = try_changes(only_at_creation, {set_property("spec.image", R"("cache:2")")});
  EXPECT_FALSE(result.ok());
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].change, set_property("spec.image", R"("cache:2")"));
  EXPECT_EQ(result.findings[0].from, R"("cache:1")");
  EXPECT_THAT(result.findings[0].before, IsEmpty());
  EXPECT_THAT(result.findings[0].timeline,
              HasSubstr("workload: update caches.test.evenkeel.dev default/main: spec.image"));
}

// ---- A section that is switched on and never off again (an update that is never rolled back).

Result never_off(Context& context, const Cache& cache) {
  const std::string problem = problem_of(cache.spec);
  report(context, cache, problem);
  if (!problem.empty()) return done();
  if (cache.spec.backup)
    context.apply(cache_data("main-backup", {{"schedule", cache.spec.backup->schedule},
                                             {"keep", std::to_string(cache.spec.backup->keep)}}));
  return done();
}

TEST(OperationsPlanted, UpdateThatIsNeverRolledBack) {
  const Operations result = try_out(never_off);
  EXPECT_TRUE(finds(result, "spec.backup", Kind::not_rolled_back)) << result.describe();
  EXPECT_EQ(result.findings.size(), 1u) << result.describe();
  EXPECT_THAT(
      result.describe(),
      HasSubstr("after the change back, configmaps default/main-backup exists, but does not before it"));
}

// ---- A negative count removes all Pods (a wrong value that destroys).

Result trusting(Context& context, const Cache& cache) {
  keep_pods(context, cache);
  return done();
}

TEST(OperationsPlanted, WrongValueThatDestroys) {
  const Operations result = try_out(trusting);
  EXPECT_TRUE(finds(result, "spec.replicas", Kind::destroyed)) << result.describe();
  EXPECT_TRUE(finds(result, "spec.replicas", Kind::unreported)) << result.describe();
  EXPECT_THAT(result.describe(),
              HasSubstr("because of a value that is not accepted, pods default/main-0 was deleted"));
  EXPECT_THAT(result.describe(), HasSubstr("ek::testing::set_wrong(\"spec.replicas\", \"-1\")"));
}

// ---- A reconcile that waits for a quantity that can be parsed (hangs on an invalid quantity).

void pause(Context& context) {
  Mutex mutex;
  CondVar never;
  MutexLock lock(mutex);
  const Clock& clock = context.clock();
  clock.wait_until(never, lock, clock.now() + std::chrono::seconds{10});
}

Result waits_for_a_quantity(Context& context, const Cache& cache) {
  while (!Quantity::parse(cache.spec.memory)) pause(context);
  context.apply(cache_data("main-data", {{"memory", cache.spec.memory}}));
  return done();
}

TEST(OperationsPlanted, HangsOnAnInvalidQuantity) {
  const Operations result =
      try_changes(waits_for_a_quantity, {set_wrong("spec.memory", R"("10 gigabytes")")});
  EXPECT_TRUE(finds(result, "spec.memory", Kind::unsettled)) << result.describe();
  EXPECT_TRUE(finds(result, "spec.memory", Kind::unreported)) << result.describe();
  EXPECT_THAT(result.describe(), HasSubstr("waits until its time is over"));
  EXPECT_FALSE(finds(try_out(waits_for_a_quantity), "spec.image", Kind::unsettled));
}

// ---- A failure is remembered in the status, and nothing is done any more (recovery failure).

Result gives_up(Context& context, const Cache& cache) {
  if (cache.status.failed) return done();
  const std::string problem = problem_of(cache.spec);
  if (!problem.empty()) {
    context.patch_status(cache, [&](CacheStatus& status) {
      status.failed = true;
      status.message = problem;
    });
    return done();
  }
  context.apply(cache_data("main-data", wanted_data(cache.spec)));
  return done();
}

TEST(OperationsPlanted, NeverRecoversFromAWrongValue) {
  const Operations result = try_out(gives_up);
  EXPECT_TRUE(finds(result, "spec.memory", Kind::not_rolled_back)) << result.describe();
  EXPECT_THAT(result.describe(), HasSubstr("is not as before it: status: added {\"failed\":true"));
}

// ---- A wrong value goes on into the configuration (a misoperation that nobody notices).

Result passes_on(Context& context, const Cache& cache) {
  context.apply(cache_data("main-data", wanted_data(cache.spec)));
  return done();
}

TEST(OperationsPlanted, WrongValueThatNobodyReports) {
  const Operations result = try_changes(passes_on, {set_wrong("spec.memory", R"("10 gigabytes")")});
  EXPECT_TRUE(finds(result, "spec.memory", Kind::unreported)) << result.describe();
  EXPECT_THAT(result.describe(), HasSubstr("the wrong value is reported neither at admission, nor in the "
                                           "status, nor by a Warning Event"));
}

// ---- A change of what cannot be changed fails without end, and only the log says so.

Result immutable_data(Context& context, const Cache& cache) {
  ConfigMap data =
      cache_data("main-data", {{"eviction", cache.spec.eviction == Eviction::oldest ? "a" : "b"}});
  data.immutable = true;
  context.apply(data);
  return done();
}

TEST(OperationsPlanted, ChangeThatFailsForEver) {
  const Operations result = try_changes(immutable_data, {set_property("spec.eviction", R"("Random")")});
  EXPECT_TRUE(finds(result, "spec.eviction", Kind::unreported)) << result.describe();
  EXPECT_THAT(
      result.describe(),
      HasSubstr("the change fails, and neither the status nor a Warning Event says so; the error is: "));
}

// ---- The same, reported by an Event: an answer to the user.

Result immutable_data_reported(Context& context, const Cache& cache) {
  try {
    return immutable_data(context, cache);
  } catch (const ApiError& error) {
    context.event(cache, EventSeverity::warning, "UpdateFailed", error.message());
    throw;
  }
}

TEST(OperationsCorrect, FailureThatAnEventReports) {
  const Operations result =
      try_changes(immutable_data_reported, {set_property("spec.eviction", R"("Random")")});
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_EQ(result.reported, 1u) << result.describe();
}

// ---- Each start counts.

TEST(OperationsPlanted, RestartThatChangesTheWorld) {
  const auto make = [] {
    const auto started = std::make_shared<bool>(false);
    return ControllerSpec(controller_for<Cache>([started](Context& context, const Cache& cache) {
                            if (!std::exchange(*started, true))
                              context.patch_status(cache, [](CacheStatus& status) { ++status.replicas; });
                            return done();
                          }).owns<ConfigMap>());
  };
  const Operations result =
      operations(make, main_cache(), {.changes = {set_property("spec.image", R"("cache:2")")}});
  EXPECT_TRUE(finds(result, "spec.image", Kind::unstable)) << result.describe();
}

// ---- A change that matters only while a section is there: the report has both changes.

Result backup_at_creation(Context& context, const Cache& cache) {
  if (cache.spec.backup) {
    if (!context.find<ConfigMap>({"default", "main-backup"}))
      context.apply(cache_data("main-backup", {{"keep", std::to_string(cache.spec.backup->keep)}}));
  } else if (context.find<ConfigMap>({"default", "main-backup"})) {
    context.remove<ConfigMap>({"default", "main-backup"});
  }
  return done();
}

TEST(OperationsPlanted, NamesTheChangesThatAreNecessaryBefore) {
  const Operations result =
      operations([] { return of(backup_at_creation); }, main_cache(),
                 {.untouched = {"spec.replicas", "spec.image", "spec.backup.schedule"}});
  ASSERT_TRUE(finds(result, "spec.backup.keep", Kind::not_as_fresh)) << result.describe();
  for (const OperationFinding& finding : result.findings) {
    if (finding.change.path != "spec.backup.keep" || finding.problems.front().kind != Kind::not_as_fresh)
      continue;
    ASSERT_EQ(finding.before.size(), 1u) << result.describe();
    EXPECT_EQ(finding.before[0].path, "spec.backup");
  }
}

// ---- Flags and words that stop the operator.

// Copies the spec into a ConfigMap, unless it is to stop.
Result copy_task(Context& context, const Task& task) {
  const bool stopped =
      task.spec.aside || task.spec.suspend || task.spec.job.paused || task.spec.phase == Phase::parked;
  std::map<std::string, std::string> data{{"stopped", stopped ? "yes" : "no"}};
  const Json spec = to_tree(task.spec);
  if (!stopped) {
    for (const auto& [name, value] : spec.as_object()) data[name] = value.dump();
  }
  context.apply(ConfigMap{.metadata = {.name = "task"}, .data = std::move(data)});
  return done();
}

Operations try_task(const OperationsOptions& options = {}) {
  return operations([] { return ControllerSpec(controller_for<Task>(copy_task).owns<ConfigMap>()); },
                    Task{.metadata = {.name = "one", .namespace_ = "default"}, .spec = {}}, options);
}

TEST(OperationsCorrect, AFlagThatStopsTheOperatorDoesNotStay) {
  const Operations result = try_task({.untouched = {"spec.phase", "spec.aside"}});
  EXPECT_TRUE(result.ok()) << result.describe();
  for (const char* path : {"spec.bravo", "spec.charlie", "spec.delta", "spec.echo", "spec.golf",
                           "spec.job.keep", "spec.verbose"})
    EXPECT_THAT(property(result, path).dependents, ::testing::Not(IsEmpty())) << path << result.describe();
  EXPECT_EQ(result.silent_since, "") << result.describe();
}

TEST(OperationsCorrect, NamesTheChangeSinceWhichNothingHasAnEffect) {
  const Operations result = try_task({.untouched = {"spec.phase"}});
  EXPECT_EQ(result.silent_since, "spec.aside") << result.describe();
  EXPECT_GT(result.silent, 5u);
  EXPECT_THAT(result.describe(), HasSubstr("Since the change of spec.aside none had an effect, and " +
                                           std::to_string(result.silent) +
                                           " properties were changed: if it stops the operator, give it as "
                                           "OperationsOptions::untouched.\n"));
}

// ---- An operator that works by the clock: it never settles.

TEST(OperationsCorrect, CallsTheEnvironmentOfAnOperatorThatNeverSettles) {
  int calls = 0;
  const auto make = [] {
    return ControllerSpec(controller_for<Task>(
        [](Context&, const Task&) { return requeue_after(std::chrono::seconds{20}, "by the clock"); }));
  };
  const Operations result =
      operations(make, Task{.metadata = {.name = "one", .namespace_ = "default"}, .spec = {}},
                 {.environment = [&calls](Harness&) { ++calls; },
                  .changes = {set_property("spec.bravo", "2")},
                  .limit = std::chrono::minutes{5}});
  EXPECT_TRUE(result.ok()) << result.describe();
  // Two creations, a third one with the value, and the three stages of the change.
  EXPECT_EQ(calls, 6 * 4) << result.describe();
}

// ---- Warning Events whose words differ each time, whatever was changed.

TEST(OperationsCorrect, AWarningOfAKnownKindIsNoRefusal) {
  const auto make = [] {
    return ControllerSpec(controller_for<Task>([](Context& context, const Task& task) {
                            context.event(
                                task, EventSeverity::warning, "RunSkipped",
                                "skipped at generation " + std::to_string(task.metadata.generation));
                            return copy_task(context, task);
                          }).owns<ConfigMap>());
  };
  const Operations result =
      operations(make, Task{.metadata = {.name = "one", .namespace_ = "default"}, .spec = {}},
                 {.changes = {set_property("spec.bravo", "2")}});
  EXPECT_EQ(result.reported, 0u) << result.describe();
  EXPECT_TRUE(result.ok()) << result.describe();
}

}  // namespace operations_planted
}  // namespace evenkeel::testing
