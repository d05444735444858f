// SPDX-License-Identifier: Apache-2.0
// Managers that follow several clusters, each an API server core in this process.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/clusters/cluster_set.hpp>
#include <evenkeel/controller/explanation.hpp>
#include <evenkeel/metrics/text.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/serve/server.hpp>
#include <evenkeel/testing/harness.hpp>

#include "../support/await.hpp"
#include "clusters/fleet.hpp"
#include "manager/clusters_part.hpp"

namespace evenkeel::cluster_set {
namespace {

using namespace std::chrono_literals;
using fleet::Door;
using fleet::Fleet;
using fleet::Runs;

class ClusterSetConcurrency : public ::testing::Test {
 protected:
  /// Marks each Gadget as ready and leaves a ConfigMap that names the cluster.
  ControllerBuilder<Gadget> marks_gadgets() {
    return controller_for<Gadget>([this](Context& context, const Gadget& gadget) {
             runs.add(context.request());
             ConfigMap map{.metadata = {.name = gadget.metadata.name}};
             map.data["cluster"] = std::string(context.cluster());
             context.apply(map);
             context.patch_status(gadget, [](GadgetStatus& status) { status.ready_replicas = 1; });
           })
        .owns<ConfigMap>()
        .runs_in(RunsIn::engaged_clusters);
  }
  bool is_marked(const std::string& cluster, const std::string& name) {
    const Json map = fleet.at(cluster).config_map(name);
    return map.at({"data", "cluster"}) == Json(cluster) &&
           fleet.at(cluster).gadget(name).find("status") != nullptr;
  }
  static std::string explanation(const Manager& manager, std::string_view rest) {
    const http::Request request;
    const http::Target target;
    return manager.answer_explain({.request = request, .target = target, .rest = rest}).body;
  }
  static ClusterState state(Manager& manager, const std::string& name) {
    const auto status = manager.clusters().status(name);
    return status ? status->state : ClusterState::failed;
  }

