// SPDX-License-Identifier: Apache-2.0
// The parts of controllers with a real API server: steps and helpers, keys from a channel, watches added at
// run time, resyncs, and the operator's metrics and explanations.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
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
#include <evenkeel/ratelimit/exponential.hpp>
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
  std::optional<std::string> note = {};
  std::optional<int> round = {};
};
EVENKEEL_FIELDS(RigStatus, conditions, note, round)

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
using ::testing::HasSubstr;
using ::testing::StartsWith;
using tests::await;
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

// The retry is an hour away: runs come from events. What somebody else writes to the status ends each round,
// so that the events of the own writes of the round have certainly been seen.
TEST_F(RealRuntime, OwnWritesLeaveAFailingObjectInBackOffAndThoseOfAnybodyElseRunIt) {
  const Client captured(environment().config());
  manager = std::make_unique<Manager>(captured, options());
  using Write = std::function<void(Context&, const Rig&, const std::string&)>;
  const auto ready = [](const std::string& reason) {
    return Condition{
        .type = "Ready", .status = "False", .last_transition_time = Time{}, .reason = reason, .message = ""};
  };
  const std::vector<std::pair<std::string, Write>> writes = {
      {"nothing", [](Context&, const Rig&, const std::string&) {}},
      {"a status",
       [&](Context& context, const Rig& rig, const std::string& text) {
         context.patch_status(rig, [&](RigStatus& status) { status.conditions = {ready(text)}; });
       }},
      {"an apply of a status",
       [&](Context& context, const Rig&, const std::string& text) {
         Rig applied{.metadata = {.name = web.name, .namespace_ = web.namespace_}};
         applied.status.conditions = {ready(text)};
         context.client().apply_status(applied);
       }},
      {"spec, label, annotation and finalizer",
       [](Context& context, const Rig& rig, const std::string& text) {
         context.patch(rig, [&](Rig& changed) {
           ++changed.spec.size;
           changed.metadata.labels["text"] = text;
           changed.metadata.annotations["text"] = text;
           changed.metadata.finalizers = {"runtime.evenkeel.dev/" + text};
         });
       }},
      {"patches without a version",
       [&](Context& context, const Rig&, const std::string& text) {
         context.client().patch<Rig>(
             web, Patch::merge(Json::object(
                      {{"metadata", Json::object({{"labels", Json::object({{"text", text}})}})}})));
         context.client().patch<Rig>(web,
                                     Patch::merge(Json::object({{"status", Json::object({{"note", text}})}})),
                                     {.subresource = "status"});
       }},
      {"a status by a captured client",
       [&](Context&, const Rig&, const std::string& text) {
         captured.patch_status(captured.get<Rig>(web),
                               [&](RigStatus& status) { status.conditions = {ready(text)}; });
       }},
      {"nothing again", [](Context&, const Rig&, const std::string&) {}},
  };
  std::atomic<std::size_t> round = 0;
  start(controller_for<Rig>([&](Context& context, const Rig& rig) {
          const int run = runs;
          writes[round].second(context, rig, "run" + std::to_string(run));
          ++runs;
          throw std::runtime_error("not yet");
        }).with({.limiter = [] {
    return AnyLimiter<RequestKey>(ExponentialLimiter<RequestKey>({1h, 1h}));
  }}));
  await("the first run", [&] { return manager->totals().counts.error == 1; });
  for (std::size_t next = 1; next <= writes.size(); ++next) {
    if (next < writes.size()) round = next;
    client.patch<Rig>(web, Patch::merge(Json::object({{"status", Json::object({{"round", next}})}})),
                      {.subresource = "status"});
    await("the run after round " + std::to_string(next),
          [&] { return manager->totals().counts.error >= next + 1; });
    EXPECT_EQ(runs, static_cast<int>(next) + 1) << "after " << writes[next - 1].first;
  }
  client.patch<Rig>(web, Patch::merge(Json::object({{"metadata", Json::object({{"finalizers", nullptr}})}})));
}

// The second replica writes to the status, for which the first one waits.
TEST_F(RealRuntime, TheStatusOfAnotherReplicaRunsAFailingObject) {
  start(controller_for<Rig>([&](Context&, const Rig& rig) {
          if (rig.status.conditions.empty()) throw std::runtime_error("not yet");
          ++runs;
        }).with({.limiter = [] {
    return AnyLimiter<RequestKey>(ExponentialLimiter<RequestKey>({1h, 1h}));
  }}));
  await("the failure", [&] { return manager->totals().counts.error > 0; });
  ManagerOptions other = options();
  other.name = "replica";
  Manager replica(Client(environment().config()), std::move(other));
  replica.add(controller_for<Rig>([](Context& context, const Rig& rig) {
    set_condition(context, rig, {.type = "Ready", .status = "True", .reason = "Sized"});
  }));
  testing::RunningManager second(replica);
  await("a run that does not fail", [&] { return runs > 0; });
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
