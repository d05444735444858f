// SPDX-License-Identifier: Apache-2.0
// Managers with an API server core in the same process: the whole library except sockets.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <dirent.h>
#include <iostream>
#include <malloc.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/webhook/webhook.hpp>
#include <evenkeel/webhook/webhook_server.hpp>

#include "../support/await.hpp"
#include "../support/sanitized.hpp"
#include "world.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ConfigMap desired_config(const Gadget& gadget) {
  return {.metadata = {.name = gadget.metadata.name, .namespace_ = gadget.metadata.namespace_},
          .data = {{"image", gadget.spec.image}}};
}

Result reconcile_gadget(Context& context, const Gadget& gadget) {
  context.apply(desired_config(gadget));
  context.patch_status(gadget, [&](GadgetStatus& status) { status.ready_replicas = gadget.spec.replicas; });
  return done();
}

class ManagerTest : public ::testing::Test {
 protected:
  ManagerTest() : manager(std::make_unique<Manager>(world.client(), world.options())) {}

  World world;
  std::unique_ptr<Manager> manager;
};

TEST_F(ManagerTest, ObjectsConvergeAndOwnWhatIsAppliedForThem) {
  world.install_crd();
  manager->add(controller_for<Gadget>(reconcile_gadget).owns<ConfigMap>());
  Running running(*manager);
  world.create_gadget("web", 3);
  world.wait_until([&] { return world.gadget("web").at({"status", "readyReplicas"}).integer_or(0) == 3; });
  const Json map = world.config_map("web");
  EXPECT_EQ(map.at({"data", "image"}).string_or(""), "web:1");
  const Json& owner = map.at({"metadata", "ownerReferences"})[std::size_t{0}];
  EXPECT_EQ(owner["kind"].string_or(""), "Gadget");
  EXPECT_EQ(owner["name"].string_or(""), "web");
  EXPECT_EQ(owner["uid"], world.gadget("web").at({"metadata", "uid"}));
  EXPECT_TRUE(owner["controller"].bool_or(false));
  EXPECT_EQ(map.at({"metadata", "managedFields"})[std::size_t{0}]["manager"].string_or(""), "test-operator");

  world.patch(world.gadgets + "/web", R"({"spec":{"image":"web:2","replicas":5}})");
  world.wait_until([&] { return world.gadget("web").at({"status", "readyReplicas"}).integer_or(0) == 5; });
  EXPECT_EQ(world.config_map("web").at({"data", "image"}).string_or(""), "web:2");
  EXPECT_NO_THROW(running.stop());
  const ManagerTotals totals = manager->totals();
  EXPECT_EQ(totals.objects, 1U);
  EXPECT_EQ(totals.counts.error, 0U);
  EXPECT_GE(totals.counts.success, 2U);
  EXPECT_GE(totals.latency.count(), 2U);
}

TEST_F(ManagerTest, WhatIsOwnedIsMadeAnewWhenSomebodyRemovesIt) {
  world.install_crd();
  manager->add(controller_for<Gadget>(reconcile_gadget).owns<ConfigMap>());
  Running running(*manager);
  world.create_gadget("web");
  world.wait_until([&] { return !world.config_map("web").is_null(); });
  const Json first = world.config_map("web").at({"metadata", "uid"});
  world.remove(world.config_maps + "/web");
  world.wait_until([&] {
    const Json now = world.config_map("web");
    return !now.is_null() && now.at({"metadata", "uid"}) != first;
  });
}

TEST_F(ManagerTest, AStatusThatIsRightAlreadyIsNotSent) {
  world.install_crd();
  manager->add(controller_for<Gadget>([](Context& context, const Gadget& gadget) {
    const Snapshot<Gadget> same =
        context.patch_status(gadget, [](GadgetStatus& status) { status.ready_replicas = 7; });
    // A second edit is based on the result of the first one.
    context.patch_status(gadget, [](GadgetStatus& status) { status.ready_replicas += 0; });
    EXPECT_EQ(same->status.ready_replicas, 7);
  }));
  Running running(*manager);
  world.create_gadget("web");
  world.wait_until([&] { return world.gadget("web").at({"status", "readyReplicas"}).integer_or(0) == 7; });
  const std::string version = world.gadget("web").at({"metadata", "resourceVersion"}).string_or("");
  // The status write is an event, which runs the reconciler again; that run sends nothing.
  world.wait_until([&] { return manager->totals().counts.success >= 2; });
  EXPECT_EQ(world.gadget("web").at({"metadata", "resourceVersion"}).string_or(""), version);
}

