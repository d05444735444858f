// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explore_store.hpp"

namespace evenkeel::testing {
namespace explore_calls {

using ::testing::HasSubstr;

Result apply_data(Context& context, const Store& store) {
  context.apply(data_map("main-data", {{"image", store.spec.image}}));
  context.patch_status(store, [&](StoreStatus& status) { status.phase = "Ready"; });
  return done();
}

ControllerSpec data_controller() {
  return controller_for<Store>(apply_data).owns<ConfigMap>();
}

void update_once(Harness& cluster) {
  cluster.create({store()});
  cluster.settle();
  cluster.edit<Store>(main_store, [](Store& changed) { changed.spec.image = "store:2"; });
  cluster.settle();
}

// Writes the status before the data, and neither again.
Result status_first(Context& context, const Store& store) {
  if (store.status.initialized) return done();
  context.patch_status(store, [](StoreStatus& status) { status.initialized = true; });
  context.apply(data_map("main-data"));
  return done();
}

ControllerSpec status_first_controller() {
  return controller_for<Store>(status_first).owns<ConfigMap>();
}

void create_once(Harness& cluster) {
  cluster.create({store()});
  cluster.settle();
}

const Moment status_write{"patch stores.test.evenkeel.dev/status default/main"};

TEST(Explore, FindsNothingInAnOperatorThatAppliesWhatItWants) {
  const Exploration result = explore(data_controller, update_once);
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.plans_run, 10u);
  EXPECT_GT(result.plans_pruned, 0u);
  EXPECT_EQ(result.reference_writes, 3u);
  EXPECT_EQ(result.describe(), "explore: 0 of " + std::to_string(result.plans_run) + " plans failed; " +
                                   std::to_string(result.plans_pruned) +
                                   " were pruned, 1 of them because nobody reads what they hide. Runs of "
                                   "the reference: " +
                                   std::to_string(result.reference_runs) + ", effective writes: 3.\n");
}

TEST(Explore, TakesSeveralControllers) {
  const auto make = [] {
    ControllerSpec second = data_controller();
    second.options.name = "second";
    return std::vector<ControllerSpec>{data_controller(), second};
  };
  const Exploration result = explore(make, create_once);
  EXPECT_TRUE(result.ok()) << result.describe();
}

TEST(Explore, PrintsTheSmallestPlanWithWhatTheControllersSaw) {
  const Exploration result = explore(status_first_controller, create_once);
  EXPECT_FALSE(result.ok());
  ASSERT_FALSE(result.findings.empty());
  const Finding& first = result.findings[0];
  EXPECT_EQ(first.plan, (Plan{{crash_after(status_write)}}));
  EXPECT_EQ(first.problems[0].kind, ProblemKind::creations);
  EXPECT_EQ(first.problems[0].text, "configmaps default/main-data was never created; in the reference once");
  EXPECT_EQ(first.problems[1].text, "configmaps default/main-data is missing at the end");
  const std::string text = result.describe();
  EXPECT_THAT(text, HasSubstr("crash right after patch stores.test.evenkeel.dev/status default/main, before "
                              "its answer"));
  EXPECT_THAT(text, HasSubstr("ek::testing::crash_after({\"patch stores.test.evenkeel.dev/status "
                              "default/main\"}),"));
  EXPECT_THAT(first.timeline, HasSubstr("workload: create stores.test.evenkeel.dev default/main"));
  EXPECT_THAT(first.timeline, HasSubstr("| ADDED stores.test.evenkeel.dev default/main"));
  EXPECT_THAT(first.timeline, HasSubstr("| run store default/main"));
  EXPECT_THAT(first.timeline, HasSubstr("--- the process starts again"));
}

TEST(Explore, RunsAGivenPlanOnly) {
  const Exploration result =
      explore(status_first_controller, create_once, {.plans = {Plan{{crash_after(status_write)}}}});
  EXPECT_EQ(result.plans_run, 1u);
  EXPECT_EQ(result.plans_failed, 1u);
  const Exploration other =
      explore(data_controller, create_once, {.plans = {Plan{{crash_after(status_write)}}}});
  EXPECT_TRUE(other.ok()) << other.describe();
}

TEST(Explore, ReportsAStepWhoseWriteDoesNotOccur) {
  const Plan plan{{crash_after({"create pods default/other"})}};
  const Exploration result = explore(data_controller, create_once, {.plans = {plan}});
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].problems[0].kind, ProblemKind::not_reached);
  EXPECT_EQ(result.findings[0].problems[0].text,
            "this step never took effect: crash right after create pods default/other, before its answer");
}

