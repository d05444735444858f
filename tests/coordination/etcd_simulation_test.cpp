// SPDX-License-Identifier: Apache-2.0
// The simulation's histories on EtcdStore and the stand-in for etcd; tests/real runs them on real servers.
#include <string>

#include <evenkeel/testing/etcd_server.hpp>

#include "etcd_replay.hpp"

namespace evenkeel::tests {
namespace {

TEST(EtcdSimulation, HistoriesGoAsInMemory) {
  const testing::EtcdServer server;
  const auto transport = server.transport();
  replay_on_etcd({.transport = [transport](const std::string&) { return transport; }}, 4);
}

}  // namespace
}  // namespace evenkeel::tests