// Each run writes a different status and then fails, and the write is an event of its own object. If such
// events triggered it, it would run repeatedly until its retry is due.
TEST_F(ManagerTest, AReconcilerThatWritesItsStatusAndFailsDoesNotSpin) {
  world.install_crd();
  std::atomic<std::uint64_t> attempts = 0;
  manager->add(controller_for<Gadget>([&](Context& context, const Gadget& gadget) {
                 attempts = context.attempt();
                 context.patch_status(gadget, [](GadgetStatus& status) { ++status.ready_replicas; });
                 throw std::runtime_error("not today");
               }).with({.limiter = [] { return exponential(300ms, 300ms); }}));
  Running running(*manager);
  world.create_gadget("web");
  world.wait_until([&] { return attempts >= 3; });
  EXPECT_NO_THROW(running.stop());
  EXPECT_GE(world.gadget("web").at({"status", "readyReplicas"}).integer_or(0), 3);
  // One more is permitted: an event may arrive between the hand-out of a key and the start of its run.
  EXPECT_LE(manager->totals().counts.reconciles, 4U);
}

// Two replicas on one server: the status that the second one writes is what the first one waits for, an hour
// before its retry.
TEST_F(ManagerTest, AStatusThatAnotherReplicaWritesRunsAFailingObjectAtOnce) {
  world.install_crd();
  std::atomic<bool> waits = false;
  std::atomic<bool> seen = false;
  manager->add(controller_for<Gadget>([&](Context&, const Gadget& gadget) {
                 seen = gadget.status.ready_replicas == 7;
                 if (seen) return;
                 waits = true;
                 throw std::runtime_error("not ready");
               }).with({.limiter = [] { return exponential(1h, 1h); }}));
  Running running(*manager);
  world.create_gadget("web");
  world.wait_until([&] { return waits.load() && manager->totals().counts.error > 0; });
  Manager replica(world.client(), world.options());
  replica.add(controller_for<Gadget>([](Context& context, const Gadget& gadget) {
    context.patch_status(gadget, [](GadgetStatus& status) { status.ready_replicas = 7; });
  }));
  Running second(replica);
  world.wait_until([&] { return seen.load(); });
  EXPECT_NO_THROW(second.stop());
  EXPECT_NO_THROW(running.stop());
}

// Like AReconcilerThatWritesItsStatusAndFailsDoesNotSpin, with the client that the program gave to the
// manager.
TEST_F(ManagerTest, AReconcilerThatWritesWithACapturedClientAndFailsDoesNotSpin) {
  world.install_crd();
  const Client captured = world.client();
  Manager writing(captured, world.options());
  std::atomic<int> writes = 0;
  std::atomic<bool> came = false;
  writing.add(controller_for<Gadget>([&](Context& context, const Gadget& gadget) {
                const auto now =
                    captured.patch_status(captured.get<Gadget>(context.key()),
                                          [&](GadgetStatus& status) { status.ready_replicas = ++writes; });
                came = gadget.status.ready_replicas > 0;
                throw std::runtime_error("not today");
              }).with({.limiter = [] { return exponential(1h, 1h); }}));
  Running running(writing);
  world.create_gadget("web");
  world.wait_until([&] { return writing.totals().counts.error > 0; });
  // A change by somebody else shows that the event of the own write, which came before it, ran nothing.
  world.patch(world.gadgets + "/web", R"({"metadata":{"labels":{"a":"b"}}})");
  world.wait_until([&] { return writing.totals().counts.error > 1; });
  EXPECT_TRUE(came);
  EXPECT_EQ(writes, 2);
  EXPECT_NO_THROW(running.stop());
}

TEST_F(ManagerTest, AskedForItTheProgramMayChangeTheOptionsOfEachController) {
  ManagerOptions options = world.options();
  options.workers = 2;
  std::vector<std::string> names;
  options.adjust_controller = [&](ControllerOptions& controller) {
    EXPECT_FALSE(controller.workers) << "as the program gave them";
    names.push_back(controller.name);
    if (controller.name == "second") controller.workers = 3;
  };
  Manager adjusted(world.client(), std::move(options));
  adjusted.add(controller_for<Gadget>(reconcile_gadget).named("first"));
  adjusted.add(controller_for<Gadget>(reconcile_gadget).named("second"));
  world.install_crd();
  Running running(adjusted);
  world.wait_until([&] { return world.happenings->lines_with("workers started").size() == 2; });
  EXPECT_THAT(names, ::testing::ElementsAre("first", "second"));
  for (const std::string& line : world.happenings->lines_with("workers started")) {
    const bool second = line.find("controller=second") != std::string::npos;
    EXPECT_THAT(line, HasSubstr(second ? "workers=3" : "workers=2"));
  }
}

