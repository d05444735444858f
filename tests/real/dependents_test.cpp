// SPDX-License-Identifier: Apache-2.0
// Graphs of dependents with a real API server and its garbage collector, and the same with the embedded one.
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/client/wait.hpp>
#include <evenkeel/controller/dependents.hpp>
#include <evenkeel/controller/readiness.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/testing/log_recorder.hpp>
#include <evenkeel/testing/object.hpp>
#include <evenkeel/testing/running_manager.hpp>

#include "../support/await.hpp"
#include "real_environment.hpp"

namespace evenkeel {

struct YardSpec {
  std::string text = "one";
  std::vector<std::string> off = {};
};
EVENKEEL_FIELDS(YardSpec, text, off)

struct YardStatus {
  std::vector<Condition> conditions = {};
};
EVENKEEL_FIELDS(YardStatus, (conditions, list_map("type")))

struct Yard {
  static constexpr ResourceInfo resource{
      .group = "dependents.evenkeel.dev", .version = "v1", .kind = "Yard", .plural = "yards"};
  ObjectMeta metadata = {};
  YardSpec spec = {};
  YardStatus status = {};
};
EVENKEEL_FIELDS(Yard, metadata, spec, status)

namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using tests::await;

constexpr const char* crane_definition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.dependents.evenkeel.dev}
spec:
  group: dependents.evenkeel.dev
  scope: Namespaced
  names: {plural: PLURAL, singular: SINGULAR, kind: KIND}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              text: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: it is immutable}]}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
)";

/// The kind of one test, so that tests do not depend on one another.
ResourceId crane_kind(const std::string& name) {
  return {"dependents.evenkeel.dev", "v1", "Crane" + name, "crane" + name + "s"};
}

std::string definition_of(const ResourceId& kind) {
  std::string text = crane_definition;
  const std::string singular = kind.plural.substr(0, kind.plural.size() - 1);
  for (const auto& [word, value] : std::map<std::string, std::string>{
           {"PLURAL", kind.plural}, {"SINGULAR", singular}, {"KIND", kind.kind}}) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + value.size()))
      text.replace(at, word.size(), value);
  }
  return text;
}

bool is_off(const Yard& yard, const std::string& part) {
  for (const std::string& one : yard.spec.off) {
    if (one == part) return true;
  }
  return false;
}

auto wanted(const std::string& part) {
  return [part](const Yard& yard) { return !is_off(yard, part); };
}

/// base <- crane <- last; `base` is immutable, and recreated if its text changes.
Dependents<Yard> graph_with(const ResourceId& crane, bool only_if_served = false) {
  const auto base = [](const Yard& yard) {
    return ConfigMap{.metadata = {.name = "base"}, .data = {{"text", yard.spec.text}}, .immutable = true};
  };
  const auto make_crane = [crane](const Yard& yard) {
    DynamicObject object(crane, "", "crane");
    object["spec"]["text"] = yard.spec.text;
    return object;
  };
  const auto last = [](const Yard&) { return Secret{.metadata = {.name = "last"}}; };
  return dependents<Yard>()
      .add<ConfigMap>("base", base, {.when = wanted("base"), .recreate_immutable = true})
      .add(crane, "crane", make_crane,
           {.after = {"base"},
            .when = wanted("crane"),
            .ready = has_condition("Ready"),
            .recreate_immutable = true,
            .only_if_served = only_if_served})
      .add<Secret>("last", last, {.after = {"crane"}});
}

