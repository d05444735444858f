// SPDX-License-Identifier: Apache-2.0
// Small operators with the shapes of published bugs (sieve-project/sieve docs/bugs.md; Acto, SOSP'23), each
// of which an exploration finds, and their repaired forms, in which it finds nothing.
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/errors.hpp>

#include "../support/sanitized.hpp"
#include "explore_store.hpp"
#include "gadget.hpp"

namespace evenkeel::testing {
namespace explore_planted {

using Reconcile = Result (*)(Context&, const Store&);

ControllerSpec with_pods(Reconcile reconcile) {
  return controller_for<Store>(reconcile).owns<Pod>();
}

ControllerSpec with_data(Reconcile reconcile) {
  return controller_for<Store>(reconcile).owns<ConfigMap>();
}

void create_only(Harness& cluster) {
  cluster.create({store()});
  cluster.settle();
}

// ---- A Pod with a generated name, whose name is recorded after it was created (leaked resources).

Result create_then_record(Context& context, const Store& store) {
  if (!store.status.pod.empty()) return done();
  Pod pod = store_pod("", store);
  pod.metadata.generate_name = "main-";
  const auto created = context.create(pod);
  context.patch_status(store, [&](StoreStatus& status) { status.pod = created->metadata.name; });
  return done();
}

TEST(ExplorePlanted, NameRecordedAfterTheCreation) {
  const Exploration result = explore([] { return with_pods(create_then_record); }, create_only);
  EXPECT_TRUE(finds(result, ProblemKind::creations)) << result.describe();
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].plan, (Plan{{crash_after({"create pods default/main-*"})}}));
}

// ---- A list from an old cache, then a second creation (a stale list then create twice).

Result create_missing(Context& context, const Store& store) {
  const std::size_t have = context.owned_by<Pod>(store).size();
  for (std::size_t at = have; at < static_cast<std::size_t>(store.spec.replicas); ++at) {
    Pod pod = store_pod("", store);
    pod.metadata.generate_name = "main-";
    context.create(pod);
  }
  return done();
}

TEST(ExplorePlanted, StaleListThenCreatedTwice) {
  const Exploration result = explore([] { return with_pods(create_missing); }, create_only);
  EXPECT_TRUE(finds(result, ProblemKind::end_state)) << result.describe();
  ASSERT_FALSE(result.findings.empty());
  const Moment creation{"create pods default/main-*"};
  EXPECT_EQ(result.findings[0].plan, (Plan{{restart_stale({.after = creation, .as_before = creation})}}))
      << result.describe();
}

// ---- The flag is set before the work is done (intermediate state).

Result flag_then_data(Context& context, const Store& store) {
  if (store.status.initialized) return done();
  context.patch_status(store, [](StoreStatus& status) { status.initialized = true; });
  context.apply(data_map("main-data", {{"ready", "yes"}}));
  return done();
}

TEST(ExplorePlanted, FlagSetBeforeTheWork) {
  const Exploration result = explore([] { return with_data(flag_then_data); }, create_only);
  EXPECT_TRUE(finds(result, ProblemKind::creations)) << result.describe();
  EXPECT_TRUE(finds(result, ProblemKind::end_state)) << result.describe();
}

// ---- The finalizer is removed before the clean-up (leaked data).

void unfinished_clean_up(Context& context, const Request& request) {
  const std::string finalizer = "test.evenkeel.dev/data";
  const auto store = context.find<Store>(request.object_key());
  if (!store) return;
  if (is_deleting(store->metadata)) {
    context.patch(store, [&](Store& changed) { remove_finalizer(changed.metadata, finalizer); });
    context.remove<ConfigMap>({"default", "main-data"});
    return;
  }
  context.patch(store, [&](Store& changed) { add_finalizer(changed.metadata, finalizer); });
  context.apply(data_map("main-data"), {.own = false});
}

void create_and_remove(Harness& cluster) {
  cluster.create({store()});
  cluster.settle();
  cluster.remove<Store>(main_store);
  cluster.settle();
}

TEST(ExplorePlanted, FinalizerRemovedBeforeTheCleanUp) {
  const Exploration result =
      explore([] { return controller_for<Store>(unfinished_clean_up).owns<ConfigMap>(); }, create_and_remove);
  EXPECT_TRUE(finds(result, ProblemKind::deletions)) << result.describe();
  EXPECT_TRUE(finds(result, ProblemKind::end_state)) << result.describe();
}

// ---- A resize that is compared with the part that is changed first (resize seen half-way).