TEST_F(ManagerTest, AFinalizerRunsBeforeTheObjectGoes) {
  world.install_crd();
  std::atomic<int> reconciled = 0;
  std::atomic<int> cleaned = 0;
  manager->add(controller_for<Gadget>([&](Context&, const Gadget& gadget) {
                 EXPECT_FALSE(is_deleting(gadget.metadata));
                 EXPECT_TRUE(has_finalizer(gadget.metadata, "test.evenkeel.dev/cleanup"));
                 ++reconciled;
               }).finalize("test.evenkeel.dev/cleanup", [&](Context& context, const Gadget& gadget) {
    EXPECT_TRUE(is_deleting(gadget.metadata));
    EXPECT_EQ(context.key().name, "web");
    if (++cleaned == 1) return requeue_after(1ms, "not yet");
    return done();
  }));
  Running running(*manager);
  world.create_gadget("web");
  world.wait_until([&] { return reconciled > 0; });
  EXPECT_EQ(world.gadget("web").at({"metadata", "finalizers"}).dump(), R"(["test.evenkeel.dev/cleanup"])");
  world.remove(world.gadgets + "/web");
  world.wait_until([&] { return world.gadget("web").is_null(); });
  EXPECT_EQ(cleaned, 2) << "it is kept until the clean-up is done";
}

TEST_F(ManagerTest, FinalizersOfOthersStay) {
  world.install_crd();
  manager->add(controller_for<Gadget>([](Context&, const Gadget&) {
               }).finalize("test.evenkeel.dev/cleanup", [](Context&, const Gadget&) {}));
  Running running(*manager);
  world.create_gadget("web");
  world.wait_until([&] { return world.gadget("web").at({"metadata", "finalizers"}).size() == 1; });
  world.patch(world.gadgets + "/web",
              R"({"metadata":{"finalizers":["test.evenkeel.dev/cleanup","other/keep"]}})");
  world.remove(world.gadgets + "/web");
  world.wait_until([&] {
    return world.gadget("web").at({"metadata", "finalizers"}).dump() == R"(["other/keep"])";
  });
  world.patch(world.gadgets + "/web", R"({"metadata":{"finalizers":null}})");
  world.wait_until([&] { return world.gadget("web").is_null(); });
}

TEST_F(ManagerTest, TheRequestFormIsCalledForDeletedObjectsToo) {
  world.install_crd();
  std::atomic<int> gone = 0;
  std::atomic<int> there = 0;
  manager->add(controller_for<Gadget>([&](Context& context, const Request& request) -> Result {
    EXPECT_EQ(request.object_key(), (ObjectKey{"default", "web"}));
    ++(context.find<Gadget>(context.key()) ? there : gone);
    return done();
  }));
  Running running(*manager);
  world.create_gadget("web");
  world.wait_until([&] { return there > 0; });
  world.remove(world.gadgets + "/web");
  world.wait_until([&] { return gone > 0; });
}

TEST_F(ManagerTest, WatchesMapOtherObjectsToKeys) {
  world.install_crd();
  std::atomic<int> runs = 0;
  manager->add(
      controller_for<Gadget>([&](Context&, const Gadget&) { ++runs; }, {.when = generation_changed()})
          .watches<ConfigMap>([](const ConfigMap& map) {
            std::vector<ObjectKey> keys;
            const auto used_by = map.data.find("usedBy");
            if (used_by != map.data.end()) keys.push_back({map.metadata.namespace_, used_by->second});
            return keys;
          })
          .watches<Secret>([](const WireObject& secret) {
            return ObjectKey{"default", std::string(secret.name())};
          }));
  Running running(*manager);
  world.create_gadget("web");
  world.wait_until([&] { return manager->totals().counts.success == 1; });
  world.call(
      http::Method::post, world.config_maps,
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"shared"},"data":{"usedBy":"web"}})");
  world.wait_until([&] { return manager->totals().counts.success == 2; });
  world.call(http::Method::post, "/api/v1/namespaces/default/secrets",
             R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"web"}})");
  world.wait_until([&] { return manager->totals().counts.success == 3; });
  EXPECT_EQ(runs, 3);
}

