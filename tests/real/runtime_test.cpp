// SPDX-License-Identifier: Apache-2.0
// The parts of controllers with a real API server: steps and helpers, keys from a channel, watches added at
// run time, resyncs, and the operator's metrics and explanations.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/client/wait.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/controller/helpers.hpp>
#include <evenkeel/controller/pipeline.hpp>
#include <evenkeel/controller/source.hpp>
#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/manager/endpoint.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/testing/environment.hpp>
#include <evenkeel/testing/log_recorder.hpp>
#include <evenkeel/testing/object.hpp>
#include <evenkeel/testing/running_manager.hpp>

#include "../support/await.hpp"
#include "real_environment.hpp"

namespace evenkeel {

struct RigSpec {
  int size = 1;
};
EVENKEEL_FIELDS(RigSpec, size)

struct RigStatus {
  std::vector<Condition> conditions = {};
};
EVENKEEL_FIELDS(RigStatus, conditions)

struct Rig {
  static constexpr ResourceInfo resource{
      .group = "runtime.evenkeel.dev", .version = "v1", .kind = "Rig", .plural = "rigs"};
  ObjectMeta metadata = {};
  RigSpec spec = {};
  RigStatus status = {};
};
EVENKEEL_FIELDS(Rig, metadata, spec, status)

namespace {

using namespace std::chrono_literals;
using test::await;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using tests::environment;

class RealRuntime : public ::testing::Test {
 protected:
  RealRuntime() {
    testing::create_objects(client, {Rig{.metadata = {.name = "web", .namespace_ = web.namespace_}}});
    make(options());
  }
  void make(ManagerOptions options) {
    manager = std::make_unique<Manager>(Client(environment().config()), std::move(options));
  }

  Pipeline<Rig> steps() {
    Pipeline<Rig> steps;
    steps.step("count", [this](Context&, const Rig&) { ++runs; });
    steps.step("config", [](Context& context, const Rig& rig) {
      create_or_update<ConfigMap>(context, context.key(), [&](ConfigMap& config) {
        config.data["size"] = std::to_string(rig.spec.size);
        set_controller_reference(rig, config.metadata);
      });
    });
    steps.step("status", [](Context& context, const Rig& rig) {
      set_condition(context, rig, {.type = "Ready", .status = "True", .reason = "Sized"});
    });
    return steps;
  }
  ManagerOptions options() const {
    ManagerOptions options{.name = "rigs", .log = Log(log)};
    options.cache.namespace_ = web.namespace_;
    return options;
  }
  Controller& start(ControllerSpec spec) {
    Controller& controller = manager->add(std::move(spec));
    running = std::make_unique<testing::RunningManager>(*manager);
    running->wait_until_synced();
    return controller;
  }
  /// Waits until no work is left.
  void settle() {
    wait_until<Rig>(client, web,
                    [](const Snapshot<Rig>& rig) {
                      const Condition* ready =
                          rig ? find_condition(rig->status.conditions, "Ready") : nullptr;
                      return ready != nullptr && ready->observed_generation == rig->metadata.generation;
                    },
                    {});
    await("the config map", [this] {
      const auto config = client.find<ConfigMap>(web);
      return config && config->data.at("size") == std::to_string(client.get<Rig>(web)->spec.size);
    });
  }
  http::Response get(const std::string& what, const std::string& target) const {
    const std::string line = log->wait_for("serving what=" + what + " ").back();
    const std::string url = line.substr(line.find("url=") + 4);
    return http::make_curl_transport({.server = url, .proxy = ""})->fetch({.target = target});
  }

  const Client client{environment().config()};
  const ObjectKey web{tests::fresh_namespace(client), "web"};
  const std::shared_ptr<testing::LogRecorder> log = std::make_shared<testing::LogRecorder>();
  std::atomic<int> runs = 0;
  std::unique_ptr<Manager> manager;
  std::unique_ptr<testing::RunningManager> running;  // ends first
};

TEST_F(RealRuntime, StepsMakeAnOwnedObjectAndAConditionAndKeepThem) {
  start(controller_for<Rig>(steps()).owns<ConfigMap>());
  settle();
  const auto config = client.get<ConfigMap>(web);
  EXPECT_EQ(controller_of(config->metadata)->uid, client.get<Rig>(web)->metadata.uid);
  const auto since = find_condition(client.get<Rig>(web)->status.conditions, "Ready")->last_transition_time;
  client.patch(client.get<Rig>(web), [](Rig& rig) { rig.spec.size = 5; });
  settle();
  EXPECT_EQ(find_condition(client.get<Rig>(web)->status.conditions, "Ready")->last_transition_time, since);
  client.remove<ConfigMap>(web);
  settle();
  EXPECT_NE(client.get<ConfigMap>(web)->metadata.uid, config->metadata.uid);
}

TEST_F(RealRuntime, KeysComeFromAChannelAndFromAWatchThatIsAddedLater) {
  KeyChannel calls;
  Controller& controller = start(controller_for<Rig>(steps()).source("calls", calls));
  settle();
  int before = runs;
  calls.push(web);
  await("a run for the channel's key", [&] { return runs > before; });
  controller.watch(watch_mapped<Secret>([this](const Secret&) { return web; }));
  before = runs;
  client.create(Secret{.metadata = {.name = "key", .namespace_ = web.namespace_}});
  await("a run for the secret", [&] { return runs > before; });
}

TEST_F(RealRuntime, ResyncsTellAgainWhatDidNotChange) {
  ManagerOptions often = options();
  often.cache.resync = 200ms;
  make(std::move(often));
  start(controller_for<Rig>(steps(), {.when = [](const ObjectEvent& event) { return event.resync; }}));
  await("three resyncs", [&] { return runs >= 3; });
}

TEST_F(RealRuntime, SaysOverHttpHowItIs) {
  manager->serve(
      {.metrics_address = "127.0.0.1:0", .probe_address = "localhost:0", .explanations = Explanations::on});
  start(controller_for<Rig>(steps()).owns<ConfigMap>());
  settle();
  await("a counted run", [this] {
    return get("metrics", "/metrics")
               .body.find(R"(controller_runtime_reconcile_total{controller="rig",result="success"} 0)") ==
           std::string::npos;
  });
  EXPECT_EQ(get("probes", "/readyz").body, "ok");
  EXPECT_EQ(get("probes", "/healthz").body, "ok");
  EXPECT_THAT(get("metrics", "/metrics").body,
              HasSubstr(R"(rest_client_requests_total{code="201",method="POST")"));
  const http::Response why = get("metrics", "/debug/explain/rig/" + web.namespace_ + "/web");
  EXPECT_EQ(why.status, 200);
  EXPECT_THAT(why.body, StartsWith("rig " + web.namespace_ + "/web: "));
}

}  // namespace
}  // namespace evenkeel
