// SPDX-License-Identifier: Apache-2.0
// Waits for the state of a server, and their error messages.
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/testing/differences.hpp>
#include <evenkeel/testing/log_recorder.hpp>
#include <evenkeel/testing/object.hpp>
#include <evenkeel/testing/running_manager.hpp>
#include <evenkeel/testing/wait.hpp>

#include "gadget.hpp"

namespace evenkeel::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Differences, NamePlacesAndValues) {
  const Json before = Json::parse(R"({"a":{"b":1,"gone":"x"},"list":[1,2],"same":true})");
  const Json after = Json::parse(R"({"a":{"b":2,"x.y/z":3},"list":[1,3,4],"same":true})");
  EXPECT_THAT(differences(before, after),
              ElementsAre("a.b: 1 -> 2", "a.gone: removed \"x\"", "a[\"x.y/z\"]: added 3", "list[1]: 2 -> 3",
                          "list[2]: added 4"));
  EXPECT_THAT(differences(before, before), IsEmpty());
  EXPECT_THAT(differences(Json(), Json()), IsEmpty());
  EXPECT_THAT(differences(Json(), Json(1)), ElementsAre("added 1"));
}

TEST(Missing, IsWhatADocumentLacksOfAPart) {
  const Json document = Json::parse(R"({"spec":{"n":1,"list":[{"a":1,"b":2}]},"status":{"ready":true}})");
  EXPECT_THAT(missing(Json::parse(R"({"spec":{"list":[{"a":1}]}})"), document), IsEmpty());
  EXPECT_THAT(missing(Json::parse(R"({"spec":{"n":2},"status":{"ready":null,"phase":"Up"}})"), document),
              ElementsAre("spec.n: expected 2, found 1", "status.phase: expected \"Up\", found nothing",
                          "status.ready: expected nothing, found true"));
  EXPECT_THAT(
      missing(Json::parse(R"({"spec":{"list":[]},"other":{"x":1}})"), document),
      ElementsAre("other.x: expected 1, found nothing", "spec.list: expected [], found [{\"a\":1,\"b\":2}]"));
}

class WaitConcurrency : public ::testing::Test {
 protected:
  WaitConcurrency() { create_objects(client, {gadget("web", 2)}); }

  // Runs `action` once the watch of a wait is running, so that it comes after the first check.
  std::jthread once_watched(std::function<void()> action) {
    return std::jthread([this, action = std::move(action)] {
      requests.wait_for("watch=true");
      action();
    });
  }
  void set_ready(int ready) {
    client.patch_status(client.get<Gadget>(web),
                        [&](GadgetStatus& status) { status.ready_replicas = ready; });
  }

  LogRecorder requests;
  apiserver::ApiServer server{{.on_request = [this](const apiserver::ServedRequest& request) {
    Log(std::shared_ptr<LogSink>(std::shared_ptr<void>(), &requests)).info(request.target);
  }}};
  Client client{server.config()};
};

TEST_F(WaitConcurrency, EndsWithTheObjectWhenTheConditionHolds) {
  const auto later = once_watched([this] { set_ready(2); });
  const auto found = wait_for<Gadget>(client, web, "to be ready",
                                      [](const Gadget& gadget) { return gadget.status.ready_replicas == 2; });
  EXPECT_EQ(found->status.ready_replicas, 2);
}

TEST_F(WaitConcurrency, EndsWhenTheObjectAppearsAndWhenItGoes) {
  {
    const auto later = once_watched([this] { create_objects(client, {gadget("late")}); });
    wait_for<Gadget>(client, {"default", "late"}, Json::parse(R"({"spec":{"replicas":1}})"));
  }
  const auto later = once_watched([this] { client.remove<Gadget>({"default", "late"}); });
  wait_until_gone<Gadget>(client, {"default", "late"});
}

TEST_F(WaitConcurrency, OutlivesWatchesThatBreak) {
  server.inject({.verb = "watch", .count = 2, .drop = apiserver::FaultDrop::before});
  const auto later = once_watched([this] { set_ready(1); });
  wait_for<Gadget>(client, web, Json::parse(R"({"status":{"readyReplicas":1}})"));
}

TEST_F(WaitConcurrency, SaysWhatDiffersAndWhatWasSeen) {
  set_ready(1);
  const std::string message = message_of([this] {
    wait_for<Gadget>(client, web, Json::parse(R"({"status":{"readyReplicas":2}})"), {.timeout = 50ms});
  });
  EXPECT_THAT(
      message,
      HasSubstr("waited 0.05s for Gadget default/web to have "
                R"({"status":{"readyReplicas":2}}: status.readyReplicas: expected 2, found 1; it is)"));
  EXPECT_THAT(message, HasSubstr("\"image\": \"web:1\""));
  EXPECT_THAT(message, ::testing::Not(HasSubstr("managedFields")));
}

