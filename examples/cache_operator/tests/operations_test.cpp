// SPDX-License-Identifier: Apache-2.0
// The operator under valid and wrong changes of every property of a Memcached. docs/operations-testing.md
#include <chrono>

#include <gtest/gtest.h>

#include <evenkeel/testing/operations.hpp>

#include "cache_fixture.hpp"

namespace cache_operator::tests {
namespace operations_test {

// The cluster moves when the operator has waited for ten minutes: that is no stalled rollout yet.
ek::ControllerSpec make() {
  return controller({.rollout_limit = std::chrono::hours{1}});
}

ek::apiserver::World world_with_users() {
  ek::testing::Harness cluster;
  cluster.create({users("ada:engine"), users("bob:builder", "others")});
  return cluster.snapshot();
}

TEST(CacheOperatorOperations, TakesEveryValidChangeAndRefusesOrReportsTheOthers) {
  const auto typical = memcached({.replicas = 2,
                                  .auth = v1::Auth{.secret_name = sessions_users.name},
                                  .flush = v1::Flush{.schedule = "0 3 * * *"}});
  // "missing" is accepted, as a Secret may come later, and is then reported.
  const auto result = ek::testing::operations(
      make, typical,
      {.harness = {.name = "cache-operator",
                   .world = world_with_users(),
                   .webhooks = {memcached_webhook({})}},
       .environment = [](ek::testing::Harness& cluster) { play_cluster(cluster); },
       .values = {{"spec.auth.secretName", {.valid = {R"("others")", R"("missing")"}}}}});
  EXPECT_TRUE(result.ok()) << result.describe();
  for (const ek::testing::TouchedProperty& property : result.properties)
    EXPECT_GT(property.effective + property.refused, 0U) << property.path;
}

TEST(CacheOperatorOperations, EveryPropertyReachesTheServers) {
  const auto result =
      ek::testing::operations(make, memcached({.replicas = 2}),
                              {.harness = {.name = "cache-operator", .webhooks = {memcached_webhook({})}},
                               .environment = [](ek::testing::Harness& cluster) { play_cluster(cluster); },
                               .values = {{"spec.flush", {.valid = {R"({"schedule": "0 3 * * *"})"}}}},
                               .untouched = {"spec.auth", "spec.port"}});
  EXPECT_TRUE(result.ok()) << result.describe();
  for (const ek::testing::TouchedProperty& property : result.properties)
    EXPECT_FALSE(property.dependents.empty()) << property.path << " has no effect:\n" << result.describe();
}

}  // namespace operations_test
}  // namespace cache_operator::tests