TEST_F(ManagerTest, APatchOfAnotherObjectNeedsItsSnapshot) {
  world.install_crd();
  manager->add(controller_for<Gadget>([](Context& context, const Gadget& gadget) {
    if (gadget.metadata.name != "web") return;
    const Snapshot<Gadget> other = context.find<Gadget>({"default", "other"});
    ASSERT_TRUE(other);
    EXPECT_THROW(context.patch_status(*other, [](GadgetStatus&) {}), std::invalid_argument);
    context.patch_status(other, [](GadgetStatus& status) { status.ready_replicas = 9; });
  }));
  world.create_gadget("other");
  world.create_gadget("web");
  Running running(*manager);
  world.wait_until([&] { return world.gadget("other").at({"status", "readyReplicas"}).integer_or(0) == 9; });
}

TEST_F(ManagerTest, AnOwnerIsSetUnlessTheReconcilerSaysOtherwise) {
  world.install_crd();
  world.call(http::Method::post, "/api/v1/namespaces",
             R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"far"}})");
  std::atomic<bool> applied = false;
  manager->add(controller_for<Gadget>([&](Context& context, const Gadget&) {
    context.apply(ConfigMap{.metadata = {.name = "near"}});
    context.apply(ConfigMap{.metadata = {.name = "away", .namespace_ = "far"}}, {.own = false});
    context.apply(ConfigMap{.metadata = {.name = "free"}}, {.own = false});
    context.apply(Namespace{.metadata = {.name = "wide"}}, {.own = false});
    applied = true;
  }));
  world.create_gadget("web");
  Running running(*manager);
  world.wait_until([&] { return applied.load(); });
  world.wait_until([&] { return manager->totals().counts.success > 0; });
  EXPECT_EQ(world.config_map("near").at({"metadata", "ownerReferences"}).size(), 1U);
  EXPECT_EQ(world.config_map("free").at({"metadata", "ownerReferences"}).size(), 0U);
  EXPECT_EQ(world.get("/api/v1/namespaces/far/configmaps/away").at({"metadata", "ownerReferences"}).size(),
            0U);
  EXPECT_FALSE(world.get("/api/v1/namespaces/far/configmaps/away").is_null());
  EXPECT_EQ(world.get("/api/v1/namespaces/wide").at({"metadata", "ownerReferences"}).size(), 0U);
}

TEST_F(ManagerTest, AMissingKindHoldsUpItsOwnControllerOnlyAndHeals) {
  Manager impatient(world.client(), [&] {
    ManagerOptions options = world.options();
    options.sync_timeout = 50ms;
    return options;
  }());
  std::atomic<int> maps = 0;
  impatient.add(controller_for<Gadget>(reconcile_gadget));
  impatient.add(controller_for<ConfigMap>([&](Context&, const ConfigMap&) {
    ++maps;
    world.happenings->note();
  }));
  Running running(impatient);
  world.call(http::Method::post, world.config_maps,
             R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})");
  world.wait_until([&] { return maps > 0; });
  world.wait_for_line("missing=gadgets (test.evenkeel.dev/v1): ");
  EXPECT_THAT(world.happenings->lines_with("still waiting")[0], HasSubstr("404"));
  world.install_crd();
  world.create_gadget("web", 2);
  world.wait_until([&] { return world.gadget("web").at({"status", "readyReplicas"}).integer_or(0) == 2; });
  EXPECT_NO_THROW(running.stop());
}

struct Refusal {
  const char* what;
  apiserver::FaultRule rule;
  const char* named;
};