Result resize(Context& context, const Store& store) {
  const std::string wanted = std::to_string(store.spec.storage);
  const auto set = context.find<ConfigMap>({"default", "main-set"});
  if (set && set->data.contains("storage") && set->data.at("storage") == wanted) return done();
  context.apply(data_map("main-set", {{"storage", wanted}}));
  context.apply(data_map("main-claim", {{"storage", wanted}}));
  return done();
}

void create_and_resize(Harness& cluster) {
  cluster.create({store()});
  cluster.settle();
  cluster.edit<Store>(main_store, [](Store& changed) { changed.spec.storage = 2; });
  cluster.settle();
}

TEST(ExplorePlanted, ResizeSeenHalfWay) {
  const Exploration result = explore([] { return with_data(resize); }, create_and_resize);
  EXPECT_TRUE(finds(result, ProblemKind::end_state)) << result.describe();
  EXPECT_THAT(result.describe(), ::testing::HasSubstr("configmaps default/main-claim differs at the end from "
                                                      "the reference: data.storage: \"2\" -> \"1\""));
}

// ---- The claim of a Pod is removed only by a run that sees the Pod being deleted (missed
// deletionTimestamp).

Result remove_claim(Context& context, const Store& store) {
  const auto pod = context.find<Pod>({"default", "main-0"});
  if (!pod) {
    if (store.spec.replicas > 0) {
      context.apply(data_map("main-claim"), {.own = false});
      context.create(store_pod("main-0", store));
    }
  } else if (is_deleting(pod->metadata)) {
    context.remove<ConfigMap>({"default", "main-claim"});
  }
  return done();
}

void scale_to_zero(Harness& cluster) {
  const ObjectKey pod{"default", "main-0"};
  cluster.create({store()});
  cluster.settle();
  cluster.edit<Pod>(pod, [](Pod& changed) { add_finalizer(changed.metadata, "kubelet/running"); });
  cluster.edit<Store>(main_store, [](Store& changed) { changed.spec.replicas = 0; });
  cluster.settle();
  cluster.remove<Pod>(pod);
  cluster.settle();
  cluster.edit<Pod>(pod, [](Pod& changed) { remove_finalizer(changed.metadata, "kubelet/running"); });
  cluster.settle();
}

TEST(ExplorePlanted, MissedDeletionTimestamp) {
  const Exploration result = explore([] { return with_pods(remove_claim); }, scale_to_zero);
  EXPECT_TRUE(finds(result, ProblemKind::end_state)) << result.describe();
  EXPECT_THAT(
      result.describe(),
      ::testing::HasSubstr("configmaps default/main-claim exists at the end, but not in the reference"));
}

// ---- A failed Pod is counted when it is seen, and may be gone before (Pod deleted before its phase is
// read).

Result count_failures(Context& context, const Store& store) {
  const auto pod = context.find<Pod>({"default", "main-0"});
  if (pod && pod->status.phase == "Failed" && store.status.phase != "Failed") {
    context.patch_status(store, [](StoreStatus& status) {
      status.failures += 1;
      status.phase = "Failed";
    });
  }
  if (!pod) {
    context.create(store_pod("main-0", store));
    context.patch_status(store, [](StoreStatus& status) { status.phase = "Running"; });
  }
  return done();
}

void fail_a_pod(Harness& cluster) {
  const ObjectKey pod{"default", "main-0"};
  cluster.create({store()});
  cluster.settle();
  cluster.edit_status<Pod>(pod, [](core_v1::PodStatus& status) { status.phase = "Failed"; });
  cluster.settle();
  cluster.remove<Pod>(pod);
  cluster.settle();
}

TEST(ExplorePlanted, PodDeletedBeforeItsPhaseIsRead) {
  const Exploration result = explore([] { return with_pods(count_failures); }, fail_a_pod);
  EXPECT_TRUE(finds(result, ProblemKind::end_state)) << result.describe();
  EXPECT_THAT(result.describe(), ::testing::HasSubstr("status.failures"));
}

// ---- Clean-up by name, for a store that was created again under the same name (time travel across a uid).

void clean_up_by_name(Context& context, const Request& request) {
  const std::string finalizer = "test.evenkeel.dev/data";
  const auto store = context.find<Store>(request.object_key());
  if (!store) return;
  if (is_deleting(store->metadata)) {
    context.remove<ConfigMap>({"default", "main-data"});
    context.patch(store, [&](Store& changed) { remove_finalizer(changed.metadata, finalizer); });
    return;
  }
  context.patch(store, [&](Store& changed) { add_finalizer(changed.metadata, finalizer); });
  context.apply(data_map("main-data"), {.own = false});
}

void create_again(Harness& cluster) {
  create_and_remove(cluster);
  create_only(cluster);
}

