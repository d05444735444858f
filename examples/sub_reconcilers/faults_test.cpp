// SPDX-License-Identifier: Apache-2.0
// The rollout with something that goes wrong at each of its writes (docs/exploring.md), and with each
// property of a Database changed and changed back (docs/operations-testing.md).
#include <gtest/gtest.h>

#include <evenkeel/testing/explore.hpp>
#include <evenkeel/testing/operations.hpp>

#include "database.hpp"

namespace {

const ek::ObjectKey orders{"default", "orders"};

Database orders_of(int processes) {
  return {.metadata = {.name = orders.name, .namespace_ = orders.namespace_},
          .spec = {.processes = processes, .version = "7.3", .paused = false},
          .status = {}};
}

void live(ek::testing::Harness& cluster) {
  cluster.create({orders_of(2)});
  cluster.settle();
  cluster.edit<Database>(orders, [](Database& database) {
    database.spec.processes = 4;
    database.spec.paused = true;
  });
  cluster.settle();
  cluster.edit<Database>(orders, [](Database& database) { database.spec.paused = false; });
  cluster.settle();
  cluster.edit<Database>(orders, [](Database& database) { database.spec.processes = 1; });
  cluster.settle();
  cluster.remove<Database>(orders);
  cluster.settle();
  cluster.create({orders_of(1)});
  cluster.settle();
}

}  // namespace

TEST(DatabaseFaults, EndAsIfNothingHadGoneWrong) {
  const auto result = ek::testing::explore(database_controller, live);
  RecordProperty("explored", result.describe());
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.plans_run, 20U) << result.describe();
}

// A database that is paused stays as it is, unlike a new one, which has nothing yet.
TEST(DatabaseOperations, FollowEachProperty) {
  const auto result =
      ek::testing::operations(database_controller, orders_of(2),
                              {.values = {{"spec.version", {.valid = {R"("7.4")"}, .wrong = {R"("")"}}}},
                               .untouched = {"spec.paused"}});
  EXPECT_TRUE(result.ok()) << result.describe();
}