// A list that fails or gets no response: the log contains the kind and the reason, and it recovers by itself.
TEST_F(ManagerTest, ARefusedListIsWaitedOutAndNamed) {
  world.install_crd();
  const std::vector<Refusal> refusals = {
      {"401", {.resource = "gadgets.test.evenkeel.dev", .status = 401}, "401"},
      {"403", {.resource = "gadgets.test.evenkeel.dev", .status = 403}, "403"},
      {"dropped-connections",
       {.resource = "gadgets.test.evenkeel.dev", .drop = apiserver::FaultDrop::before},
       "gadgets"},
  };
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.what);
    const apiserver::FaultId fault = world.core->inject(refusal.rule);
    ManagerOptions options = world.options();
    options.name = std::string("operator-") + refusal.what;
    options.sync_timeout = 20ms;
    Manager patient(world.client(), options);
    std::atomic<int> runs = 0;
    patient.add(controller_for<Gadget>([&](Context&, const Gadget&) { ++runs; }).named(refusal.what));
    Running running(patient);
    world.wait_for_line(
        std::string("still waiting for the first lists; no object is reconciled before controller=") +
        refusal.what);
    EXPECT_THAT(world.happenings->lines_with("still waiting").back(), HasSubstr(refusal.named));
    EXPECT_THAT(world.happenings->lines_with("still waiting").back(),
                HasSubstr("gadgets (test.evenkeel.dev/v1)"));
    EXPECT_EQ(runs, 0);
    world.core->remove_fault(fault);
    const std::string name = "web-" + std::to_string(fault);
    world.create_gadget(name);
    world.wait_until([&] { return patient.totals().counts.success > 0; });
    running.stop();
    world.remove(world.gadgets + "/" + name);
  }
}

TEST_F(ManagerTest, AnObjectThatCannotBeDecodedIsNamedAndTheOthersGoOn) {
  // A schema that permits more than the type: a number for a string.
  Json crd = crd_for<Gadget>();
  Json& schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  schema["properties"]["spec"]["properties"]["image"] =
      Json::object({{"x-kubernetes-preserve-unknown-fields", true}});
  world.core->install(crd.dump());
  manager->add(controller_for<Gadget>(reconcile_gadget));
  Running running(*manager);
  const http::Response made = world.call(
      http::Method::post, world.gadgets,
      R"({"apiVersion":"test.evenkeel.dev/v1","kind":"Gadget","metadata":{"name":"odd"},"spec":{"image":3}})");
  ASSERT_EQ(made.status, 201) << made.body;
  world.wait_for_line("spec.image");
  EXPECT_THAT(world.happenings->lines_with("spec.image")[0], HasSubstr("odd"));
  world.create_gadget("web", 2);
  world.wait_until([&] { return world.gadget("web").at({"status", "readyReplicas"}).integer_or(0) == 2; });
}

TEST_F(ManagerTest, RunningReconcilesEndInPeaceWithinTheGracePeriod) {
  world.install_crd();
  std::atomic<bool> begun = false;
  std::atomic<bool> may_end = false;
  std::atomic<bool> cancelled = false;
  manager->add(controller_for<Gadget>([&](Context& context, const Gadget&) {
    begun = true;
    world.happenings->note();
    world.wait_until([&] { return may_end.load(); });
    cancelled = context.stop().stop_requested();
    // Calls still work: this run is not cancelled.
    EXPECT_FALSE(context.find<Secret>({"default", "none"}));
  }));
  Running running(*manager);
  world.create_gadget("web");
  world.wait_until([&] { return begun.load(); });
  running.request_stop();
  world.wait_for_line("stopping");
  may_end = true;
  world.happenings->note();
  EXPECT_NO_THROW(running.wait());
  EXPECT_FALSE(cancelled);
  EXPECT_EQ(manager->totals().counts.success, 1U);
}

TEST_F(ManagerTest, AfterTheGracePeriodRunsAreCancelledAndThatIsAnError) {
  world.install_crd();
  ManagerOptions options = world.options();
  options.lifecycle.grace_period = 10ms;
  Manager hasty(world.client(), options);
  std::atomic<bool> begun = false;
  hasty.add(controller_for<Gadget>([&](Context& context, const Gadget&) {
    begun = true;
    world.happenings->note();
    sleep_until(context.clock(), TimePoint::max(), context.stop());
    context.check();
  }));
  Running running(hasty);
  world.create_gadget("web");
  world.wait_until([&] { return begun.load(); });
  try {
    running.stop();
    FAIL() << "nothing was thrown";
  } catch (const GracePeriodExceeded& error) {
    // Parts that stop after it get no separate grace period.
    EXPECT_EQ(error.cancelled().front(), "controller gadget");
    EXPECT_THAT(error.stuck(), IsEmpty());
    EXPECT_THAT(error.what(),
                HasSubstr("the grace period was over before these had ended: controller gadget"));
  }
  EXPECT_EQ(hasty.totals().counts.cancelled, 1U);
}