// A user changes the data, which the operator repairs if it hears of it, and nothing else happens for long.
void change_the_data(Harness& cluster) {
  create_once(cluster);
  cluster.edit<ConfigMap>({"default", "main-data"}, [](ConfigMap& map) { map.data["image"] = "mine"; });
  cluster.run_for(std::chrono::minutes{20});
  cluster.create({ConfigMap{.metadata = {.name = "other", .namespace_ = "other"}}});
  cluster.settle();
}

TEST(Explore, DeliversWhatWasWithheldForLongerThanAWatchLasts) {
  for (const WithheldDelivery delivery : {WithheldDelivery::merged, WithheldDelivery::late}) {
    const Plan plan{{withhold("configmaps",
                              {.from = {"workload: patch configmaps default/main-data"},
                               .until = {"workload: create configmaps other/other"}},
                              delivery)}};
    const Exploration result = explore(data_controller, change_the_data, {.plans = {plan}});
    EXPECT_TRUE(result.ok()) << result.describe();
  }
}

// The operator does not see that the store was deleted and made again. The garbage collector deletes the data
// of the old one; made once more with the old owner, it would be deleted again, and so on.
TEST(Explore, AnOperatorThatSeesAnOwnerForTooLongMakesNothingForIt) {
  const auto workload = [](Harness& cluster) {
    create_once(cluster);
    cluster.remove<Store>(main_store);
    cluster.settle();
    create_once(cluster);
  };
  for (const WithheldDelivery delivery : {WithheldDelivery::merged, WithheldDelivery::late}) {
    const Plan plan{{withhold("stores.test.evenkeel.dev",
                              {.from = {"workload: delete stores.test.evenkeel.dev default/main"},
                               .until = {"workload: create stores.test.evenkeel.dev default/main", 2}},
                              delivery)}};
    const Exploration result = explore(data_controller, workload, {.plans = {plan}});
    EXPECT_TRUE(result.ok()) << result.describe();
  }
}

ControllerSpec looking_controller() {
  return controller_for<Store>([](Context& context, const Store& store) {
           context.apply(data_map("main-data", {{"image", store.spec.image}}), {.skip_unchanged = true});
           context.event(store, EventSeverity::normal, "Applied", "it has its data");
         })
      .owns<ConfigMap>();
}

// The record of an apply has the uid of the owner in it, which is another one if something was created
// before.
TEST(Explore, DoesNotCompareRecordsOfApplies) {
  const auto workload = [](Harness& cluster) {
    create_once(cluster);
    cluster.remove<Store>(main_store);
    cluster.settle();
    create_once(cluster);
  };
  const Exploration result = explore(looking_controller, workload);
  EXPECT_TRUE(result.ok()) << result.describe();
}

TEST(Explore, DropsStepsThatAPlanDoesNotNeed) {
  const Plan plan{
      {down_during({"workload: create stores.test.evenkeel.dev default/main"}), crash_after(status_write)}};
  ExploreOptions options{.plans = {plan}};
  const Exploration result = explore(status_first_controller, create_once, options);
  ASSERT_EQ(result.findings.size(), 1u) << result.describe();
  EXPECT_EQ(result.findings[0].plan, (Plan{{crash_after(status_write)}}));
}

TEST(Explore, ReportsAReconcileThatIsNotRepeatable) {
  const auto counter = std::make_shared<int>(0);
  const auto make = [counter] {
    return ControllerSpec(controller_for<Store>([counter](Context& context, const Store&) {
      context.apply(data_map("main-data", {{"run", std::to_string(++*counter)}}));
    }));
  };
  const Exploration result = explore(make, create_once);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.plans_run, 0u);
  ASSERT_FALSE(result.reference.empty());
  const Problem& last = result.reference.back();
  EXPECT_EQ(last.kind, ProblemKind::not_repeatable);
  EXPECT_THAT(last.text, HasSubstr("two runs without any fault differ at write 2: apply configmaps "
                                   "default/main-data; data.run: \"1\" -> "));
}

