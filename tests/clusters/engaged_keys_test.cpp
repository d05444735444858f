// SPDX-License-Identifier: Apache-2.0
// Keys, runs and followers of clusters that are away, leave, come back or were never synced.
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/clusters/cluster_set.hpp>
#include <evenkeel/controller/explanation.hpp>

#include "clusters/fleet.hpp"

namespace evenkeel::engaged_keys {
namespace {

using namespace std::chrono_literals;
using fleet::Door;
using fleet::Fleet;
using fleet::Runs;

class EngagedKeysConcurrency : public ::testing::Test {
 protected:
  ControllerBuilder<Gadget> records_runs() {
    return controller_for<Gadget>([this](Context& context, const Gadget&) {
             runs.add(context.request());
             fleet.home.happenings->note();
           })
        .runs_in(RunsIn::engaged_clusters);
  }
  bool is(Manager& manager, const std::string& name, ClusterState state) {
    const auto status = manager.clusters().status(name);
    return status && status->state == state;
  }
  /// Waits until the queue has nothing of this key, be it that it ran or that it was dropped.
  void wait_until_gone(Controller& controller, const ObjectKey& key) {
    fleet.wait_until([&] {
      fleet.home.happenings->note();
      return controller.explain(key).queue_state == "absent";
    });
  }