TEST_F(WaitConcurrency, SaysThatAnObjectDoesNotExistOrIsThereStill) {
  const auto never = [](const Gadget&) { return false; };
  EXPECT_EQ(message_of([&] {
              wait_for<Gadget>(client, {"default", "none"}, "to be ready", never, {.timeout = 20ms});
            }),
            "waited 0.02s for Gadget default/none to be ready: it does not exist");
  EXPECT_THAT(message_of([&] { wait_until_gone<Gadget>(client, web, {.timeout = 20ms}); }),
              HasSubstr("waited 0.02s for Gadget default/web to be gone: it is there still:"));
}

TEST_F(WaitConcurrency, SaysWhatTheServerRefuses) {
  server.inject({.verb = "get", .resource = "gadgets", .status = 403, .message = "not you"});
  EXPECT_THAT(message_of([&] { wait_until_gone<Gadget>(client, web, {.timeout = 20ms}); }),
              HasSubstr("not you"));
}

TEST_F(WaitConcurrency, WaitsForLists) {
  const auto later = once_watched([this] { create_objects(client, {gadget("db")}); });
  const auto both = [](const std::vector<Snapshot<Gadget>>& all) { return all.size() == 2; };
  EXPECT_THAT(wait_for_list<Gadget>(client, {.namespace_ = "default"}, "to have both", both), SizeIs(2));
  const auto three = [](const std::vector<Snapshot<Gadget>>& all) { return all.size() == 3; };
  EXPECT_THAT(message_of([&] {
                wait_for_list<Gadget>(client, {.namespace_ = "default"}, "to have three", three,
                                      {.timeout = 20ms});
              }),
              HasSubstr("waited 0.02s for the list of gadgets to have three: there are 2"));
}

TEST_F(WaitConcurrency, WaitsForEvents) {
  const auto later = once_watched([this] {
    client.create(
        core_v1::Event{.metadata = {.name = "web.1", .namespace_ = "default"},
                       .involved_object = {.name = "web", .kind = "Gadget", .namespace_ = "default"},
                       .message = "replica 2 is ready",
                       .reason = "RolledOut",
                       .type = "Normal"});
  });
  const auto event = wait_for_event(
      client, {.namespace_ = "default", .reason = "RolledOut", .name = "web", .message = "replica 2"});
  EXPECT_EQ(event->metadata.name, "web.1");
  EXPECT_EQ(message_of([&] { wait_for_event(client, {.type = "Warning"}, {.timeout = 20ms}); }),
            "waited 0.02s for an Event type=Warning: there are 1\n"
            "    Normal RolledOut Gadget default/web: replica 2 is ready");
}

TEST(LogRecorderConcurrency, WaitsForLinesAndShowsTheLastOnes) {
  const auto recorder = std::make_shared<LogRecorder>(LogLevel::info);
  const Log log = Log(recorder).with({{"controller", "demo"}});
  log.debug("not kept");
  log.warn("careful", {{"n", 3}, {"yes", true}, {"half", 0.5}});
  EXPECT_THAT(recorder->lines(), ElementsAre("WARN careful controller=demo n=3 yes=true half=0.5"));
  std::jthread writer([&log] { log.info("ready", {{"who", "web"}}); });
  EXPECT_THAT(recorder->wait_for("ready"), ElementsAre("INFO ready controller=demo who=web"));
  EXPECT_EQ(message_of([&] { recorder->wait_for("ready", 2, 10ms); }),
            "waited 0.01s for 2 log lines with \"ready\": there are 1; the last lines are:\n"
            "    WARN careful controller=demo n=3 yes=true half=0.5\n"
            "    INFO ready controller=demo who=web");
}

class RunningManagerConcurrency : public WaitConcurrency {
 protected:
  Manager manager{Client(server.config()), {.name = "test"}};
};

TEST_F(RunningManagerConcurrency, RunsUntilItIsStopped) {
  manager.add(rollout_controller());
  RunningManager running(manager);
  running.wait_until_synced();
  wait_for<Gadget>(client, web, Json::parse(R"({"status":{"readyReplicas":1}})"));
  running.stop();
}

TEST_F(RunningManagerConcurrency, NamesWhatIsNotSyncedAndWhy) {
  manager.add(rollout_controller());
  server.inject(
      {.verb = "list", .resource = "gadgets.test.evenkeel.dev", .status = 403, .message = "not you"});
  server.inject(
      {.verb = "watch", .resource = "gadgets.test.evenkeel.dev", .status = 403, .message = "not you"});
  RunningManager running(manager);
  requests.wait_for("gadgets?");
  const std::string message = message_of([&] { running.wait_until_synced(200ms); });
  EXPECT_THAT(message, HasSubstr("waited 0.2s for the manager's cache to read everything: gadgets "
                                 "(test.evenkeel.dev/v1): "));
  EXPECT_THAT(message, HasSubstr("not you"));
  running.stop();
}

TEST_F(RunningManagerConcurrency, ReportsWhatEndsTheManager) {
  manager.add_task("doomed", [](const std::stop_token&) { throw std::runtime_error("out of luck"); });
  RunningManager running(manager);
  EXPECT_THAT(message_of([&] { running.wait(); }), HasSubstr("out of luck"));
  running.stop();  // it has been notified
}

}  // namespace
}  // namespace evenkeel::testing