TEST_F(ManagerTest, AMappingThatBlocksDoesNotHoldUpTheEndOfRun) {
  world.install_crd();
  ManagerOptions options = world.options();
  options.lifecycle = {.grace_period = 10ms, .cancel_period = 10ms};
  std::atomic<bool> begun = false;
  std::atomic<bool> may_end = false;
  Manager hasty(world.client(), options);
  hasty.add(controller_for<Gadget>(reconcile_gadget).watches<ConfigMap>([&](const ConfigMap& map) {
    begun = true;
    world.happenings->note();
    world.wait_until([&] { return may_end.load(); });
    return ObjectKey{"default", map.metadata.name};
  }));
  Running running(hasty);
  world.call(http::Method::post, world.config_maps,
             R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})");
  world.wait_until([&] { return begun.load(); });
  EXPECT_THROW(running.stop(), GracePeriodExceeded);
  EXPECT_THAT(hasty.stuck(), ElementsAre("cache"));
  may_end = true;  // the destructor waits for it
  world.happenings->note();
}

TEST_F(ManagerTest, ATaskThatFailsEndsTheManagerWithItsName) {
  manager->add_task("importer", [](const std::stop_token&) { throw std::runtime_error("no such file"); });
  Running running(*manager);
  try {
    running.wait();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "task importer: no such file");
  }
}

TEST_F(ManagerTest, ATaskThatFailsWithoutATextEndsTheManager) {
  std::atomic<bool> begun = false;
  manager->add_task("importer", [&](const std::stop_token&) {
    begun = true;
    world.happenings->note();
    throw std::runtime_error("");
  });
  Running running(*manager);
  world.wait_until([&] { return begun.load(); });
  try {
    running.stop();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "task importer: an exception with an empty text was thrown");
  }
}

TEST_F(ManagerTest, ATaskIsToldToStop) {
  std::atomic<bool> begun = false;
  std::atomic<bool> ended = false;
  manager->add_task("ticker", [&](const std::stop_token& stop) {
    begun = true;
    world.happenings->note();
    sleep_until(*real_clock(), TimePoint::max(), stop);
    ended = true;
  });
  Running running(*manager);
  world.wait_until([&] { return begun.load(); });
  EXPECT_NO_THROW(running.stop());
  EXPECT_TRUE(ended);
}

TEST_F(ManagerTest, AControllerMayBeAddedWhileItRuns) {
  world.install_crd();
  world.create_gadget("web", 4);
  Running running(*manager);
  manager->add(controller_for<Gadget>(reconcile_gadget));
  world.wait_until([&] { return world.gadget("web").at({"status", "readyReplicas"}).integer_or(0) == 4; });
}

TEST_F(ManagerTest, NamesOfControllersAreUnique) {
  manager->add(controller_for<Gadget>(reconcile_gadget));
  EXPECT_THROW(manager->add(controller_for<Gadget>(reconcile_gadget)), std::invalid_argument);
  EXPECT_NO_THROW(manager->add(controller_for<Gadget>(reconcile_gadget).named("second")));
}

TEST_F(ManagerTest, RunsOnce) {
  Running(*manager).stop();
  EXPECT_THROW(manager->run({}), std::invalid_argument);
}

// Nothing is listed before the webhooks serve, as conversions may be needed for that.
TEST_F(ManagerTest, AStopDoesNotWaitForTheCertificateOfItsWebhooks) {
  world.install_crd();
  world.core->inject({.resource = "secrets", .status = 403});
  ManagerOptions options = world.options();
  options.lifecycle.grace_period = -1ns;  // unlimited
  Manager hindered(world.client(), options);
  hindered.add(controller_for<Gadget>(reconcile_gadget));
  hindered.add(webhook_for<Gadget>().validates([](const Validation<Gadget>&) { return ValidationResult(); }));
  hindered.serve_webhooks({.address = "127.0.0.1:0", .service = {.namespace_ = "default"}});
  Running running(hindered);
  world.wait_for_line("the certificates of the webhooks cannot be stored; retrying");
  EXPECT_EQ(hindered.totals().objects, 0U);
  running.stop();
}

