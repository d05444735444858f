// SPDX-License-Identifier: Apache-2.0
// The operator under crashes, lost answers, refused writes, stale caches and unseen events, at every write of
// a short life. docs/exploring.md
#include <chrono>

#include <gtest/gtest.h>

#include <evenkeel/testing/explore.hpp>

#include "cache_fixture.hpp"

namespace cache_operator::tests {
namespace explore_test {

using ek::testing::Harness;

ek::ControllerSpec make() {
  return controller({.rollout_limit = std::chrono::minutes{1}, .drain_limit = std::chrono::minutes{1}});
}

// Lost answers take their time.
void settle_slowly(Harness& cluster) {
  for (int round = 0; round < 2; ++round) {
    cluster.run_for(std::chrono::seconds{15});
    play_cluster(cluster);
  }
  cluster.settle();
}

const ek::testing::ExploreOptions options{.harness = {.name = "cache-operator"}};

void live(Harness& cluster) {
  cluster.create({users("ada:engine"), memcached({.replicas = 2,
                                                  .auth = v1::Auth{.secret_name = sessions_users.name},
                                                  .flush = v1::Flush{.schedule = "0 3 * * *"}})});
  settle_slowly(cluster);
  cluster.edit<v1::Memcached>(sessions, [](v1::Memcached& one) { one.spec.replicas = 3; });
  settle_slowly(cluster);
  cluster.edit<ek::Secret>(sessions_users, [](ek::Secret& secret) { secret.data["users"] = "ada:tables"; });
  settle_slowly(cluster);
  cluster.edit<v1::Memcached>(sessions, [](v1::Memcached& one) { one.spec.flush.reset(); });
  settle_slowly(cluster);
}

void die(Harness& cluster) {
  cluster.create({memcached({.replicas = 2})});
  settle_slowly(cluster);
  cluster.remove<v1::Memcached>(sessions);
  settle_slowly(cluster);
  cluster.create({memcached({.replicas = 1})});
  settle_slowly(cluster);
}

TEST(CacheOperatorExplore, LivesThroughEveryFault) {
  const auto result = ek::testing::explore(make, live, options);
  RecordProperty("explored", result.describe());
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.plans_run, 20U) << result.describe();
}

TEST(CacheOperatorExplore, IsDeletedAndCreatedAgainThroughEveryFault) {
  const auto result = ek::testing::explore(make, die, options);
  RecordProperty("explored", result.describe());
  EXPECT_TRUE(result.ok()) << result.describe();
  EXPECT_GT(result.plans_run, 20U) << result.describe();
}

}  // namespace explore_test
}  // namespace cache_operator::tests
