// SPDX-License-Identifier: Apache-2.0
// The operator with something that goes wrong at each of its writes (docs/exploring.md), and with each
// property of a HealthMonitor changed and changed back (docs/operations-testing.md).
#include <chrono>

#include <gtest/gtest.h>

#include <evenkeel/testing/explore.hpp>
#include <evenkeel/testing/operations.hpp>

#include "health_monitor.hpp"

using namespace std::chrono_literals;

namespace {

const ek::ObjectKey shop{"default", "shop"};

HealthMonitor monitor_of_shop() {
  return {.metadata = {.name = shop.name, .namespace_ = shop.namespace_}};
}

ek::Deployment deployment_of_shop() {
  ek::Deployment deployment{.metadata = {.name = shop.name, .namespace_ = shop.namespace_}};
  deployment.spec.selector = ek::LabelSelector{.match_labels = {{"app", shop.name}}};
  deployment.spec.template_.metadata.labels = {{"app", shop.name}};
  deployment.spec.template_.spec.containers = {{.name = "web", .image = "web:1"}};
  return deployment;
}

ek::ControllerSpec make() {
  return two_lane_controller([](ek::Context& context, const HealthMonitor&) {
    const auto deployment = context.find<ek::Deployment>(context.key());
    return deployment && deployment->status.available_replicas.value_or(0) > 0;
  });
}

void finish_rollout(ek::testing::Harness& cluster, int available) {
  const auto generation = cluster.get<ek::Deployment>(shop)->metadata.generation;
  cluster.edit_status<ek::Deployment>(shop, [&](ek::apps_v1::DeploymentStatus& status) {
    status.observed_generation = generation;
    status.replicas = status.updated_replicas = 1;
    status.available_replicas = available;
  });
}

// Each check is followed by another one, so that the operator never has nothing to do.
void live(ek::testing::Harness& cluster) {
  cluster.create({monitor_of_shop(), deployment_of_shop()});
  cluster.run_for(3s);
  finish_rollout(cluster, 1);
  cluster.run_for(3s);
  cluster.edit<ek::Deployment>(shop, [](ek::Deployment& deployment) {
    deployment.spec.template_.spec.containers.at(0).image = "web:2";
  });
  cluster.run_for(3s);
  finish_rollout(cluster, 0);
  cluster.run_for(3s);
  finish_rollout(cluster, 1);
  cluster.run_for(70s);
  cluster.remove<ek::Deployment>(shop);
  cluster.run_for(70s);
  cluster.remove<HealthMonitor>(shop);
  cluster.run_for(3s);
  cluster.create({monitor_of_shop()});
  cluster.run_for(3s);
}

}  // namespace

TEST(HealthMonitorFaults, EndAsIfNothingHadGoneWrong) {
  const auto result = ek::testing::explore(make, live, {.limit = 3min});
  RecordProperty("explored", result.describe());
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.plans_run, 10U) << result.describe();
}

TEST(HealthMonitorOperations, FollowEachProperty) {
  const auto result = ek::testing::operations(make, monitor_of_shop(), {.limit = 3min});
  EXPECT_TRUE(result.ok()) << result.describe();
}
