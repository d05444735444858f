// SPDX-License-Identifier: Apache-2.0
// The store suite on EtcdStore and the stand-in for etcd, through sockets.
#include <evenkeel/testing/etcd_server.hpp>

#include "etcd_profile.hpp"

namespace evenkeel::tests {
namespace {

std::string stand_in() {
  static const testing::EtcdServer server;
  return server.url();
}

const auto profiles = ::testing::Values(etcd_profile("StandIn", stand_in));
INSTANTIATE_TEST_SUITE_P(StandIn, StoreSuite, profiles);
INSTANTIATE_TEST_SUITE_P(StandIn, StoreSuiteConcurrency, profiles);

}  // namespace
}  // namespace evenkeel::tests