TEST_F(ManagerTest, KnowsTheCrdsOfItsCustomKindsOnce) {
  manager->add(controller_for<Gadget>(reconcile_gadget).owns<ConfigMap>());
  manager->add(controller_for<Gadget>(reconcile_gadget).named("again"));
  manager->add(controller_for<Deployment>([](Context&, const Deployment&) {}));
  const std::vector<Json> crds = manager->crds();
  ASSERT_EQ(crds.size(), 1U);
  EXPECT_EQ(crds[0].at({"metadata", "name"}).string_or(""), "gadgets.test.evenkeel.dev");
  const std::vector<ResourceId> others = manager->kinds_without_crd();
  EXPECT_THAT(others, ElementsAre(ResourceId(ConfigMap::resource), ResourceId(Deployment::resource)));
}

TEST_F(ManagerTest, ThreadsAreNamedByTheHost) {
  world.install_crd();
  Mutex mutex;
  std::vector<std::string> names;
  ManagerOptions options = world.options();
  options.on_thread_start = [&](std::string_view name) {
    MutexLock lock(mutex);
    names.emplace_back(name);
  };
  Manager named(world.client(), options);
  named.add(controller_for<Gadget>(reconcile_gadget).with({.workers = 2}));
  named.add_task("ticker", [](const std::stop_token&) {});
  Running running(named);
  world.create_gadget("web");
  world.wait_until([&] { return named.totals().counts.success > 0; });
  running.stop();
  MutexLock lock(mutex);
  EXPECT_THAT(names, ::testing::IsSupersetOf({"gadget/0", "gadget/1", "ticker"}));
}

class ManagerConcurrency : public ManagerTest {};

std::size_t entries(const char* directory) {
  std::size_t count = 0;
  DIR* open = ::opendir(directory);
  while (::readdir(open) != nullptr) ++count;
  ::closedir(open);
  return count;
}

constexpr int rounds = tests::sanitized ? 100 : 1000;

// The resources of a process that managers could leak.
struct Holdings {
  std::size_t threads = entries("/proc/self/task");
  std::size_t files = entries("/proc/self/fd");
  std::size_t bytes = ::mallinfo2().uordblks;
};

TEST_F(ManagerConcurrency, StartsAndStopsAThousandTimesWithoutGrowth) {
  world.install_crd();
  world.create_gadget("web");
  std::optional<Holdings> early;
  for (int round = 0; round < rounds; ++round) {
    {
      Manager one(world.client(),
                  {.name = "test-operator", .log = Log(std::make_shared<Quiet>(world.happenings))});
      one.add(controller_for<Gadget>(reconcile_gadget).owns<ConfigMap>());
      Running running(one);
      world.wait_until([&] { return one.totals().counts.success > 0; });
      running.stop();
    }
    if (round == rounds / 5) early.emplace();
  }
  const Holdings late;
  // Threads of the last transports may still be ending; hundreds of managers would leave hundreds.
  EXPECT_LE(late.threads, early->threads + 5);
  EXPECT_EQ(late.files, early->files);
  std::cout << "[ figures  ] " << static_cast<long>(late.bytes) - static_cast<long>(early->bytes)
            << " bytes more after " << rounds - rounds / 5 << " more managers" << std::endl;
  EXPECT_LT(late.bytes, early->bytes + (128U << 10));
}

