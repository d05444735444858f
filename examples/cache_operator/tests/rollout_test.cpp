// SPDX-License-Identifier: Apache-2.0
// The status as a function of the StatefulSet and of the time.
#include "rollout.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "cache_fixture.hpp"

namespace cache_operator::tests {
namespace rollout_test {

using namespace std::chrono_literals;

constexpr ek::WallTime begin{1'800'000'000s};

struct Progress {
  std::int64_t generation = 1;
  std::int64_t observed = 1;
  int updated = 0;
  int ready = 0;
};

ek::StatefulSet servers(int wanted, const Progress& progress) {
  ek::StatefulSet set{.metadata = {.name = "sessions", .generation = progress.generation}};
  set.spec.replicas = wanted;
  set.status.observed_generation = progress.observed;
  set.status.replicas = wanted;
  set.status.updated_replicas = progress.updated;
  set.status.ready_replicas = progress.ready;
  return set;
}

struct Row {
  v1::MemcachedStatus status = {};

  const Row& sees(const ek::StatefulSet& set, ek::WallTime now) {
    update_status(status, memcached({.replicas = 3}), &set, {}, now, 10min);
    return *this;
  }
  std::string reason(std::string_view type) const {
    return ek::find_condition(status.conditions, type)->reason;
  }
};

TEST(CacheOperatorRollout, IsCompleteOnceEveryServerIsUpToDateAndReady) {
  Row row;
  EXPECT_EQ(row.sees(servers(3, {.updated = 3, .ready = 3}), begin).reason("Progressing"), "Complete");
  EXPECT_EQ(row.sees(servers(3, {.updated = 2, .ready = 3}), begin).reason("Progressing"), "RollingOut");
  EXPECT_EQ(row.sees(servers(3, {.updated = 3, .ready = 2}), begin).reason("Progressing"), "RollingOut");
}

TEST(CacheOperatorRollout, IsNotCompleteWhileTheLastChangeIsNotSeen) {
  Row row;
  row.sees(servers(3, {.generation = 2, .observed = 1, .updated = 3, .ready = 3}), begin);
  EXPECT_EQ(row.reason("Progressing"), "RollingOut");
}

TEST(CacheOperatorRollout, StallsAfterItsLimitAndTheNextChangeHasItsOwn) {
  Row row;
  const ek::StatefulSet slow = servers(3, {.updated = 1, .ready = 2});
  EXPECT_EQ(row.sees(slow, begin).reason("Degraded"), "AsExpected");
  EXPECT_EQ(time_left(row.status, begin + 4min, 10min), ek::Duration(6min));
  EXPECT_EQ(row.sees(slow, begin + 10min).reason("Degraded"), "RolloutStalled");
  EXPECT_FALSE(time_left(row.status, begin + 10min, 10min));
  const ek::StatefulSet changed = servers(3, {.generation = 2, .observed = 2, .updated = 1, .ready = 2});
  EXPECT_EQ(row.sees(changed, begin + 11min).reason("Degraded"), "AsExpected");
}

TEST(CacheOperatorRollout, IsAvailableWhileNoMoreServersAreAwayThanMayBe) {
  Row row;
  EXPECT_EQ(row.sees(servers(3, {.updated = 1, .ready = 2}), begin).reason("Available"), "EnoughServers");
  EXPECT_EQ(row.sees(servers(3, {.updated = 1, .ready = 1}), begin).reason("Available"), "TooFewServers");
}

TEST(CacheOperatorRollout, KeepsTheTransitionTimeOfAConditionThatStays) {
  Row row;
  row.sees(servers(3, {.updated = 1, .ready = 2}), begin);
  row.sees(servers(3, {.updated = 2, .ready = 2}), begin + 1min);
  EXPECT_EQ(ek::find_condition(row.status.conditions, "Progressing")->last_transition_time->value(), begin);
  EXPECT_EQ(ek::find_condition(row.status.conditions, "Progressing")->message,
            "2 of 3 servers are up to date");
}

}  // namespace rollout_test
}  // namespace cache_operator::tests
