// SPDX-License-Identifier: Apache-2.0
// The roles that --print-manifests prints: enough for everything that the operator does, and no more.
#include <chrono>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/policy_rule.hpp>

#include "cache_fixture.hpp"

namespace cache_operator::tests {
namespace rights_test {

TEST(CacheOperatorRights, AreExactlyWhatItDoes) {
  ek::testing::Harness cluster =
      settled({users("ada:engine"), memcached({.auth = v1::Auth{.secret_name = sessions_users.name},
                                               .flush = v1::Flush{.schedule = "0 3 * * *"}})});
  cluster.edit<v1::Memcached>(sessions, [](v1::Memcached& one) { one.spec.flush.reset(); });
  settle(cluster);
  cluster.remove<v1::Memcached>(sessions);
  cluster.settle();

  const std::vector<ek::PolicyRule> rules = ek::printed_rules({controller()}, memcached_rules());
  EXPECT_THAT(ek::compare_rights(rules, cluster.accesses().accesses()),
              ::testing::UnorderedElementsAre(
                  // After a conflict or a lost answer.
                  "not used: get of memcacheds.cache.evenkeel.dev",
                  // Where OwnerReferencesPermissionEnforcement is on.
                  "not used: update of memcacheds.cache.evenkeel.dev/finalizers",
                  // For repetitions of an Event.
                  "not used: patch of events.events.k8s.io"))
      << cluster.str();
}

}  // namespace rights_test
}  // namespace cache_operator::tests