// Until every machine knows that a replica is gone, its webhooks are called.
TEST_F(ManagerConcurrency, AStopLeavesItsWebhooksServedForTenSeconds) {
  const auto clock = std::make_shared<ManualClock>(real_clock()->wall_now());
  World cluster({}, clock);
  cluster.install_crd();
  ManagerOptions options = cluster.options();
  options.clock = clock;
  Manager leaving(cluster.client(), options);
  std::atomic<bool> task_stopped = false;
  leaving.add_task("task", [&](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::yield();
    task_stopped = true;
    cluster.happenings->note();
  });
  leaving.add(controller_for<Gadget>(reconcile_gadget));
  leaving.add(webhook_for<Gadget>().validates([](const Validation<Gadget>&) { return ValidationResult(); }));
  leaving.serve_webhooks({.address = "127.0.0.1:0",
                          .service = {.namespace_ = "default"},
                          .certificates = {.names = {"127.0.0.1"}}});
  Running running(leaving);
  cluster.create_gadget("web");
  cluster.wait_until([&] { return leaving.totals().counts.success > 0; });
  const std::string line = cluster.happenings->lines_with("serving what=webhooks").at(0);
  const auto secret = cluster.client().get<Secret>({"default", "test-operator-webhook-certificates"});
  const auto transport = http::make_curl_transport(
      {.server = line.substr(line.find("https://")), .tls = {.ca_data = secret->data.at("ca.crt").value()}});
  const auto connection = [&] {
    const http::Response response = transport->fetch({.method = http::Method::post,
                                                      .target = "/validate-test-evenkeel-dev-v1-gadget",
                                                      .headers = {{"Content-Type", "application/json"}},
                                                      .body = "{}",
                                                      .deadline = real_clock()->now() + 60s});
    EXPECT_EQ(response.status, 400);  // it is not a review, but the call has arrived
    const std::string* found = response.headers.find("Connection");
    return found == nullptr ? std::string("stays") : *found;
  };
  EXPECT_EQ(connection(), "stays");
  EXPECT_EQ(leaving.answer_probe("/readyz").status, 200);
  running.request_stop();
  cluster.wait_until([&] { return task_stopped.load(); });
  cluster.wait_until([&] { return leaving.answer_probe("/readyz/shutdown").status == 500; });
  EXPECT_EQ(connection(), "close");
  clock->advance(10s - 1ns);
  EXPECT_EQ(connection(), "close");
  clock->advance(1ns);
  running.wait();
  EXPECT_THROW(connection(), TransportError);
}

// Repeats it with sockets, an election and a task, each of which has its own threads and connections.
TEST_F(ManagerConcurrency, StartsAndStopsOverSocketsWithoutGrowth) {
  apiserver::ApiServer server;
  server.install(crd_for<Gadget>().dump());
  std::optional<Holdings> early;
  constexpr int times = rounds / 10;
  for (int round = 0; round < times; ++round) {
    {
      ManagerOptions options{.name = "test-operator"};
      options.election = ElectionOptions{.name = "op", .namespace_ = "default"};
      Manager one(Client(server.config()), options);
      std::atomic<bool> led = false;
      one.add(controller_for<Gadget>(reconcile_gadget).owns<ConfigMap>());
      one.add_task(
          "leading", [&](const std::stop_token&) { led = true; }, RunsOn::leader);
      Running running(one);
      tests::await("leadership", [&] { return led.load(); });
      running.stop();
    }
    if (round == times / 5) early.emplace();
  }
  // The server's side of the last connections may still be ending.
  tests::await("the end of threads and connections", [&] {
    const Holdings late;
    return late.threads <= early->threads + 5 && late.files <= early->files + 5;
  });
}

TEST_F(ManagerConcurrency, TwoManagersShareAProcess) {
  world.install_crd();
  World other;
  other.install_crd();
  Manager second(other.client(), other.options());
  manager->add(controller_for<Gadget>(reconcile_gadget));
  second.add(controller_for<Gadget>(reconcile_gadget));
  Running one(*manager);
  Running two(second);
  world.create_gadget("here", 2);
  other.create_gadget("there", 3);
  world.wait_until([&] { return world.gadget("here").at({"status", "readyReplicas"}).integer_or(0) == 2; });
  other.wait_until([&] { return other.gadget("there").at({"status", "readyReplicas"}).integer_or(0) == 3; });
  EXPECT_TRUE(world.gadget("there").is_null());
  one.stop();
  two.stop();
}

TEST_F(ManagerConcurrency, ManyObjectsAndWorkersConvergeEachWithOneConfigMap) {
  world.install_crd();
  manager->add(controller_for<Gadget>(reconcile_gadget, {.when = generation_changed()})
                   .owns<ConfigMap>()
                   .with({.workers = 4}));
  Running running(*manager);
  constexpr int objects = 200;
  {
    std::vector<std::jthread> users;
    for (int user = 0; user < 2; ++user) {
      users.emplace_back([&, user] {
        for (int i = user; i < objects; i += 2) world.create_gadget("load-" + std::to_string(i), 1 + i % 5);
      });
    }
  }
  world.wait_until([&] {
    const Json list = world.get(world.gadgets);
    return std::all_of(list["items"].as_array().begin(), list["items"].as_array().end(),
                       [](const Json& item) {
                         return item.at({"status", "readyReplicas"}) == item.at({"spec", "replicas"});
                       });
  });
  running.stop();
  EXPECT_EQ(manager->totals().objects, static_cast<std::size_t>(objects));
}

}  // namespace
}  // namespace evenkeel
