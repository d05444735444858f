// SPDX-License-Identifier: Apache-2.0
// A kind that a real API server does not know, or does not permit to watch, blocks only its own controller,
// is logged once, and recovers by itself.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/kinds/apiextensions.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/rbac.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/testing/environment.hpp>
#include <evenkeel/testing/log_recorder.hpp>
#include <evenkeel/testing/running_manager.hpp>

#include "../support/await.hpp"
#include "real_environment.hpp"

namespace evenkeel {

struct PumpSpec {
  int pressure = 1;
};
EVENKEEL_FIELDS(PumpSpec, pressure)

struct Pump {
  static constexpr ResourceInfo resource{
      .group = "health.evenkeel.dev", .version = "v1", .kind = "Pump", .plural = "pumps"};
  ObjectMeta metadata = {};
  PumpSpec spec = {};
};
EVENKEEL_FIELDS(Pump, metadata, spec)

namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::await;
using tests::environment;

// Two controllers, of Pumps and of ConfigMaps, that run as a given user.
class Operator {
 public:
  Operator(const Config& config, const std::string& namespace_)
      : manager_(Client(config), options(namespace_)) {
    manager_.add(controller_for<Pump>([this](Context&, const Pump&) { ++pumps; }));
    manager_.add(controller_for<ConfigMap>([this](Context&, const ConfigMap&) { ++maps; }));
    running_.emplace(manager_);
  }
  ~Operator() { running_->stop(); }

  WatchHealth health() const { return manager_.watch_health().at(0); }
  WatchHealth health_of_maps() const { return manager_.watch_health().at(1); }
  std::vector<std::string> said() const { return log_->lines_with("cannot list or watch; "); }

  std::atomic<int> pumps = 0;
  std::atomic<int> maps = 0;

 private:
  ManagerOptions options(const std::string& namespace_) const {
    ManagerOptions options{.name = "health", .log = Log(log_)};
    options.cache.namespace_ = namespace_;
    options.cache.reflector = {.backoff_base = 50ms, .backoff_max = 200ms};
    return options;
  }
  const std::shared_ptr<testing::LogRecorder> log_ = std::make_shared<testing::LogRecorder>();
  Manager manager_;
  std::optional<testing::RunningManager> running_;
};

void create_pump(const Client& client, const std::string& namespace_, const std::string& name) {
  // The server serves a new kind shortly after it reports it as established.
  await("a pump", [&] {
    try {
      client.create(Pump{.metadata = {.name = name, .namespace_ = namespace_}});
      return true;
    } catch (const ApiError& error) {
      if (!error.is_not_found()) throw;
      return false;
    }
  });
}

TEST(RealWatchHealth, AKindComesAndGoesAndComesBack) {
  const Client client(environment().config());
  const std::string team = tests::fresh_namespace(client);
  Operator one(environment().config(), team);
  await("the missing kind", [&] { return one.health().problem == WatchProblem::no_such_kind; });
  // A refused streaming list is a problem at once, and is logged when the list that follows it fails, too.
  await("the line in the log", [&] { return !one.said().empty(); });
  client.create(ConfigMap{.metadata = {.name = "a", .namespace_ = team}});
  await("the other controller", [&] { return one.maps >= 1; });
  EXPECT_EQ(one.health_of_maps().problem, WatchProblem::none);
  EXPECT_FALSE(one.health().synced);
  EXPECT_THAT(one.said(), ElementsAre(AllOf(HasSubstr("Pump"), HasSubstr("404"))));

  environment().install<Pump>();
  create_pump(client, team, "first");
  await("the first pump", [&] { return one.pumps >= 1; });
  await("health", [&] { return one.health().problem == WatchProblem::none; });

  client.remove<apiextensions_v1::CustomResourceDefinition>({"", "pumps.health.evenkeel.dev"});
  await("the kind that went away", [&] { return one.health().problem == WatchProblem::no_such_kind; });
  const int before = one.maps;
  client.create(ConfigMap{.metadata = {.name = "b", .namespace_ = team}});
  await("the other controller", [&] { return one.maps > before; });

  environment().install<Pump>();
  const int pumps = one.pumps;
  create_pump(client, team, "second");
  await("the pump of the kind that came back", [&] { return one.pumps > pumps; });
  await("health", [&] { return one.health().problem == WatchProblem::none; });
  EXPECT_TRUE(one.health().synced);
}

rbac_v1::ClusterRole role(std::vector<std::string> verbs_of_pumps) {
  return {.metadata = {.name = "health-limited"},
          .rules = {{.api_groups = {""}, .resources = {"configmaps"}, .verbs = {"get", "list", "watch"}},
                    {.api_groups = {"health.evenkeel.dev"},
                     .resources = {"pumps"},
                     .verbs = std::move(verbs_of_pumps)}}};
}

TEST(RealWatchHealth, AVerbThatIsForbiddenIsNamedUntilItIsGranted) {
  environment().install<Pump>();
  const Client client(environment().config());
  const std::string team = tests::fresh_namespace(client);
  client.apply(role({"list"}));
  client.apply(rbac_v1::ClusterRoleBinding{
      .metadata = {.name = "health-limited"},
      .role_ref = {.name = "health-limited", .api_group = "rbac.authorization.k8s.io", .kind = "ClusterRole"},
      .subjects = {{.name = "limited", .api_group = "rbac.authorization.k8s.io", .kind = "User"}}});
  Operator one(environment().config_for({.user = "limited", .groups = {}}), team);
  await("the refusal", [&] {
    return one.health().problem == WatchProblem::forbidden &&
           one.health().last_error.find("cannot watch resource \"pumps\"") != std::string::npos;
  });
  await("the other controller's list", [&] { return one.health_of_maps().synced; });
  client.create(ConfigMap{.metadata = {.name = "a", .namespace_ = team}});
  await("the other controller", [&] { return one.maps >= 1; });
  EXPECT_EQ(one.health_of_maps().problem, WatchProblem::none);
  await("the line in the log", [&] { return !one.said().empty(); });
  EXPECT_THAT(one.said(), ElementsAre(AllOf(HasSubstr("Pump"), HasSubstr("cannot watch resource"))));

  client.apply(role({"list", "watch"}));
  await("health", [&] { return one.health().problem == WatchProblem::none; });
  create_pump(client, team, "first");
  await("the first pump", [&] { return one.pumps >= 1; });
  EXPECT_TRUE(one.health().synced);
  EXPECT_EQ(one.health().last_error, "");
}

}  // namespace
}  // namespace evenkeel
