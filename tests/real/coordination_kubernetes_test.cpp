// SPDX-License-Identifier: Apache-2.0
// The coordination store in ConfigMaps of a real API server: the suite of all stores in both forms, and the
// roles of docs/coordination-kubernetes.md.
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <variant>

#include "../coordination/kubernetes_profile.hpp"
#include "../coordination/kubernetes_reads.hpp"
#include "../coordination/kubernetes_replay.hpp"
#include "real_environment.hpp"

namespace evenkeel::tests {
namespace {

using coordination::KubernetesObjects;
using coordination::KubernetesStore;

Client connect() {
  return Client(environment().config());
}

const auto profiles = ::testing::Values(kubernetes_profile("ByScope", connect, KubernetesObjects::by_scope),
                                        kubernetes_profile("One", connect, KubernetesObjects::one));
INSTANTIATE_TEST_SUITE_P(Real, StoreSuite, profiles);
INSTANTIATE_TEST_SUITE_P(Real, StoreSuiteConcurrency, profiles);

/// Returns the block of YAML in the documentation.
std::string documented_roles() {
  std::ifstream file(EVENKEEL_ROLES);
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  const std::string fence = "```yaml\n";
  const auto begin = page.find(fence);
  if (begin == std::string::npos) throw std::runtime_error("no YAML in " EVENKEEL_ROLES);
  return page.substr(begin + fence.size(), page.find("```", begin + fence.size()) - begin - fence.size());
}

// The number of bytes that a snapshot transfers.
TEST(RealCoordinationReads, AreOfWhatHasChanged) {
  expect_reads_of_what_changed(environment().config(), 20);
}

// 'own scope': the API server prevents writes below another instance's scope.
TEST(RealCoordinationRoles, AllowTheOwnScopeAndTheArbiter) {
  environment().install(R"(
apiVersion: v1
kind: Namespace
metadata: {name: hub}
)");
  environment().install(documented_roles());
  environment().install(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: db1-dc1, namespace: hub}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: db1-dc1}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: dc1}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: db1-scope-dc2, namespace: hub, labels: {evenkeel.dev/coordination: db1}}
)");
  KubernetesStore store(Client(environment().config_for({.user = "dc1", .groups = {}})),
                        {.namespace_ = "hub", .name = "db1", .root = "/db1"});
  const auto put = [&store](const std::string& key) {
    return describe(store.commit({.puts = {{key, "1"}}}));
  };
  EXPECT_TRUE(put("/db1/pendingForRestart/dc1/dc1-log-1").starts_with("committed"));
  EXPECT_TRUE(put("/db1/arbiter/lock").starts_with("committed"));
  EXPECT_TRUE(put("/db1/arbiter/lock").starts_with("committed"));
  for (const char* foreign :
       {"/db1/pendingForRestart/dc2/dc2-log-1", "/db1/pendingForRestart/dc3/dc3-log-1"}) {
    const std::string refused = put(foreign);
    EXPECT_TRUE(refused.starts_with("unavailable: ")) << refused;
    EXPECT_NE(refused.find("403"), std::string::npos) << refused;
  }
  EXPECT_EQ(store.snapshot()->scan_all(coordination::prefix_range("/db1/")).size(), 2u);
}

// A restart of the server during writes: each transaction is applied once.
TEST(RealCoordinationKubernetes, OutlivesARestartOfTheServer) {
  KubernetesStore store(connect(), {.namespace_ = "default", .name = "restart", .root = "/db"});
  const auto write = [&store](int value) {
    return store.commit({.puts = {{"/db/tokens/dc1", std::to_string(value)}}});
  };
  ASSERT_TRUE(std::holds_alternative<coordination::Committed>(write(1)));
  environment().kill(testing::Component::api_server);
  EXPECT_TRUE(std::holds_alternative<coordination::Unavailable>(write(2)));
  EXPECT_THROW(store.snapshot(), coordination::StoreUnavailable);
  environment().start(testing::Component::api_server);
  EXPECT_EQ(store.snapshot()->get("/db/tokens/dc1")->value, "1");
  EXPECT_TRUE(std::holds_alternative<coordination::Committed>(write(3)));
}

TEST(RealCoordinationKubernetes, HistoriesGoAsInMemory) {
  replay_on_kubernetes(connect(), KubernetesObjects::by_scope, 1);
  replay_on_kubernetes(connect(), KubernetesObjects::one, 1);
}

}  // namespace
}  // namespace evenkeel::tests
