// SPDX-License-Identifier: Apache-2.0
// Managers use the rights that --print-manifests gives them for elections, shards and webhooks, and no
// others.
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/access_recorder.hpp>
#include <evenkeel/webhook/webhook.hpp>

#include "../support/await.hpp"
#include "../support/rules_of_role.hpp"
#include "printed.hpp"
#include "world.hpp"

namespace evenkeel {
namespace own_rights_tests {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string name = "test-operator";
const std::string space = "test-operator-system";
const std::string roles = "/apis/rbac.authorization.k8s.io/v1/";

class OwnRightsConcurrency : public ::testing::Test {
 protected:
  // Applies what the program prints.
  void apply(const std::vector<std::string>& args, const std::function<void(Manager&)>& setup) const {
    RunOptions options;
    options.name = name;
    const Printed printed = run_to_print(args, options, setup);
    ASSERT_EQ(printed.code, 0) << printed.err;
    world.core->install(printed.out);
  }
  std::vector<PolicyRule> own_rules() const {
    return tests::rules_of_role(world.get(roles + "namespaces/" + space + "/roles/" + name + "-runtime"));
  }
  std::vector<PolicyRule> cluster_rules() const {
    return tests::rules_of_role(world.get(roles + "clusterroles/" + name));
  }
  // Differences between the rules and what the manager did on its own account.
  std::vector<std::string> differences(const std::vector<PolicyRule>& rules) const {
    return compare_rights(rules, recorder->record().accesses());
  }
  Client recorded() const {
    return Client({.server = "http://in-process", .namespace_ = space},
                  {.transport = std::make_shared<apiserver::InProcessTransport>(world.core),
                   .log = world.log(),
                   .access_recorder = recorder});
  }
  ManagerOptions options() const {
    ManagerOptions options = world.options();
    options.own_client = recorded();
    options.election_client = recorded();
    options.lifecycle.shutdown_delay = Duration::zero();  // the API server calls no webhook
    return options;
  }

  World world;
  const std::shared_ptr<AccessRecorder> recorder = std::make_shared<AccessRecorder>();
};

void reconciles_gadgets(Manager& manager) {
  manager.add(controller_for<Gadget>([](Context&, const Gadget&) {}));
}

TEST_F(OwnRightsConcurrency, OfAnElectionAreUsed) {
  apply({"--print-manifests"}, reconciles_gadgets);
  ManagerOptions chosen = options();
  chosen.election = ElectionOptions{.namespace_ = space, .retry_period = std::chrono::milliseconds{100}};
  Manager leader(world.client(), chosen);
  reconciles_gadgets(leader);
  Running first(leader);
  world.wait_until([&] { return leader.is_leader(); });
  Manager candidate(world.client(), chosen);
  reconciles_gadgets(candidate);
  Running second(candidate);
  // The candidate watches the Lease, the leader renews it.
  world.wait_until([&] { return differences(own_rules()).empty(); });
  second.stop();
  first.stop();
  EXPECT_THAT(differences(own_rules()), IsEmpty());
}

TEST_F(OwnRightsConcurrency, OfShardsAreUsed) {
  apply({"--print-manifests", "--shards"}, reconciles_gadgets);
  ManagerOptions chosen = options();
  chosen.shards = ShardOptions{.namespace_ = space, .slots = 4};
  Manager manager(world.client(), chosen);
  reconciles_gadgets(manager);
  Running running(manager);
  world.wait_until([&] { return manager.shards()->status().owned == 4; });
  // It is used for the Leases of replicas that are gone.
  const auto wanted = ElementsAre("not used: delete of leases.coordination.k8s.io");
  // The first list of the Leases suffices to own the slots; their watch begins after it.
  tests::await("the watch of Leases", [&] { return ::testing::Matches(wanted)(differences(own_rules())); });
  running.stop();
  EXPECT_THAT(differences(own_rules()), wanted);
}

TEST_F(OwnRightsConcurrency, OfWebhooksAreUsed) {
  const auto setup = [](Manager& manager) {
    reconciles_gadgets(manager);
    manager.add(
        webhook_for<Gadget>().validates([](const Validation<Gadget>&) { return ValidationResult(); }));
  };
  apply({"--print-manifests", "--leader-elect=false"}, setup);
  Manager manager(world.client(), options());
  setup(manager);
  manager.serve_webhooks({.address = "127.0.0.1:0", .service = {.namespace_ = space}});
  Running running(manager);
  world.wait_for_line("injected the authorities of the webhooks");
  running.stop();
  std::vector<PolicyRule> rules = own_rules();
  for (const PolicyRule& rule : cluster_rules()) {
    if (rule.groups[0] == "admissionregistration.k8s.io") rules.push_back(rule);
  }
  // It is used when the certificates are rotated.
  EXPECT_THAT(differences(rules),
              ElementsAre("not used: update of secrets \"test-operator-webhook-certificates\""));
}

}  // namespace own_rights_tests
}  // namespace evenkeel