TEST(Explore, ReportsAReferenceThatIsNotStable) {
  const auto make = [] {
    return ControllerSpec(controller_for<Store>(
        [](Context& context, const Store& store) {
          context.patch_status(store, [](StoreStatus& status) { status.failures += 1; });
        },
        {.when = generation_changed()}));
  };
  const Exploration result = explore(make, create_once);
  ASSERT_EQ(result.reference.size(), 1u) << result.describe();
  EXPECT_EQ(result.reference[0].kind, ProblemKind::unstable);
  EXPECT_EQ(
      result.describe(),
      "explore: the run without any fault has problems, so no plan was run:\n   once settled, another run "
      "of each key does: patch stores.test.evenkeel.dev/status default/main (2)\n");
}

TEST(Explore, ReportsAWorkloadThatThrows) {
  const Exploration result =
      explore(data_controller, [](Harness&) { throw std::runtime_error("no such cluster"); });
  ASSERT_EQ(result.reference.size(), 1u);
  EXPECT_EQ(result.reference[0].text, "the workload failed: no such cluster");
}

TEST(Explore, ReportsAnExceptionThatTheReferenceDoesNotHave) {
  // After a crash the data exists already, which this operator does not expect.
  const auto make = [] {
    return ControllerSpec(controller_for<Store>([](Context& context, const Store& store) {
                            if (store.status.initialized) return;
                            if (context.find<ConfigMap>({"default", "main-data"}))
                              throw std::logic_error("data of nobody");
                            context.apply(data_map("main-data"));
                            context.patch_status(store,
                                                 [](StoreStatus& status) { status.initialized = true; });
                          }).owns<ConfigMap>());
  };
  const Exploration result = explore(make, create_once);
  EXPECT_TRUE(finds(result, ProblemKind::exception)) << result.describe();
  EXPECT_THAT(result.describe(), HasSubstr("a reconcile threw: data of nobody"));
}

TEST(Explore, IgnoresResourcesAndFieldsOnRequest) {
  // Counts its runs, which differ after a fault.
  const auto make = [] {
    return ControllerSpec(controller_for<Store>(
                              [](Context& context, const Store& store) {
                                context.patch_status(store,
                                                     [](StoreStatus& status) { status.failures += 1; });
                                context.apply(data_map("main-data"));
                              },
                              {.when = generation_changed()})
                              .owns<ConfigMap>());
  };
  const auto without_count = [](Json& object) {
    if (Json* const status = object.find("status")) status->erase("failures");
  };
  const Exploration masked = explore(make, create_once, {.normalize = without_count});
  EXPECT_TRUE(masked.ok()) << masked.describe();
}

TEST(Explore, TriesPairsOfFaultsOnRequest) {
  const Exploration one = explore(data_controller, update_once);
  const Exploration two = explore(data_controller, update_once, {.steps = 2});
  EXPECT_GT(two.plans_run, one.plans_run);
  EXPECT_TRUE(two.ok()) << two.describe();
}

TEST(Explore, LeavesOutPlansBeyondTheLimit) {
  const Exploration result = explore(data_controller, update_once, {.max_plans = 3});
  EXPECT_EQ(result.plans_run, 3u);
  EXPECT_GT(result.plans_left_out, 0u);
  EXPECT_THAT(result.describe(), HasSubstr(" left out"));
}

TEST(Explore, TriesAllPlansOnRequest) {
  const Exploration result = explore(data_controller, update_once, {.scope = ExploreScope::all});
  EXPECT_EQ(result.plans_pruned, 0u);
  EXPECT_TRUE(result.ok()) << result.describe();
}

TEST(Explore, RefusesOptionsOutOfRange) {
  const auto text = [](const ExploreOptions& options) -> std::string {
    try {
      explore(data_controller, create_once, options);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(text({.steps = 3}), "explore: ExploreOptions::steps must be 1 or 2");
  EXPECT_EQ(text({.run_factor = 0}), "explore: ExploreOptions::run_factor must be > 0");
  EXPECT_EQ(text({.limit = Duration::zero()}), "explore: ExploreOptions::limit must be > 0");
  EXPECT_EQ(text({.max_staleness = -Duration(1)}),
            "explore: ExploreOptions::max_staleness must not be negative");
  EXPECT_EQ(text({.threads = 0}), "explore: ExploreOptions::threads must be > 0");
  EXPECT_EQ(text({.replicas = 3}), "explore: ExploreOptions::replicas must be 1 or 2");
}

TEST(ExploreConcurrency, FindsTheSameWithSeveralThreads) {
  Exploration one = explore(status_first_controller, create_once);
  Exploration three = explore(status_first_controller, create_once, {.threads = 3});
  EXPECT_EQ(one.describe(), three.describe());
}

}  // namespace explore_calls
}  // namespace evenkeel::testing
