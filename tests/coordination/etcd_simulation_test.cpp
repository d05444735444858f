// SPDX-License-Identifier: Apache-2.0
// The simulation's histories on EtcdStore and the stand-in for etcd; tests/real runs them on real servers.
#include <memory>
#include <string>

#include <evenkeel/coordination/etcd_store.hpp>
#include <evenkeel/testing/etcd_server.hpp>

#include "history_replay.hpp"

namespace evenkeel::tests {
namespace {

TEST(EtcdSimulation, HistoriesGoAsInMemory) {
  const testing::EtcdServer server;
  const auto transport = server.transport();
  const coordination::EtcdStoreOptions options{
      .transport = [transport](const std::string&) { return transport; }};
  replay_histories([&](const std::string&) { return std::make_shared<coordination::EtcdStore>(options); }, 4);
}

}  // namespace
}  // namespace evenkeel::tests
