// SPDX-License-Identifier: Apache-2.0
// Operators that look right and are not with several replicas, crashes and lost answers. A simulation finds
// each of them; the number of seeds that this takes is printed.
#include <cmath>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/sanitized.hpp"
#include "simulation_operators.hpp"

namespace evenkeel::testing {
namespace {

using ::testing::HasSubstr;

void scale_up(SimulatedCluster& cluster) {
  cluster.create({store({.replicas = 1})});
  cluster.settle();
  for (const int replicas : {2, 3, 4, 5}) {
    cluster.edit<Store>(main_store, [&](Store& store) { store.spec.replicas = replicas; });
    cluster.settle();
  }
}

/// Returns the number of seeds after which half of all campaigns have found it.
std::size_t median_effort(const SimulationResult& result) {
  const double passes = 1 - static_cast<double>(result.seeds_failed) / static_cast<double>(result.seeds_run);
  if (passes <= 0.5) return 1;
  return static_cast<std::size_t>(std::ceil(std::log(0.5) / std::log(passes)));
}

template <class Make>
SimulationResult run_seeds(Make make, void (*workload)(SimulatedCluster&)) {
  constexpr std::size_t most = 100;
  // A sanitizer takes its time: then no further ones once the bug is found.
  constexpr std::size_t at_once = tests::sanitized ? 20 : most;
  SimulationResult result;
  for (std::size_t done = 0; done < most && result.ok(); done += at_once) {
    const SimulationResult more =
        simulate(make, workload, {.first_seed = done + 1, .seeds = at_once, .max_failures = at_once});
    EXPECT_TRUE(more.reference.empty()) << more.describe();
    result.failures = more.failures;
    result.seeds_run += more.seeds_run;
    result.seeds_failed += more.seeds_failed;
  }
  return result;
}

template <class Make>
std::string found_by(const char* name, Make make, void (*workload)(SimulatedCluster&)) {
  const SimulationResult result = run_seeds(make, workload);
  std::printf("%s: %zu of %zu seeds fail; the median effort is %zu\n", name, result.seeds_failed,
              result.seeds_run, result.ok() ? 0 : median_effort(result));
  std::string problems;
  for (const SimulationFailure& failure : result.failures) {
    for (const std::string& problem : failure.problems) problems += problem + "\n";
  }
  return problems;
}

// ---- Leadership is checked once, and the write goes through a client that does not check it.

ControllerSpec checks_once(const SimulatedProcess& process) {
  return controller_for<Store>([process](Context&, const Store& store) {
    if (!process.is_leader()) return done();
    const Client client = process.client;
    client.apply(data_map("main-data", {{"image", store.spec.image}}));
    client.apply(data_map("main-more", {{"image", store.spec.image}}));
    return done();
  });
}

TEST(SimulationPlanted, LeadershipCheckedOnce) {
  EXPECT_THAT(found_by("leadership checked once", checks_once, change_store),
              HasSubstr("wrote without leadership"));
}

// ---- A set in memory has what was done; the next leader does not have it.

ControllerSpec remembers() {
  const auto seen = std::make_shared<std::set<std::string>>();
  return controller_for<Store>([seen](Context& context, const Store& store) {
    if (!seen->insert(store.metadata.uid).second) return;
    context.patch_status(store, [&](StoreStatus& status) { status.failures = store.status.failures + 1; });
  });
}

TEST(SimulationPlanted, MemoryThatTheNextLeaderDoesNotHave) {
  EXPECT_THAT(found_by("memory of one leader", remembers, scale_up),
              HasSubstr("stores.test.evenkeel.dev default/main differs at the end"));
}

// ---- A Pod without a fixed name, which is recorded after the creation.

ControllerSpec records_later() {
  return controller_for<Store>([](Context& context, const Store& store) {
           if (!store.status.pod.empty()) return;
           Pod pod = store_pod("", store);
           pod.metadata.generate_name = "main-";
           const auto created = context.create(pod);
           context.patch_status(store, [&](StoreStatus& status) { status.pod = created->metadata.name; });
         })
      .owns<Pod>();
}

TEST(SimulationPlanted, CreatedWithoutAFixedName) {
  EXPECT_THAT(found_by("created without a fixed name", records_later, scale_up),
              HasSubstr("exists at the end, but not in the reference"));
}

// ---- The flag is set before the work.

ControllerSpec flag_first() {
  return controller_for<Store>([](Context& context, const Store& store) {
    if (store.status.initialized) return;
    context.patch_status(store, [](StoreStatus& status) { status.initialized = true; });
    context.apply(data_map("main-data", {{"ready", "yes"}}));
  });
}

TEST(SimulationPlanted, FlagSetBeforeTheWork) {
  EXPECT_THAT(found_by("flag set before the work", flag_first, scale_up),
              HasSubstr("configmaps default/main-data is missing at the end"));
}

// ---- Errors are swallowed, so that nothing is tried again.

ControllerSpec swallows() {
  return controller_for<Store>([](Context& context, const Store& store) {
    try {
      context.apply(data_map("main-data", {{"replicas", std::to_string(store.spec.replicas)}}));
    } catch (const std::exception&) {
      return;
    }
  });
}

TEST(SimulationPlanted, ErrorsAreSwallowed) {
  EXPECT_THAT(found_by("errors are swallowed", swallows, scale_up),
              HasSubstr("configmaps default/main-data"));
}

// ---- The cache of the process is not what the reconcile needs, and it says so.

ControllerSpec throws_on_surprise() {
  return controller_for<Store>([](Context& context, const Store& store) {
           if (store.status.replicas > 0 && !context.find<ConfigMap>({"default", "main-data"}))
             throw std::logic_error("the data is missing");
           context.patch_status(store, [&](StoreStatus& status) { status.replicas = store.spec.replicas; });
           context.apply(data_map("main-data", {{"image", store.spec.image}}));
         })
      .owns<ConfigMap>();
}

TEST(SimulationPlanted, ThrowsAfterACrash) {
  EXPECT_THAT(found_by("throws after a crash", throws_on_surprise, scale_up),
              HasSubstr("a reconcile threw: the data is missing"));
}

}  // namespace
}  // namespace evenkeel::testing