  Fleet fleet;
  Runs runs;
};

TEST_F(ClusterSetConcurrency, ReconcilesTheObjectsOfEachClusterThere) {
  for (const char* name : {"eu", "us", "asia"}) fleet.at(name).create_gadget("web");
  fleet.home.create_gadget("at-home");
  Manager manager(fleet.home.client(), fleet.options());
  manager.add(marks_gadgets());
  for (const char* name : {"eu", "us", "asia"}) manager.clusters().engage(Fleet::described(name));
  Running running(manager);
  fleet.wait_until(
      [&] { return is_marked("eu", "web") && is_marked("us", "web") && is_marked("asia", "web"); });
  EXPECT_EQ(fleet.home.config_map("web"), Json());
  EXPECT_EQ(runs.of("default/at-home"), 0);
  running.stop();
}

TEST_F(ClusterSetConcurrency, AllClustersIncludeTheHomeCluster) {
  fleet.at("eu").create_gadget("web");
  fleet.home.create_gadget("web");
  Manager manager(fleet.home.client(), fleet.options());
  Controller& controller = manager.add(marks_gadgets().runs_in(RunsIn::all_clusters));
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.wait_until([&] { return runs.of("default/web") > 0 && is_marked("eu", "web"); });
  fleet.wait_until([&] { return fleet.home.config_map("web").is_object(); });
  EXPECT_EQ(controller.objects(), 2U);
  running.stop();
}

TEST_F(ClusterSetConcurrency, ClustersJoinAndLeaveWhileTheManagerRuns) {
  fleet.at("eu").create_gadget("web");
  fleet.at("us").create_gadget("web");
  Manager manager(fleet.home.client(), fleet.options());
  Controller& controller = manager.add(marks_gadgets());
  Running running(manager);
  manager.clusters().engage(Fleet::described("eu"));
  fleet.wait_until([&] { return is_marked("eu", "web"); });
  manager.clusters().engage(Fleet::described("us"));
  fleet.wait_until([&] { return is_marked("us", "web"); });

  manager.clusters().disengage("eu");
  fleet.wait_until([&] { return !manager.clusters().status("eu"); });
  EXPECT_EQ(manager.clusters().find("eu"), nullptr);
  const int before = runs.in("eu");
  fleet.at("eu").create_gadget("late");
  fleet.at("us").create_gadget("late");
  fleet.wait_until([&] { return is_marked("us", "late"); });
  EXPECT_EQ(runs.in("eu"), before);
  EXPECT_EQ(controller.objects(), 2U);
  EXPECT_EQ(
      explanation(manager, "gadget/eu:default/web").find("cluster eu is not engaged") != std::string::npos,
      true);

  manager.clusters().engage(Fleet::described("eu"));
  fleet.wait_until([&] { return is_marked("eu", "late"); });
  running.stop();
}

TEST_F(ClusterSetConcurrency, AControllerThatIsAddedLaterFollowsTheEngagedClusters) {
  fleet.at("eu").create_gadget("web");
  Manager manager(fleet.home.client(), fleet.options());
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.wait_until([&] { return manager.clusters().find("eu") != nullptr; });
  manager.add(marks_gadgets());
  fleet.wait_until([&] { return is_marked("eu", "web"); });
  running.stop();
}

TEST_F(ClusterSetConcurrency, AClusterThatLeavesWaitsForItsRunsAndDropsItsKeys) {
  for (int i = 0; i < 5; ++i) fleet.at("eu").create_gadget("web-" + std::to_string(i));
  Door door(fleet.home.happenings);
  std::atomic<int> runs_that_began = 0;
  Manager manager(fleet.home.client(), fleet.options());
  Controller& controller = manager.add(controller_for<Gadget>([&](Context& context, const Gadget&) {
                                         ++runs_that_began;
                                         door.wait(context.stop());
                                         throw std::runtime_error("it was told to fail");
                                       }).runs_in(RunsIn::engaged_clusters));
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.wait_until([&] { return door.waiting() == 1; });
  manager.clusters().disengage("eu");
  fleet.wait_until([&] { return state(manager, "eu") == ClusterState::leaving; });
  EXPECT_EQ(manager.clusters().status("eu")->running, 1U);
  door.open();
  fleet.wait_until([&] { return !manager.clusters().status("eu"); });
  fleet.wait_until([&] {
    fleet.home.happenings->note();
    return controller.queue_size() == 0;
  });
  EXPECT_EQ(runs_that_began.load(), 1);
  const Explanation web = controller.explain({"eu:default", "web-0"});
  EXPECT_EQ(web.queue_state, "absent");
  running.stop();
}

TEST_F(ClusterSetConcurrency, RunsOfAClusterThatLeavesAreCancelledAfterTheTimeout) {
  fleet.at("eu").create_gadget("web");
  Door door(fleet.home.happenings);
  ManagerOptions options = fleet.options();
  options.clusters.drain_timeout = 1ms;
  Manager manager(fleet.home.client(), options);
  manager.add(controller_for<Gadget>([&](Context& context, const Gadget&) {
                door.wait(context.stop());
              }).runs_in(RunsIn::engaged_clusters));
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.wait_until([&] { return door.waiting() == 1; });
  manager.clusters().disengage("eu");
  fleet.wait_until([&] { return !manager.clusters().status("eu"); });
  EXPECT_EQ(door.waiting(), 0);
  running.stop();
}

TEST_F(ClusterSetConcurrency, AClusterThatIsAwayDegradesOnlyItself) {
  fleet.at("eu").create_gadget("web");
  fleet.at("us").create_gadget("web");
  Manager manager(fleet.home.client(), fleet.options());
  manager.add(marks_gadgets());
  for (const char* name : {"eu", "us"}) manager.clusters().engage(Fleet::described(name));
  Running running(manager);
  fleet.wait_until([&] { return is_marked("eu", "web") && is_marked("us", "web"); });
  fleet.break_off("eu");
  fleet.wait_until([&] { return state(manager, "eu") == ClusterState::away; });

  fleet.at("us").create_gadget("other");
  fleet.wait_until([&] { return is_marked("us", "other"); });
  EXPECT_EQ(manager.answer_probe("/readyz").status, 200);
  EXPECT_EQ(manager.answer_probe("/healthz").status, 200);
  const std::string why = explanation(manager, "gadget/eu:default/web");
  EXPECT_NE(why.find("cluster eu is away: "), std::string::npos) << why;

  fleet.at("eu").create_gadget("other");
  fleet.at("eu").core->clear_faults();
  fleet.wait_until([&] { return is_marked("eu", "other"); });
  EXPECT_EQ(state(manager, "eu"), ClusterState::engaged);
  running.stop();
}

/// Counts probes; those of a server that hangs end only when they are cancelled.
struct Probes {
  const bool hang;
  std::atomic<int> sent = 0;
  std::atomic<int> open = 0;
};

class ProbedTransport final : public http::Transport {
 public:
  ProbedTransport(std::shared_ptr<http::Transport> inner, std::shared_ptr<Happenings> happenings,
                  Probes& probes)
      : inner_(std::move(inner)), happenings_(std::move(happenings)), probes_(probes) {}
  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override {
    if (request.target != "/version") return inner_->send(std::move(request), std::move(completion));
    ++probes_.sent;
    happenings_->note();
    if (!probes_.hang) return inner_->send(std::move(request), std::move(completion));
    ++probes_.open;
    return std::make_shared<HangingCall>(std::move(completion), probes_);
  }
  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    return inner_->stream(std::move(request), std::move(handler));
  }

