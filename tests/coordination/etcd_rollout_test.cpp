// SPDX-License-Identifier: Apache-2.0
// The cost of a rollout on the stand-in for etcd, with a thread for each instance.
// EVENKEEL_COORDINATION_LARGE adds 50 x 200.
#include "etcd_rollout.hpp"

#include <cstdlib>

#include <evenkeel/testing/etcd_server.hpp>

namespace evenkeel::tests {
namespace {

TEST(EtcdRolloutConcurrency, CostsNoMoreThanInstancesTimesUnits) {
  const testing::EtcdServer server;
  expect_modest_growth(server.url(), std::getenv("EVENKEEL_COORDINATION_LARGE") != nullptr);
}

}  // namespace
}  // namespace evenkeel::tests