class RealDependents : public ::testing::TestWithParam<const char*> {
 protected:
  static Config config() {
    if (std::string_view(GetParam()) == "real") return tests::environment().config();
    static apiserver::ApiServer server;
    return server.config();
  }
  void start(const Dependents<Yard>& graph) {
    ManagerOptions options{.name = "yards", .log = Log(log)};
    options.cache.namespace_ = web.namespace_;
    manager = std::make_unique<Manager>(Client(config()), std::move(options));
    controller = &manager->add(controller_for(graph));
    running = std::make_unique<testing::RunningManager>(*manager);
    running->wait_until_synced();
  }
  void stop() {
    running->stop();
    running.reset();
    manager.reset();
  }
  void create_yard() {
    testing::create_objects(client, {Yard{.metadata = {.name = "web", .namespace_ = web.namespace_}}});
  }
  /// Waits for the condition "Ready" of the present generation: "reason: message".
  void wait_for(const std::string& story) {
    const auto is_told = [&](const Snapshot<Yard>& yard) {
      const Condition* const ready = yard ? find_condition(yard->status.conditions, "Ready") : nullptr;
      return ready != nullptr && ready->observed_generation == yard->metadata.generation &&
             ready->reason + ": " + ready->message == story;
    };
    wait_until<Yard>(client, web, is_told, {});
  }
  void wait_for_the_end_of(const std::string& what, const std::function<bool()>& exists) {
    await("the end of " + what, [&] { return !exists(); });
  }
  void edit(const std::function<void(YardSpec&)>& change) {
    client.patch(client.get<Yard>(web), [&](Yard& yard) { change(yard.spec); });
  }
  void make_ready(const ResourceId& crane) {
    const ResourceClient cranes = client.resource(crane);
    cranes.patch(
        cranes.get(key("crane")),
        [](DynamicObject& object) {
          object["status"] = Json::parse(R"({"conditions": [{"type": "Ready", "status": "True"}]})");
        },
        "status");
  }
  ObjectKey key(const std::string& name) const { return {web.namespace_, name}; }
  template <class T>
  bool exists(const std::string& name) const {
    return static_cast<bool>(client.find<T>(key(name)));
  }
  std::vector<std::string> versions(const ResourceId& crane) const {
    return {client.get<Yard>(web)->metadata.resource_version,
            client.get<ConfigMap>(key("base"))->metadata.resource_version,
            client.get<Secret>(key("last"))->metadata.resource_version,
            std::string(client.resource(crane).get(key("crane"))->resource_version())};
  }

  const Client client{config()};
  const ObjectKey web{tests::fresh_namespace(client), "web"};
  const std::shared_ptr<testing::LogRecorder> log = std::make_shared<testing::LogRecorder>();
  std::unique_ptr<Manager> manager;
  Controller* controller = nullptr;
  std::unique_ptr<testing::RunningManager> running;  // ends first
};

TEST_P(RealDependents, AreMadeInOrderSwitchedOffAndRecreated) {
  const ResourceId crane = crane_kind("a");
  testing::create_objects(client, {definition_of(crane)});
  create_yard();
  start(graph_with(crane));
  wait_for("NotReady: crane: Cranea " + key("crane").str() + ": it has no condition Ready");
  EXPECT_TRUE(exists<ConfigMap>("base"));
  EXPECT_FALSE(exists<Secret>("last"));
  make_ready(crane);
  wait_for("Ready: all dependents are ready");
  EXPECT_TRUE(exists<Secret>("last"));

  const std::string base = client.get<ConfigMap>(key("base"))->metadata.uid;
  const std::string uid(client.resource(crane).get(key("crane"))->uid());
  edit([](YardSpec& spec) { spec.text = "two"; });
  wait_for("NotReady: crane: Cranea " + key("crane").str() + ": it has no condition Ready");
  EXPECT_EQ(client.get<ConfigMap>(key("base"))->data.at("text"), "two");
  EXPECT_NE(client.get<ConfigMap>(key("base"))->metadata.uid, base) << "both kinds refuse the change";
  EXPECT_NE(client.resource(crane).get(key("crane"))->uid(), uid);
  EXPECT_TRUE(exists<Secret>("last")) << "it waits, and stays";
  make_ready(crane);
  wait_for("Ready: all dependents are ready");

  edit([](YardSpec& spec) { spec.off = {"crane"}; });
  wait_for("Ready: all dependents are ready");
  EXPECT_FALSE(exists<Secret>("last"));
  EXPECT_FALSE(client.resource(crane).find(key("crane")));
  EXPECT_TRUE(exists<ConfigMap>("base"));
  edit([](YardSpec& spec) { spec.off = {}; });
  wait_for("NotReady: crane: Cranea " + key("crane").str() + ": it has no condition Ready");
  make_ready(crane);
  wait_for("Ready: all dependents are ready");

  client.remove<Yard>(web, {.propagation = Propagation::background});
  wait_for_the_end_of("the dependents", [&] {
    return exists<ConfigMap>("base") || exists<Secret>("last") || client.resource(crane).find(key("crane"));
  });
  stop();
}

