// SPDX-License-Identifier: Apache-2.0
// The parts of controllers with a real API server: steps and helpers, keys from all sources, watches added at
// run time, predicates, resyncs, order and fairness of the queue, fibers, failures and hanging reconciles,
// several clusters, and the operator's metrics, explanations and access reviews.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/rbac.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/subresources.hpp>
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
#include <evenkeel/workqueue/fair_store.hpp>

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
  http::Response get(const std::string& what, const std::string& target,
                     const std::string& token = "") const {
    const std::string line = log->wait_for("serving what=" + what + " ").back();
    const std::string url = line.substr(line.find("url=") + 4);
    http::Request request{.target = target};
    if (!token.empty()) request.headers.add("Authorization", "Bearer " + token);
    return http::make_curl_transport({.server = url, .proxy = ""})->fetch(std::move(request));
  }
  void create_rigs(const std::string& namespace_, const std::string& name, int count) const {
    std::atomic<int> over = 0;
    for (int i = 0; i < count; ++i) {
      const Rig rig{.metadata = {.name = name + std::to_string(i), .namespace_ = namespace_}};
      client.start(calls::create(rig), [&](const auto& outcome) {
        EXPECT_TRUE(outcome.ok());
        ++over;
      });
    }
    await("the creations", [&] { return over == count; });
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

// The first run holds the only worker until an object is created that was not in the first list.
TEST_F(RealRuntime, ALiveChangeRunsBeforeTheRestOfTheFirstList) {
  create_rigs(web.namespace_, "old", 4);
  Controller* controller = nullptr;
  std::vector<std::string> order;
  controller = &manager->add(controller_for<Rig>([&](Context& context, const Rig&) {
    order.push_back(context.key().name);
    if (order.size() > 1) return void(++runs);
    create_rigs(web.namespace_, "live", 1);
    await("the live key", [&] { return controller->queue_size() == 5; });
    ++runs;
  }));
  running = std::make_unique<testing::RunningManager>(*manager);
  await("all runs", [&] { return runs == 6; });
  running->stop();
  EXPECT_EQ(order.at(1), "live0") << "it does not wait behind the first list";
}

TEST_F(RealRuntime, PredicatesSeeBothStatesOfAChange) {
  std::vector<std::string> seen;
  const auto note = [&](Context& context, const Request&) {
    seen.push_back(context.key().name);
    ++runs;
  };
  start(controller_for<Rig>(note, {.when = (matches_labels("size in (big)") && !generation_changed()) ||
                                           events_of({EventType::deleted})}));
  const auto set_label = [&](const char* value) {
    client.patch(client.get<Rig>(web), [&](Rig& rig) { rig.metadata.labels["size"] = value; });
  };
  const auto expect_runs = [&](int count) {
    await("run " + std::to_string(count), [&] { return runs >= count; });
  };
  set_label("small");  // matches neither before nor after
  set_label("big");
  expect_runs(1);
  client.patch(client.get<Rig>(web), [](Rig& rig) { rig.spec.size = 2; });  // of another generation
  set_label("small");                                                       // it matched before
  expect_runs(2);
  client.remove<Rig>(web);
  expect_runs(3);
  running->stop();
  EXPECT_EQ(seen.size(), 3U);
}

TEST_F(RealRuntime, KeysComeFromATimerAndFromAFunction) {
  std::atomic<bool> called = false;
  start(controller_for<Rig>(steps(), {.when = [](const ObjectEvent&) { return false; }})
            .every(100ms)
            .source("calls", [&](const KeySink& sink, std::stop_token) {
              sink.add({web.namespace_, "of-the-function"});
              called = true;
            }));
  await("three runs by the timer", [&] { return runs >= 3; });
  EXPECT_TRUE(called);
  running->stop();
}

TEST_F(RealRuntime, AKindWithoutATypeIsReconciled) {
  const ResourceId rigs(Rig::resource);
  start(controller_for(rigs, [](Context& context, const DynamicObject& rig) {
          ConfigMap config{.metadata = {.name = "of-" + context.key().name}};
          config.data["size"] = rig.body().at({"spec", "size"}).dump();
          context.apply(config);
        }).owns<ConfigMap>());
  await("the config map", [&] {
    return static_cast<bool>(client.find<ConfigMap>({web.namespace_, "of-web"}));
  });
  const auto config = client.get<ConfigMap>({web.namespace_, "of-web"});
  EXPECT_EQ(config->data.at("size"), "1");
  EXPECT_EQ(controller_of(config->metadata)->kind, "Rig");
}

// One thread: each reconcile waits until all of them are in progress, and then writes.
TEST_F(RealRuntime, FibersKeepManyReconcilesInFlightOnOneThread) {
  constexpr int count = 40;
  create_rigs(web.namespace_, "fiber", count - 1);
  std::atomic<int> began = 0;
  start(controller_for<Rig>([&](Context& context, const Rig& rig) {
          ++began;
          while (began < count) sleep_until(context.clock(), context.clock().now() + 5ms, context.stop());
          context.patch_status(rig, [](RigStatus& status) { status.note = "written"; });
          ++runs;
        }).with({.workers = 1, .in_flight = count, .gate = EventGate::on}));
  await("all reconciles", [&] { return runs >= count; });
  running->stop();
  for (const auto& rig : client.list<Rig>({.namespace_ = web.namespace_}).items)
    EXPECT_EQ(rig->status.note, "written") << rig->metadata.name;
}

TEST_F(RealRuntime, AThrownIntAndATimeoutAreRetried) {
  start(controller_for<Rig>([&](Context& context, const Rig& rig) {
          const int run = runs++;
          if (run == 0) throw 7;
          if (run == 1) {
            sleep_until(context.clock(), *context.deadline(), context.stop());
            context.check();
          }
          context.patch_status(rig, [](RigStatus& status) { status.note = "done"; });
        }).with({.reconcile_timeout = 200ms}));
  await("the third run", [&] { return client.get<Rig>(web)->status.note == "done"; });
  const ReconcileCounts counts = manager->totals().counts;
  EXPECT_EQ(counts.error, 2U);
  EXPECT_EQ(counts.panics, 1U);
  EXPECT_EQ(counts.timeouts, 1U);
}

// Each run writes to the object, whose event alone would run it again.
TEST_F(RealRuntime, ResultsDecideWhetherAnObjectRunsAgain) {
  Controller& controller = start(controller_for<Rig>(
      [&](Context& context, const Rig& rig) -> Result {
        const int run = runs++;
        context.patch_status(rig, [&](RigStatus& status) { status.round = run; });
        if (run == 0) return requeue_after(10ms, "look again");
        if (run == 1) return requeue("and again");
        if (run == 2) throw TerminalError("it never will");
        return done();
      },
      {.when = generation_changed()}));
  await("the terminal error", [&] { return manager->totals().counts.terminal_error == 1; });
  EXPECT_EQ(runs, 3);
  client.patch(client.get<Rig>(web), [](Rig& rig) { rig.spec.size = 9; });
  await("the run after a change", [&] { return controller.counts().success == 1; });
  const ReconcileCounts counts = controller.counts();
  EXPECT_EQ(counts.requeue_after, 1U);
  EXPECT_EQ(counts.requeue, 1U);
  EXPECT_EQ(counts.error, 1U);
  EXPECT_EQ(counts.reconciles, 4U);
}

TEST_F(RealRuntime, AStuckReconcileFailsTheLivenessProbeUntilItEnds) {
  std::atomic<bool> open = false;
  start(controller_for<Rig>([&](Context&, const Rig&) {
          await("the end of the test", [&] { return open.load(); });
          ++runs;
        }).with({.stuck_after = 20ms}));
  await("the failing probe", [&] { return manager->answer_probe("/healthz").status == 500; });
  EXPECT_THAT(manager->answer_probe("/healthz?verbose").body, HasSubstr("[-]controller/rig"));
  EXPECT_EQ(log->wait_for("a reconcile is stuck").empty(), false);
  open = true;
  await("the healthy probe", [&] { return manager->answer_probe("/healthz").status == 200; });
  running->stop();
}

// Two tenants: the first one has many objects before the second one has a few.
TEST_F(RealRuntime, ATenantOfManyObjectsDoesNotHoldUpAnotherOne) {
  constexpr std::size_t many = 150, few = 5;
  const std::string other = tests::fresh_namespace(client);
  create_rigs(web.namespace_, "many", static_cast<int>(many) - 1);
  create_rigs(other, "few", static_cast<int>(few));
  std::vector<std::string> order;
  ManagerOptions both = options();
  both.cache.namespace_.clear();
  make(std::move(both));
  start(controller_for<Rig>(
            [&](Context& context, const Rig& rig) {
              order.push_back(context.key().namespace_);
              context.patch_status(rig, [](RigStatus& status) { status.note = "seen"; });
              ++runs;
            },
            {.when = generation_changed(), .namespaces = {web.namespace_, other}})
            .with({.gate = EventGate::on, .store = [] { return FairStore<RequestKey>(); }}));
  await("a run of each object", [&] { return runs >= static_cast<int>(many + few); });
  running->stop();
  std::size_t of_other = 0, turns = 0;
  while (of_other < few) of_other += order.at(turns++) == other ? 1 : 0;
  EXPECT_LE(turns, 2 * few + 2) << "the namespaces take turns";
}

// The home cluster is the real one; it is engaged as another user, too, beside an embedded server.
TEST_F(RealRuntime, ClustersJoinAndLeave) {
  apiserver::ApiServer embedded;
  const Client second(embedded.config());
  const std::string space = web.namespace_;
  second.create(Namespace{.metadata = {.name = space}});
  const auto map = [&](const std::string& name) {
    return ConfigMap{.metadata = {.name = name, .namespace_ = space, .labels = {{"fleet", "yes"}}}};
  };
  const auto cluster_of = [&](const Client& one, const std::string& name) -> std::string {
    const auto copy = one.find<ConfigMap>({space, name + "-copy"});
    return copy ? copy->data.at("cluster") : "";
  };
  manager->add(controller_for<ConfigMap>(
                   [&](Context& context, const ConfigMap& found) {
                     context.apply(ConfigMap{.metadata = {.name = found.metadata.name + "-copy"},
                                             .data = {{"cluster", std::string(context.cluster())}}});
                     ++runs;
                   },
                   {.namespaces = {space}, .label_selector = "fleet=yes"})
                   .with({.runs_in = RunsIn::engaged_clusters}));
  manager->clusters().engage({.name = "eu", .config = environment().config()});
  running = std::make_unique<testing::RunningManager>(*manager);
  client.create(map("a"));
  await("the copy in the real cluster", [&] { return cluster_of(client, "a") == "eu"; });
  second.create(map("a"));
  manager->clusters().engage({.name = "us", .config = embedded.config()});
  await("the copy in the embedded cluster", [&] { return cluster_of(second, "a") == "us"; });
  manager->clusters().disengage("eu");
  await("the end of the real cluster", [&] { return !manager->clusters().status("eu"); });
  client.create(map("b"));
  second.create(map("b"));
  await("another copy in the embedded cluster", [&] { return cluster_of(second, "b") == "us"; });
  EXPECT_EQ(cluster_of(client, "b"), "");
  running->stop();
}

// Tokens of service accounts: one may read /metrics, the other one may not.
TEST_F(RealRuntime, TheServerDecidesWhoMayReadTheMetrics) {
  const auto token_of = [&](const std::string& name) {
    client.create(ServiceAccount{.metadata = {.name = name, .namespace_ = web.namespace_}});
    return client.run(calls::create_token({web.namespace_, name}, {.expires_after = 10min})).token;
  };
  const std::string reader = token_of("reader"), stranger = token_of("stranger");
  const std::string user = "system:serviceaccount:" + web.namespace_ + ":";
  const std::string role = web.namespace_ + "-metrics";
  rbac_v1::ClusterRole metrics{.metadata = {.name = role}};
  metrics.rules = {{.non_resource_urls = {"/metrics"}, .verbs = {"get"}}};
  client.create(metrics);
  rbac_v1::ClusterRoleBinding binding{.metadata = {.name = role}};
  binding.role_ref = {.name = role, .api_group = "rbac.authorization.k8s.io", .kind = "ClusterRole"};
  binding.subjects = {{.name = "reader", .kind = "ServiceAccount", .namespace_ = web.namespace_}};
  client.create(binding);
  const ResourceId reviews{"authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews",
                           Scope::cluster};
  const Json review = Json::parse(R"({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
      "spec": {"nonResourceAttributes": {"path": "/metrics", "verb": "get"}, "user": ")" +
                                  user + R"(reader"}})");
  await("the role to be in force", [&] {  // a denial would be remembered
    const http::Response answer = client.raw({.method = http::Method::post,
                                              .resource = reviews,
                                              .content_type = "application/json",
                                              .body = review.dump()});
    return Json::parse(answer.body).at({"status", "allowed"}) == Json(true);
  });
  manager->serve({.metrics_address = "127.0.0.1:0", .access_reviews = AccessReviews::on});
  start(controller_for<Rig>(steps()));
  EXPECT_EQ(get("metrics", "/metrics").status, 401);
  EXPECT_EQ(get("metrics", "/metrics", "nonsense").body,
            "401 the API server does not accept the bearer token\n");
  EXPECT_EQ(get("metrics", "/metrics", stranger).body,
            "403 " + user + "stranger may not get the non-resource URL /metrics\n");
  EXPECT_EQ(get("metrics", "/metrics", reader).status, 200);
  EXPECT_EQ(get("metrics", "/metrics", environment().config().token).status, 200);
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
