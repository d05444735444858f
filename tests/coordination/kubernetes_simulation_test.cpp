// SPDX-License-Identifier: Apache-2.0
// The simulation's histories on KubernetesStore and the embedded API server; tests/real runs them on a real
// server.
#include <evenkeel/apiserver/api_server.hpp>

#include "kubernetes_replay.hpp"

namespace evenkeel::tests {
namespace {

TEST(KubernetesSimulation, HistoriesGoAsInMemory) {
  apiserver::ApiServer server;
  const Client client(server.config(), {.transport = server.transport()});
  replay_on_kubernetes(client, coordination::KubernetesObjects::by_scope, 2);
  replay_on_kubernetes(client, coordination::KubernetesObjects::one, 1);
}

TEST(KubernetesSimulation, KeepsItsInvariantsWhileScopesMove) {
  apiserver::ApiServer server;
  const Client client(server.config(), {.transport = server.transport()});
  move_scopes_on_kubernetes(client, 1);
}

}  // namespace
}  // namespace evenkeel::tests