 private:
  class HangingCall final : public http::Call {
   public:
    HangingCall(http::Completion completion, Probes& probes)
        : completion_(std::move(completion)), probes_(probes) {}
    void cancel() noexcept override {
      --probes_.open;
      if (const auto completion = std::exchange(completion_, nullptr))
        completion(std::make_exception_ptr(Cancelled("cancelled")));
    }

   private:
    http::Completion completion_;
    Probes& probes_;
  };

  const std::shared_ptr<http::Transport> inner_;
  const std::shared_ptr<Happenings> happenings_;
  Probes& probes_;
};

// Regression: a probe was sent beside those without an answer, and only the last one was cancelled at the
// end.
TEST_F(ClusterSetConcurrency, AClusterThatHangsIsProbedOnceAtATime) {
  Probes hanging{.hang = true};
  Probes failing{.hang = false};
  for (const char* name : {"eu", "us"}) fleet.at(name).create_gadget("web");
  ManagerOptions options = fleet.options();
  options.clusters.make_client = [&, make = options.clusters.make_client](
                                     const ClusterDescription& description, ClientOptions client) {
    client.wrap_transport = [&, outer = client.wrap_transport,
                             eu = description.name == "eu"](std::shared_ptr<http::Transport> inner) {
      return outer(
          std::make_shared<ProbedTransport>(std::move(inner), fleet.home.happenings, eu ? hanging : failing));
    };
    return make(description, std::move(client));
  };
  Manager manager(fleet.home.client(), options);
  manager.add(marks_gadgets());
  for (const char* name : {"eu", "us"}) manager.clusters().engage(Fleet::described(name));
  Running running(manager);
  fleet.wait_until([&] { return is_marked("eu", "web") && is_marked("us", "web"); });
  for (const char* name : {"eu", "us"}) fleet.break_off(name);
  fleet.wait_until([&] { return hanging.sent > 0; });
  // Probes of both become due on the same thread and at the same intervals.
  const int before = failing.sent;
  fleet.wait_until([&] { return failing.sent >= before + 8; });
  EXPECT_EQ(hanging.sent.load(), 1);
  for (const char* name : {"eu", "us"}) manager.clusters().disengage(name);
  fleet.wait_until([&] { return manager.clusters().status().empty(); });
  EXPECT_EQ(hanging.open.load(), 0);
  running.stop();
}

TEST_F(ClusterSetConcurrency, KeysOfAClusterThatIsAwayRunNoReconcilesAndRunWhenItIsBack) {
  fleet.at("eu").create_gadget("web");
  Manager manager(fleet.home.client(), fleet.options());
  Controller& controller = manager.add(marks_gadgets());
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.wait_until([&] { return is_marked("eu", "web"); });
  fleet.break_off("eu");
  fleet.wait_until([&] { return state(manager, "eu") == ClusterState::away; });
  const int before = runs.in("eu");
  controller.enqueue({"default", "web"}, {.cluster = "eu"});
  fleet.wait_until([&] { return manager.clusters().status("eu")->deferred > 0; });
  EXPECT_EQ(runs.in("eu"), before);
  fleet.at("eu").core->clear_faults();
  fleet.wait_until([&] { return runs.in("eu") > before; });
  running.stop();
}

TEST_F(ClusterSetConcurrency, NothingOfAClusterRunsBeforeAllItsWatchesHaveTheirFirstLists) {
  fleet.at("eu").create_gadget("web");
  fleet.at("us").create_gadget("web");
  const auto fault =
      fleet.at("eu").core->inject({.resource = "configmaps", .status = 403, .message = "not yet"});
  Manager manager(fleet.home.client(), fleet.options());
  manager.add(marks_gadgets());
  for (const char* name : {"eu", "us"}) manager.clusters().engage(Fleet::described(name));
  Running running(manager);
  fleet.wait_until([&] { return is_marked("us", "web"); });
  fleet.wait_until([&] { return manager.clusters().status("eu")->objects == 1; });
  EXPECT_EQ(runs.in("eu"), 0);
  EXPECT_FALSE(manager.clusters().status("eu")->synced);
  const std::string why = explanation(manager, "gadget/eu:default/web");
  EXPECT_NE(why.find("configmaps (v1)"), std::string::npos) << why;
  EXPECT_EQ(manager.answer_probe("/readyz").status, 200);
  fleet.at("eu").core->remove_fault(fault);
  fleet.wait_until([&] { return is_marked("eu", "web"); });
  running.stop();
}

TEST_F(ClusterSetConcurrency, ClustersTakeTurnsAndNoneOccupiesAllWorkers) {
  for (int i = 0; i < 20; ++i) fleet.at("eu").create_gadget("web-" + std::to_string(i));
  fleet.at("us").create_gadget("web");
  Door door(fleet.home.happenings);
  std::atomic<int> in_us = 0;
  Manager manager(fleet.home.client(), fleet.options());
  manager.add(controller_for<Gadget>([&](Context& context, const Gadget&) {
                fleet.home.happenings->note();
                if (context.cluster() == "eu") door.wait(context.stop());
                if (context.cluster() == "us") ++in_us;
                fleet.home.happenings->note();
              }).with({.workers = 4, .runs_in = RunsIn::engaged_clusters}));
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.wait_until([&] { return door.waiting() == 2; });
  manager.clusters().engage(Fleet::described("us"));
  fleet.wait_until([&] { return in_us.load() == 1; });
  EXPECT_EQ(door.waiting(), 2);
  door.open();
  running.stop();
}

// The event of the own write comes before that of the second object; one that were not recognized would run
// the first object before the second.
TEST_F(ClusterSetConcurrency, OwnWritesInAClusterDoNotShortenABackOff) {
  fleet.at("eu").create_gadget("web");
  Manager manager(fleet.home.client(), fleet.options());
  manager.add(controller_for<Gadget>([&](Context& context, const Gadget& gadget) {
                runs.add(context.request());
                if (gadget.metadata.name != "web") return;
                context.patch_status(gadget, [](GadgetStatus& status) { status.ready_replicas = 7; });
                throw std::runtime_error("not done");
              }).with({.runs_in = RunsIn::engaged_clusters, .limiter = [] {
                         return exponential(1h, 1h).limiter<RequestKey>();
                       }}));
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.home.wait_for_line("reconcile failed");
  fleet.at("eu").create_gadget("other");
  fleet.wait_until([&] { return runs.of("eu:default/other") == 1; });
  EXPECT_EQ(runs.of("eu:default/web"), 1);
  running.stop();
}

TEST_F(ClusterSetConcurrency, EventsAreWrittenInTheClusterOfTheirObject) {
  fleet.at("eu").create_gadget("web");
  Manager manager(fleet.home.client(), fleet.options());
  manager.add(controller_for<Gadget>([&](Context& context, const Gadget& gadget) {
                context.event(gadget, EventSeverity::normal, "Seen", "it is there");
              }).runs_in(RunsIn::engaged_clusters));
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  const std::string events_of = "/apis/events.k8s.io/v1/namespaces/default/events";
  fleet.wait_until([&] { return fleet.at("eu").get(events_of)["items"].size() == 1; });
  EXPECT_EQ(fleet.home.get(events_of)["items"].size(), 0U);
  running.stop();
}

// Regression: the cluster left after EventRecorderOptions::flush_limit, without the number of the series.
TEST_F(ClusterSetConcurrency, AClusterThatLeavesWritesTheNumbersOfItsSeries) {
  ManagerOptions options = fleet.options();
  options.clusters.events.flush_limit = 24h;
  fleet.at("eu");
  Manager manager(fleet.home.client(), options);
  manager.add(marks_gadgets());
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.wait_until([&] { return manager.clusters().find("eu") != nullptr; });
  const auto record = [&] {
    const Gadget web{.metadata = {.name = "web", .namespace_ = "default"}, .spec = {}, .status = {}};
    manager.clusters().find("eu")->events().event(web, EventSeverity::normal, "Seen", "it is there");
  };
  const auto number = [&] {
    const Json all = fleet.at("eu").get("/apis/events.k8s.io/v1/namespaces/default/events")["items"];
    if (all.size() == 0) return std::int64_t{0};
    return all[0].at({"series", "count"}).integer_or(1);
  };
  record();
  fleet.wait_until([&] { return number() == 1; });
  record();
  fleet.wait_until([&] { return number() == 2; });
  for (int i = 0; i < 3; ++i) record();
  manager.clusters().disengage("eu");
  fleet.wait_until([&] { return !manager.clusters().status("eu"); });
  EXPECT_EQ(number(), 5);
  running.stop();
}

TEST_F(ClusterSetConcurrency, LogsMetricsAndExplanationsNameTheCluster) {
  fleet.at("eu").create_gadget("web");
  Manager manager(fleet.home.client(), fleet.options());
  manager.add(controller_for<Gadget>([&](Context& context, const Gadget&) {
                context.log().info("seen");
              }).runs_in(RunsIn::engaged_clusters));
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.home.wait_for_line("seen controller=gadget cluster=eu object=default/web");
  fleet.wait_until([&] {
    fleet.home.happenings->note();
    return manager.clusters().status("eu")->reconciles == 1;
  });
  PrometheusText text;
  manager.collect(text);
  for (const char* line :
       {"evenkeel_cluster_state{cluster=\"eu\",state=\"engaged\"} 1\n",
        "evenkeel_cluster_synced{cluster=\"eu\"} 1\n", "evenkeel_cluster_objects{cluster=\"eu\"} 1\n",
        "evenkeel_cluster_reconciles_total{cluster=\"eu\"} 1\n",
        "evenkeel_cluster_reconcile_errors_total{cluster=\"eu\"} 0\n"}) {
    EXPECT_NE(text.str().find(line), std::string::npos) << line << text.str();
  }
  const std::string why = explanation(manager, "gadget/eu:default/web");
  EXPECT_NE(why.find("eu:default/web"), std::string::npos) << why;
  EXPECT_EQ(detail::clusters_json(manager.clusters().status()).dump(),
            R"([{"cluster":"eu","errors":0,"objects":1,"problem":"","reconciles":1,"running":0,)"
            R"("state":"engaged","synced":true,"watches":1}])");
  running.stop();
}

TEST_F(ClusterSetConcurrency, KeysAndTimersNameTheirCluster) {
  fleet.at("eu").create_gadget("web");
  Manager manager(fleet.home.client(), fleet.options());
  Controller& controller = manager.add(controller_for<Gadget>([&](Context& context, const Gadget&) {
                                         runs.add(context.request());
                                         fleet.home.happenings->note();
                                       })
                                           .every(1ms)
                                           .runs_in(RunsIn::engaged_clusters));
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.wait_until([&] { return runs.of("eu:default/web") >= 3; });
  controller.enqueue({"default", "web"}, {.cluster = "nowhere"});
  fleet.wait_until([&] { return controller.queue_size() == 0 && runs.of("eu:default/web") >= 5; });
  EXPECT_EQ(runs.size(), 1U);
  running.stop();
}

TEST_F(ClusterSetConcurrency, WritesInAClusterDependOnTheLeadershipAtHome) {
  fleet.at("eu").create_gadget("web");
  ManagerOptions options = fleet.options();
  options.election = ElectionOptions{.name = "op", .namespace_ = "default"};
  options.election_client = fleet.home.client();
  Manager manager(fleet.home.client(), options);
  std::atomic<int> guarded = 0;
  manager.add(controller_for<Gadget>([&](Context& context, const Gadget&) {
                if (context.client().call_options().write_guard != nullptr) ++guarded;
                fleet.home.happenings->note();
              }).runs_in(RunsIn::engaged_clusters));
  manager.clusters().engage(Fleet::described("eu"));
  Running running(manager);
  fleet.wait_until([&] { return guarded.load() > 0; });
  EXPECT_TRUE(manager.is_leader());
  running.stop();
}

TEST_F(ClusterSetConcurrency, AClusterThatCannotBeEngagedIsReportedAndReplaced) {
  Manager manager(fleet.home.client(), fleet.options());
  manager.add(marks_gadgets());
  Running running(manager);
  manager.clusters().engage({.name = "asia", .config = {.server = "no url"}, .version = "1"});
  fleet.wait_until(
      [&] { return state(manager, "asia") == ClusterState::failed && manager.clusters().status("asia"); });
  EXPECT_FALSE(manager.clusters().status("asia")->problem.empty());
  EXPECT_EQ(manager.clusters().find("asia"), nullptr);
  fleet.at("asia").create_gadget("web");
  manager.clusters().engage({.name = "asia", .config = {.server = "http://in-process"}, .version = "2"});
  fleet.wait_until([&] { return is_marked("asia", "web"); });
  running.stop();
}

// The writer of a kubeconfig selects the API server, and thereby what it sends.
TEST_F(ClusterSetConcurrency, AClusterThatIsTooLargeFailsAndTheOthersRun) {
  for (const bool at_first : {true, false}) {
    SCOPED_TRACE(at_first ? "in its list" : "in its watch");
    const std::string name = at_first ? "large" : "grows";
    ManagerOptions options = fleet.options();
    options.clusters.max_bytes = 64u << 10;
    Manager manager(fleet.home.client(), std::move(options));
    manager.add(marks_gadgets());
    const auto fill = [&] {
      for (int i = 0; i < 40; ++i)
        fleet.at(name).create_gadget("g" + std::to_string(i), 1, std::string(4000, 'x'));
    };
    if (fleet.at("us").gadget("web").is_null()) fleet.at("us").create_gadget("web");
    fleet.at(name).create_gadget("web");
    if (at_first) fill();
    Running running(manager);
    manager.clusters().engage(Fleet::described("us"));
    manager.clusters().engage(Fleet::described(name));
    if (!at_first) {
      fleet.wait_until([&] { return is_marked(name, "web"); });
      fill();
    }
    tests::await("the failure", [&] {
      const auto status = manager.clusters().status(name);
      return status && status->state == ClusterState::failed && manager.clusters().find(name) == nullptr;
    });
    EXPECT_EQ(manager.clusters().status(name)->problem, "its objects take more than 65536 bytes of memory");
    EXPECT_EQ(manager.clusters().status(name)->bytes, 0u);
    EXPECT_EQ(manager.clusters().blocked_reason(name),
              "cluster " + name + " is failed: its objects take more than 65536 bytes of memory");
    fleet.wait_until([&] { return is_marked("us", "web"); });
    EXPECT_EQ(state(manager, "us"), ClusterState::engaged);
    for (int i = 0; i < 40; ++i) fleet.at(name).remove(fleet.at(name).gadgets + "/g" + std::to_string(i));
    fleet.at(name).create_gadget("later");
    ClusterDescription smaller = Fleet::described(name);
    smaller.version = "2";
    manager.clusters().engage(std::move(smaller));
    fleet.wait_until([&] { return is_marked(name, "later"); });
    EXPECT_EQ(state(manager, name), ClusterState::engaged);
    running.stop();
  }
}

TEST_F(ClusterSetConcurrency, ClustersDoNotNeedAThreadEach) {
  const auto threads = [] {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
      count += entry.exists() ? 1 : 0;
    return count;
  };
  Manager manager(fleet.home.client(), fleet.options());
  manager.add(marks_gadgets());
  Running running(manager);
  manager.clusters().engage({.name = "first", .config = {.server = "http://127.0.0.1:9"}, .version = "1"});
  fleet.wait_until([&] { return state(manager, "first") == ClusterState::away; });
  const std::size_t before = threads();
  for (int i = 0; i < 100; ++i)
    manager.clusters().engage(
        {.name = "far-" + std::to_string(i), .config = {.server = "http://127.0.0.1:9"}, .version = "1"});
  fleet.wait_until([&] {
    const auto all = manager.clusters().status();
    return all.size() == 101 && std::all_of(all.begin(), all.end(), [](const ClusterStatus& one) {
             return one.state == ClusterState::away;
           });
  });
  EXPECT_EQ(threads(), before);
  running.stop();
}

TEST(ClusterSet, InTheHarnessTheOnlyClusterIsTheFollowedOne) {
  testing::Harness harness;
  harness.add(controller_for<Gadget>([](Context& context, const Gadget& gadget) {
                EXPECT_EQ(context.cluster(), "");
                context.patch_status(gadget, [](GadgetStatus& status) { status.ready_replicas = 1; });
              }).runs_in(RunsIn::engaged_clusters));
  harness.create({Gadget{.metadata = {.name = "web", .namespace_ = "default"}, .spec = {}, .status = {}}});
  EXPECT_TRUE(harness.settle());
  EXPECT_EQ(harness.get<Gadget>({"default", "web"})->status.ready_replicas, 1);
}

TEST(ClusterSet, RefusesNamesThatCannotBeShown) {
  ClusterSet set;
  for (const char* name : {"", "a/b", "a:b", "-a", "a."}) {
    try {
      set.engage({.name = name});
      ADD_FAILURE() << name;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(error.what(),
                "the name of a cluster, \"" + std::string(name) +
                    "\", must be up to 253 letters, digits, '-', '_' and '.', the first and the "
                    "last a letter or digit");
    }
  }
}

TEST(ClusterSet, AControllerRefusesToRunNothingInACluster) {
  const World world;
  Manager manager(world.client(), world.options());
  try {
    manager.add(controller_for<Gadget>([](Context&, const Gadget&) {
                }).with({.runs_in = RunsIn::engaged_clusters, .per_cluster = 0}));
    ADD_FAILURE();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "controller gadget: per_cluster must be at least 1");
  }
}

TEST(ClusterSet, RefusesOptionsOutOfBounds) {
  const auto refused = [](ClusterSetOptions options) -> std::string {
    try {
      const ClusterSet set(std::move(options));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(refused({.threads = 0}), "ClusterSetOptions: threads must be at least 1");
  EXPECT_EQ(refused({.blocking_threads = 0}), "ClusterSetOptions: blocking_threads must be at least 1");
  EXPECT_EQ(refused({.failures_until_away = 0}), "ClusterSetOptions: failures_until_away must be at least 1");
  EXPECT_EQ(refused({.max_bytes = 0}), "ClusterSetOptions: max_bytes must be at least 1");
  EXPECT_EQ(refused({.first_probe = 0s}), "ClusterSetOptions: first_probe must be greater than 0");
  EXPECT_EQ(refused({.first_probe = 2s, .longest_probe = 1s}),
            "ClusterSetOptions: longest_probe must be at least first_probe");
}

}  // namespace
}  // namespace evenkeel::cluster_set
