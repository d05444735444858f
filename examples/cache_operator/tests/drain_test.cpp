// SPDX-License-Identifier: Apache-2.0
// Deletion: the servers stop before the Memcached goes, or the time limit passes.
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cache_fixture.hpp"

namespace cache_operator::tests {
namespace drain_test {

using namespace std::chrono_literals;
using ek::testing::Harness;
using ::testing::Contains;
using ::testing::Not;

TEST(CacheOperatorDrain, WaitsForTheServersToStop) {
  Harness cluster = settled({memcached({.replicas = 3})});
  cluster.remove<v1::Memcached>(sessions);
  cluster.run_for(30s);
  ASSERT_TRUE(cluster.find<v1::Memcached>(sessions)) << cluster.str();
  EXPECT_EQ(cluster.get<ek::StatefulSet>(sessions)->spec.replicas, 0);
  EXPECT_EQ(cluster.last().outcome.message, "3 servers run");

  play_cluster(cluster);
  cluster.run_for(1s);
  EXPECT_FALSE(cluster.find<v1::Memcached>(sessions)) << cluster.str();
  EXPECT_FALSE(cluster.find<ek::StatefulSet>(sessions)) << "the garbage collector takes what it owned";
  EXPECT_FALSE(cluster.find<ek::ConfigMap>(sessions_config));
  EXPECT_THAT(reasons_of_events(cluster), Contains("Draining"));
  EXPECT_THAT(reasons_of_events(cluster), Not(Contains("DrainTimedOut")));
}

TEST(CacheOperatorDrain, EndsAfterItsTimeLimit) {
  Harness cluster = settled({memcached({.replicas = 3})});
  cluster.remove<v1::Memcached>(sessions);
  cluster.run_for(119s);
  EXPECT_TRUE(cluster.find<v1::Memcached>(sessions)) << cluster.str();
  cluster.run_for(2s);
  EXPECT_FALSE(cluster.find<v1::Memcached>(sessions)) << cluster.str();
  EXPECT_THAT(reasons_of_events(cluster), Contains("DrainTimedOut"));
}

TEST(CacheOperatorDrain, IsOverAtOnceWithoutServers) {
  Harness cluster = settled({memcached({.auth = v1::Auth{.secret_name = "missing"}})});
  cluster.remove<v1::Memcached>(sessions);
  cluster.run_for(1s);
  EXPECT_FALSE(cluster.find<v1::Memcached>(sessions)) << cluster.str();
}

TEST(CacheOperatorDrain, GoesOnAfterACrash) {
  Harness cluster = settled({memcached({.replicas = 3})});
  cluster.remove<v1::Memcached>(sessions);
  cluster.run_for(30s);
  cluster.restart();
  cluster.run_for(80s);
  EXPECT_TRUE(cluster.find<v1::Memcached>(sessions)) << cluster.str();
  cluster.run_for(11s);
  EXPECT_FALSE(cluster.find<v1::Memcached>(sessions)) << "the limit counts from the deletion";
}

}  // namespace drain_test
}  // namespace cache_operator::tests