TEST_P(RealDependents, AreNotWrittenOnceTheyAreSettled) {
  const ResourceId crane = crane_kind("b");
  testing::create_objects(client, {definition_of(crane)});
  create_yard();
  start(graph_with(crane));
  wait_for("NotReady: crane: Craneb " + key("crane").str() + ": it has no condition Ready");
  make_ready(crane);
  wait_for("Ready: all dependents are ready");
  const std::vector<std::string> before = versions(crane);
  for (int run = 0; run < 3; ++run) {
    const std::uint64_t ended = controller->counts().success;
    controller->enqueue(web);
    await("a run", [&] { return controller->counts().success > ended; });
  }
  EXPECT_EQ(versions(crane), before);
  stop();
  start(graph_with(crane));
  await("a run of the next process", [&] { return controller->counts().success > 0; });
  EXPECT_EQ(versions(crane), before);
  stop();
}

TEST_P(RealDependents, RefuseForeignObjectsOfBothForms) {
  const ResourceId crane = crane_kind("c");
  testing::create_objects(client, {definition_of(crane)});
  DynamicObject foreign(crane, web.namespace_, "crane");
  foreign["spec"]["text"] = "mine";
  client.resource(crane).create(foreign);
  create_yard();
  start(graph_with(crane));
  wait_for("Failed: crane: apply Cranec " + key("crane").str() +
           ": Yard web cannot control it: it exists and has no controller");
  EXPECT_EQ((*client.resource(crane).get(key("crane")))["spec"]["text"], Json("mine"));
  client.resource(crane).remove(key("crane"));
  wait_for("NotReady: crane: Cranec " + key("crane").str() + ": it has no condition Ready");
  client.create(Secret{.metadata = {.name = "last", .namespace_ = web.namespace_}});
  make_ready(crane);
  wait_for("Failed: last: apply Secret " + key("last").str() +
           ": Yard web cannot control it: it exists and has no controller");
  stop();
}

TEST_P(RealDependents, AreActivatedByADefinitionThatIsInstalledLater) {
  const ResourceId crane = crane_kind("d");
  create_yard();
  start(graph_with(crane, true));
  wait_for("Ready: all dependents are ready; not served: crane");
  EXPECT_TRUE(exists<ConfigMap>("base"));
  EXPECT_FALSE(exists<Secret>("last"));
  testing::create_objects(client, {definition_of(crane)});
  wait_for("NotReady: crane: Craned " + key("crane").str() + ": it has no condition Ready");
  make_ready(crane);  // an event of the watch that has begun
  wait_for("Ready: all dependents are ready");
  EXPECT_TRUE(exists<Secret>("last"));
  const ResourceId definitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                               "customresourcedefinitions", Scope::cluster};
  client.resource(definitions).remove({"", crane.plural + "." + crane.group});
  wait_for("Ready: all dependents are ready; not served: crane");
  wait_for_the_end_of("what comes after it", [&] { return exists<Secret>("last"); });
  stop();
}

TEST_P(RealDependents, OfARequiredKindFailUntilItIsServed) {
  const ResourceId crane = crane_kind("e");
  create_yard();
  start(graph_with(crane));
  wait_for("Failed: crane: the server does not serve Cranee (dependents.evenkeel.dev/v1)");
  EXPECT_TRUE(exists<ConfigMap>("base"));
  testing::create_objects(client, {definition_of(crane)});
  wait_for("NotReady: crane: Cranee " + key("crane").str() + ": it has no condition Ready");
  stop();
}

INSTANTIATE_TEST_SUITE_P(On, RealDependents, ::testing::Values("real", "embedded"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace evenkeel