  Fleet fleet;
  Runs runs;
};

// ---- Keys

TEST_F(EngagedKeysConcurrency, AKeyWithoutAClusterIsDroppedByAControllerOfEngagedClusters) {
  fleet.home.create_gadget("web");
  fleet.at("eu").create_gadget("web");
  const KeyChannel channel;
  Manager manager(fleet.home.client(), fleet.options());
  Controller& controller = manager.add(records_runs().source("calls", channel));
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.wait_until([&] { return runs.of("eu:default/web") > 0; });
  controller.enqueue({"default", "web"});
  wait_until_gone(controller, {"default", "web"});
  channel.push({"default", "web"});
  wait_until_gone(controller, {"default", "web"});
  EXPECT_EQ(runs.of("default/web"), 0);
  const std::string verdict = controller.explain({"default", "web"}).verdict;
  EXPECT_NE(verdict.find("the controller does not run in the home cluster"), std::string::npos) << verdict;
  const int before = runs.of("eu:default/web");
  channel.push({"default", "web"}, {.cluster = "eu"});
  fleet.wait_until([&] { return runs.of("eu:default/web") > before; });
  running.stop();
}

TEST_F(EngagedKeysConcurrency, KeysOfAClusterThatNeverAnsweredWaitForIt) {
  fleet.at("eu").create_gadget("web");
  fleet.break_off("eu");
  Manager manager(fleet.home.client(), fleet.options());
  Controller& controller = manager.add(records_runs());
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.wait_until([&] { return is(manager, "eu", ClusterState::away); });
  controller.enqueue({"default", "web"}, {.cluster = "eu"});
  fleet.wait_until([&] {
    fleet.home.happenings->note();
    return manager.clusters().status("eu")->deferred > 0;
  });
  fleet.wait_until([&] {
    fleet.home.happenings->note();
    return controller.explain({"eu:default", "web"}).queue_state == "waiting";
  });
  EXPECT_EQ(manager.clusters().status("eu")->deferred, 1U) << "nobody asks again before the cluster answers";
  EXPECT_EQ(runs.in("eu"), 0);
  fleet.at("eu").core->clear_faults();
  fleet.wait_until([&] { return runs.in("eu") > 0; });
  running.stop();
}

TEST_F(EngagedKeysConcurrency, AKeyThatIsAddedBeforeTheFirstListsRunsAfterThem) {
  const auto fault =
      fleet.at("eu").core->inject({.resource = "gadgets", .status = 403, .message = "not yet"});
  Manager manager(fleet.home.client(), fleet.options());
  std::atomic<int> absent = 0;
  Controller& controller = manager.add(controller_for<Gadget>([&](Context&, const Request& request) {
                                         EXPECT_EQ(request.str(), "eu:default/gone");
                                         ++absent;
                                         fleet.home.happenings->note();
                                       }).runs_in(RunsIn::engaged_clusters));
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.wait_until([&] { return manager.clusters().find("eu") != nullptr; });
  controller.enqueue({"default", "gone"}, {.cluster = "eu"});
  fleet.wait_until([&] {
    fleet.home.happenings->note();
    return controller.explain({"eu:default", "gone"}).queue_state == "waiting";
  });
  EXPECT_EQ(absent.load(), 0);
  EXPECT_EQ(manager.clusters().status("eu")->reconciles, 0U) << "what did not begin is not counted";
  fleet.at("eu").core->remove_fault(fault);
  fleet.wait_until([&] { return absent.load() > 0; });
  running.stop();
}

// A run never has the handle of the cluster that had its name before.
TEST_F(EngagedKeysConcurrency, ARunHasTheHandleOfTheClusterInWhichItMayRun) {
  fleet.at("eu").create_gadget("web");
  std::atomic<int> strangers = 0;
  Manager manager(fleet.home.client(), fleet.options());
  Controller& controller =
      manager.add(controller_for<Gadget>([&](Context& context, const Gadget&) {
                    const auto engaged = manager.clusters().find("eu");
                    if (!engaged || engaged->client().config().server != context.client().config().server)
                      ++strangers;
                    runs.add(context.request());
                    fleet.home.happenings->note();
                  }).with({.workers = 4, .runs_in = RunsIn::engaged_clusters}));
  Running running(manager);
  for (int version = 1; version <= 20; ++version) {
    const int before = runs.in("eu");
    const std::string number = std::to_string(version);
    manager.clusters().engage(
        {.name = "eu", .config = {.server = "http://in-process/" + number}, .version = number});
    fleet.wait_until([&] {
      controller.enqueue({"default", "web"}, {.cluster = "eu"});
      return runs.in("eu") > before;
    });
  }
  EXPECT_EQ(strangers.load(), 0);
  running.stop();
}

// ---- Timers

TEST_F(EngagedKeysConcurrency, TimersLookOnlyAtClustersWhoseWatchesHaveTheirFirstLists) {
  fleet.at("us");
  const auto fault =
      fleet.at("eu").core->inject({.resource = "gadgets", .status = 403, .message = "not yet"});
  Mutex mutex;
  std::map<const Cache*, int> looks;
  const auto looks_at = [&](const std::shared_ptr<Cluster>& cluster) {
    MutexLock lock(mutex);
    return looks[&cluster->cache()];
  };
  Manager manager(fleet.home.client(), fleet.options());
  manager.add(records_runs().every(1ms, [&](Cache& cache) {
    {
      MutexLock lock(mutex);
      ++looks[&cache];
    }
    fleet.home.happenings->note();
    return std::vector<ObjectKey>();
  }));
  for (const char* name : {"eu", "us"}) manager.clusters().engage(Fleet::described(name));
  Running running(manager);
  fleet.wait_until([&] { return manager.clusters().find("eu") && manager.clusters().find("us"); });
  const auto eu = manager.clusters().find("eu");
  const auto us = manager.clusters().find("us");
  const int before = looks_at(us);
  fleet.wait_until([&] { return looks_at(us) >= before + 3; });
  EXPECT_EQ(looks_at(eu), 0);
  fleet.at("eu").core->remove_fault(fault);
  fleet.wait_until([&] { return looks_at(eu) > 0; });
  running.stop();
}

// ---- Followers and the end

TEST_F(EngagedKeysConcurrency, StopCallbacksOfReconcilesMayAskTheSet) {
  fleet.at("eu").create_gadget("web");
  Door door(fleet.home.happenings);
  std::atomic<bool> found = false;
  Manager manager(fleet.home.client(), fleet.options());
  manager.add(controller_for<Gadget>([&](Context& context, const Gadget&) {
                const std::stop_callback ask(context.stop(), [&] {
                  found = manager.clusters().find("eu") != nullptr;
                  door.open();
                });
                door.wait({});  // a reconcile that returned would take its callback with it
              }).runs_in(RunsIn::engaged_clusters));
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.wait_until([&] { return door.waiting() == 1; });
  manager.clusters().stop({});
  EXPECT_TRUE(found.load());
  running.stop();
}

class BrokenFollower final : public ClusterFollower {
 public:
  void on_engaged(const std::shared_ptr<Cluster>&) override { throw std::runtime_error("no room"); }
  void on_leaving(const Cluster&) noexcept override { ++leavings; }
  void on_returned(const Cluster&) noexcept override {}
  std::atomic<int> leavings = 0;
};

TEST_F(EngagedKeysConcurrency, AFollowerThatFailsLaterIsToldToLeaveTheCluster) {
  fleet.at("eu").create_gadget("web");
  Manager manager(fleet.home.client(), fleet.options());
  manager.add(records_runs());
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.wait_until([&] { return runs.in("eu") > 0; });
  BrokenFollower follower;
  manager.clusters().add_follower(follower);
  fleet.home.wait_for_line("a controller cannot follow a cluster cluster=eu error=no room");
  EXPECT_EQ(follower.leavings.load(), 1);
  EXPECT_TRUE(is(manager, "eu", ClusterState::engaged)) << "for the others";
  manager.clusters().remove_follower(follower);
  running.stop();
}

TEST_F(EngagedKeysConcurrency, AFollowerThatFailsAtTheStartFailsTheCluster) {
  Manager manager(fleet.home.client(), fleet.options());
  manager.add(records_runs());
  BrokenFollower follower;
  manager.clusters().add_follower(follower);
  fleet.at("eu");
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.wait_until([&] { return is(manager, "eu", ClusterState::failed); });
  EXPECT_EQ(follower.leavings.load(), 1);
  EXPECT_EQ(manager.clusters().status("eu")->problem, "no room");
  manager.clusters().remove_follower(follower);
  running.stop();
}

// ---- Log lines

TEST_F(EngagedKeysConcurrency, ProblemsOfEventsNameTheCluster) {
  Manager manager(fleet.home.client(), fleet.options());
  manager.add(records_runs()
                  .watches<ConfigMap>([](const WireObject& map) -> std::vector<ObjectKey> {
                    if (map.name() == "broken") throw std::runtime_error("no idea");
                    return {{"default", ""}};
                  })
                  .filter([](const ObjectEvent& event) -> bool {
                    if (event.object->name() == "odd") throw std::runtime_error("no opinion");
                    return true;
                  })
                  .every(1ms, [](Cache&) -> std::vector<ObjectKey> { throw std::runtime_error("no time"); }));
  for (const char* name : {"broken", "odd"}) {
    const http::Response response = fleet.at("eu").call(
        http::Method::post, fleet.home.config_maps,
        Json::object({{"apiVersion", "v1"},
                      {"kind", "ConfigMap"},
                      {"metadata", Json::object({{"name", name}, {"namespace", "default"}})}})
            .dump());
    ASSERT_EQ(response.status, 201) << response.body;
  }
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  const std::string where = " controller=gadget cluster=eu ";
  for (const std::string& line :
       {"a predicate failed; the event goes through" + where + "kind=ConfigMap object=default/odd error=no",
        "a mapping returned a key without a name; it is refused" + where + "kind=ConfigMap",
        "an event could not be mapped to keys; it is mapped again later" + where + "kind=ConfigMap",
        "a timer found no keys" + where + "source=timer error=no time"}) {
    fleet.home.wait_for_line(line);
  }
  running.stop();
}

}  // namespace
}  // namespace evenkeel::engaged_keys
