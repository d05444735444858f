// SPDX-License-Identifier: Apache-2.0
// The demo operator with something that goes wrong at each of its writes (docs/exploring.md), and with each
// property of a Demo changed and changed back (docs/operations-testing.md).
#include <gtest/gtest.h>

#include <evenkeel/testing/explore.hpp>
#include <evenkeel/testing/operations.hpp>

#include "demo.hpp"

namespace {

const ek::ObjectKey shop{"default", "shop"};

Demo shop_of(int replicas) {
  return {.metadata = {.name = shop.name, .namespace_ = shop.namespace_},
          .spec = {.replicas = replicas, .image = "shop:1"}};
}

void live(ek::testing::Harness& cluster) {
  cluster.create({shop_of(2)});
  cluster.settle();
  for (const int replicas : {3, 1}) {
    cluster.edit<Demo>(shop, [replicas](Demo& demo) { demo.spec.replicas = replicas; });
    cluster.settle();
  }
  cluster.edit<Demo>(shop, [](Demo& demo) { demo.spec.image = "shop:2"; });
  cluster.settle();
  cluster.remove<Demo>(shop);
  cluster.settle();
  cluster.create({shop_of(1)});
  cluster.settle();
}

}  // namespace

TEST(DemoFaults, EndAsIfNothingHadGoneWrong) {
  const auto result = ek::testing::explore(demo_controller, live);
  RecordProperty("explored", result.describe());
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.plans_run, 20U) << result.describe();
}

TEST(DemoOperations, FollowEachProperty) {
  const auto result = ek::testing::operations(demo_controller, shop_of(2));
  EXPECT_TRUE(result.ok()) << result.describe();
  for (const ek::testing::TouchedProperty& property : result.properties)
    EXPECT_FALSE(property.dependents.empty()) << property.path << " has no effect:\n" << result.describe();
}