TEST(ExplorePlanted, TimeTravelAcrossAUid) {
  const Exploration result =
      explore([] { return controller_for<Store>(clean_up_by_name).owns<ConfigMap>(); }, create_again);
  EXPECT_TRUE(finds(result, ProblemKind::deletions)) << result.describe();
  EXPECT_THAT(result.describe(),
              ::testing::HasSubstr("configmaps default/main-data was deleted; the reference keeps it"));
}

// ---- An update whose error is swallowed (an update that is never made up for).

struct Rollout {
  std::string tried;
  Result operator()(Context& context, const Store& store) {
    if (tried == store.spec.image) return done();
    tried = store.spec.image;
    try {
      context.apply(data_map("main-data", {{"image", store.spec.image}}));
    } catch (const ApiError&) {
      context.log().info("the update failed");
    }
    return done();
  }
};

void create_and_update(Harness& cluster) {
  cluster.create({store()});
  cluster.settle();
  cluster.edit<Store>(main_store, [](Store& changed) { changed.spec.image = "store:2"; });
  cluster.settle();
}

TEST(ExplorePlanted, SwallowedErrorOfAnUpdate) {
  const auto make = [] {
    const auto rollout = std::make_shared<Rollout>();
    return ControllerSpec(controller_for<Store>([rollout](Context& context, const Store& store) {
                            return (*rollout)(context, store);
                          }).owns<ConfigMap>());
  };
  const Exploration result = explore(make, create_and_update);
  EXPECT_TRUE(finds(result, ProblemKind::end_state)) << result.describe();
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings[0].plan.steps[0].kind, PlanStepKind::refusal) << result.describe();
}

// ---- External data is removed when the object is not found, by what the process remembers.

TEST(ExplorePlanted, DeletionThatNobodySawRunning) {
  const auto make = [] {
    const auto known = std::make_shared<std::set<std::string>>();
    return ControllerSpec(controller_for<Store>([known](Context& context, const Request& request) {
                            const auto found = context.find<Store>(request.object_key());
                            if (found) {
                              known->insert(found->metadata.name);
                              context.apply(data_map("main-data"), {.own = false});
                            } else if (known->erase("main") > 0) {
                              context.remove<ConfigMap>({"default", "main-data"});
                            }
                          }).owns<ConfigMap>());
  };
  const Exploration result = explore(make, create_and_remove);
  EXPECT_TRUE(finds(result, ProblemKind::end_state)) << result.describe();
  EXPECT_THAT(result.describe(), ::testing::HasSubstr("down_during({\"workload: delete "
                                                      "stores.test.evenkeel.dev default/main\"})"));
}

// ---- A conflict that is taken for success.

Result ignore_conflicts(Context& context, const Store& store) {
  const ObjectKey main_data{"default", "main-data"};
  const auto data = context.find<ConfigMap>(main_data);
  if (!data) {
    context.create(data_map("main-data", {{"image", store.spec.image}}));
    return done();
  }
  if (data->data.at("image") == store.spec.image) return done();
  const ResourceClient maps = context.client().resource(ConfigMap::resource);
  Json changed = maps.get(main_data)->body();
  changed["data"]["image"] = Json(store.spec.image);
  try {
    maps.update(DynamicObject(changed));
  } catch (const ApiError& error) {
    if (!error.is_conflict()) throw;
  }
  return done();
}

TEST(ExplorePlanted, ConflictTakenForSuccess) {
  const Exploration result = explore([] { return with_data(ignore_conflicts); }, create_and_update);
  EXPECT_TRUE(finds(result, ProblemKind::end_state)) << result.describe();
  EXPECT_THAT(result.describe(), ::testing::HasSubstr("409"));
}

// ---- A number that is taken from memory (lost with the process).

TEST(ExplorePlanted, NumberKeptInMemory) {
  const auto make = [] {
    const auto next = std::make_shared<int>(0);
    return ControllerSpec(controller_for<Store>([next](Context& context, const Store& store) {
                            if (store.status.failures >= store.spec.replicas) return;
                            const std::string name = "main-backup-" + std::to_string((*next)++);
                            context.apply(data_map(name));
                            context.patch_status(store, [&](StoreStatus& status) { status.failures += 1; });
                          }).owns<ConfigMap>());
  };
  const auto workload = [](Harness& cluster) {
    cluster.create({store({.replicas = 3})});
    cluster.settle();
  };
  const Exploration result = explore(make, workload);
  EXPECT_TRUE(finds(result, ProblemKind::creations)) << result.describe();
}

// ---- Correct operators

Result correct_pods(Context& context, const Store& store) {
  std::map<std::string, Snapshot<Pod>> have;
  for (const auto& pod : context.owned_by<Pod>(store)) have[pod->metadata.name] = pod;
  for (int at = 0; at < store.spec.replicas; ++at) {
    const std::string name = "main-" + std::to_string(at);
    if (have.erase(name) == 0) context.apply(store_pod(name, store));
  }
  for (const auto& [name, pod] : have) {
    if (!is_deleting(pod->metadata)) context.remove<Pod>({"default", name}, {.uid = pod->metadata.uid});
  }
  context.patch_status(store, [&](StoreStatus& status) { status.replicas = store.spec.replicas; });
  return done();
}

void scale_up_and_down(Harness& cluster) {
  cluster.create({store()});
  cluster.settle();
  cluster.edit<Store>(main_store, [](Store& changed) { changed.spec.replicas = 3; });
  cluster.settle();
  cluster.edit<Store>(main_store, [](Store& changed) { changed.spec.replicas = 1; });
  cluster.settle();
}

TEST(ExploreCorrect, PodsWithStableNames) {
  const Exploration result = explore([] { return with_pods(correct_pods); }, scale_up_and_down);
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.plans_run, 20u) << result.describe();
  EXPECT_EQ(result.plans_left_out, 0u);
}

// One more replica in each run, 10 s apart.
TEST(ExploreCorrect, RolloutThatWaits) {
  const auto workload = [](Harness& cluster) {
    cluster.create({gadget("web", 3)});
    cluster.settle();
    cluster.edit<Gadget>(web, [](Gadget& changed) { changed.spec.image = "web:2"; });
    cluster.settle();
    cluster.remove<Gadget>(web);
    cluster.settle();
  };
  const Exploration result = explore(gadget_controller, workload, {.steps = 2});
  EXPECT_TRUE(result.ok()) << result.describe();
}

Result five_kinds(Context& context, const Store& store) {
  const std::string& name = store.metadata.name;
  const std::map<std::string, std::string> labels{{"store", name}};
  context.apply(ConfigMap{.metadata = {.name = name}, .data = {{"image", store.spec.image}}});
  context.apply(Secret{.metadata = {.name = name}, .type = "Opaque"});
  context.apply(ServiceAccount{.metadata = {.name = name}});
  context.apply(Service{.metadata = {.name = name},
                        .spec = core_v1::ServiceSpec{.ports = {{.port = 80}}, .selector = labels}});
  Deployment deployment{.metadata = {.name = name}};
  deployment.spec.replicas = store.spec.replicas;
  deployment.spec.selector.emplace().match_labels = labels;
  deployment.spec.template_.metadata.labels = labels;
  deployment.spec.template_.spec.containers = {{.name = "store", .image = store.spec.image}};
  const int ready = context.apply(deployment)->status.ready_replicas.value_or(0);
  context.patch_status(store, [&](StoreStatus& status) {
    status.replicas = ready;
    status.phase = ready == store.spec.replicas ? "Ready" : "Waiting";
  });
  return done();
}

ControllerSpec five_kinds_controller() {
  return controller_for<Store>(five_kinds)
      .owns<ConfigMap>()
      .owns<Secret>()
      .owns<ServiceAccount>()
      .owns<Service>()
      .owns<Deployment>()
      .finalize("test.evenkeel.dev/data", [](Context& context, const Store&) {
        context.remove<ConfigMap>({"default", "shared"});
      });
}

void ten_lines(Harness& cluster) {
  const auto roll_out = [&](int ready) {
    cluster.edit_status<Deployment>(
        main_store, [&](apps_v1::DeploymentStatus& status) { status.ready_replicas = ready; });
    cluster.settle();
  };
  cluster.create({store(), data_map("shared")});
  cluster.settle();
  roll_out(1);
  cluster.edit<Store>(main_store, [](Store& changed) { changed.spec.replicas = 3; });
  cluster.settle();
  roll_out(3);
  cluster.edit<Store>(main_store, [](Store& changed) { changed.spec.image = "store:2"; });
  cluster.settle();
  cluster.remove<ConfigMap>(main_store);
  cluster.settle();
  cluster.remove<Store>(main_store);
  cluster.settle();
}

TEST(ExploreCorrect, FiveOwnedKindsWithoutAFalseAlarm) {
  const Exploration result =
      explore(five_kinds_controller, ten_lines, {.max_plans = tests::sanitized ? 100U : 10'000U});
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.plans_run, 50u) << result.describe();
  EXPECT_LT(result.plans_blocked, result.plans_run / 10) << result.describe();
  const double seconds = std::chrono::duration<double>(result.took).count();
  std::printf("%zu plans in %.2f s, %.0f a second; %zu pruned\n", result.plans_run, seconds,
              static_cast<double>(result.plans_run) / seconds, result.plans_pruned);
}

}  // namespace explore_planted
}  // namespace evenkeel::testing
