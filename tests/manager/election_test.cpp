// SPDX-License-Identifier: Apache-2.0
// Managers with leader election, several in one process with one API server core.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/coordination.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/serve/server.hpp>

#include "world.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

class ManagerElectionConcurrency : public ::testing::Test {
 protected:
  ManagerElectionConcurrency() { world.install_crd(); }

  ManagerOptions options(const std::string& identity) const {
    ManagerOptions options = world.options();
    options.election = ElectionOptions{.name = "op", .namespace_ = "default", .identity = identity};
    options.election_client = world.client();
    return options;
  }
  std::string holder() const { return world.get(lease).at({"spec", "holderIdentity"}).string_or(""); }
  int ready(const std::string& gadget) const {
    return static_cast<int>(world.gadget(gadget).at({"status", "readyReplicas"}).integer_or(0));
  }
  /// Another client takes the Lease from its holder.
  void steal() const { world.patch(lease, R"({"spec":{"holderIdentity":"thief"}})"); }

  static std::string explanation(const Manager& manager, std::string_view rest) {
    const http::Request request;
    const http::Target target;
    return manager.answer_explain({.request = request, .target = target, .rest = rest}).body;
  }

  const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/op";
  World world;
};

// Writes the number of the term into the status.
Result write_term(Context& context, const Gadget& gadget) {
  context.patch_status(gadget, [&](GadgetStatus& status) {
    status.ready_replicas = static_cast<int>(context.term().value_or(1000)) + 1;
  });
  return done();
}

TEST_F(ManagerElectionConcurrency, TheStandbyTakesOverWithItsCacheFullWhenTheLeaderStops) {
  Manager first(world.client(), options("first"));
  Manager second(world.client(), options("second"));
  first.add(controller_for<Gadget>(write_term));
  second.add(controller_for<Gadget>(write_term));
  world.create_gadget("web");
  Running leader(first);
  world.wait_until([&] { return ready("web") == 1; });
  EXPECT_TRUE(first.is_leader());

  Running standby(second);
  world.wait_until([&] { return second.totals().objects == 1; });
  EXPECT_EQ(second.totals().counts.reconciles, 0U);
  EXPECT_FALSE(second.is_leader());
  leader.stop();
  EXPECT_FALSE(first.is_leader());
  world.wait_until([&] { return ready("web") == 2; });
  EXPECT_EQ(holder(), "second");
  standby.stop();
  EXPECT_EQ(holder(), "");
}

TEST_F(ManagerElectionConcurrency, AControllerOfEveryInstanceRunsAndWritesWithoutTheLead) {
  Manager first(world.client(), options("first"));
  Manager second(world.client(), options("second"));
  first.add(controller_for<Gadget>(write_term));
  const Controller& led = second.add(controller_for<Gadget>(write_term));
  ControllerOptions node{.name = "node", .runs_on = RunsOn::every_instance};
  second.add(controller_for<Gadget>([&](Context& context, const Gadget& gadget) {
               EXPECT_EQ(context.term(), std::nullopt);
               context.patch(gadget, [](Gadget& it) { it.metadata.labels["seen"] = "everywhere"; });
             }).with(std::move(node)));
  Running leader(first);
  world.wait_until([&] { return first.is_leader(); });
  Running standby(second);
  world.create_gadget("web");
  world.wait_until([&] { return world.gadget("web").at({"metadata", "labels", "seen"}).is_string(); });
  EXPECT_FALSE(second.is_leader());
  EXPECT_EQ(led.counts().reconciles, 0U);
  EXPECT_EQ(explanation(second, "node").find("is not the leader"), std::string::npos);
  EXPECT_NE(explanation(second, "gadget").find("is not the leader"), std::string::npos);
}

TEST_F(ManagerElectionConcurrency, TheLeaseIsFreedAfterTheLastReconcileEnded) {
  Manager manager(world.client(), options("first"));
  std::atomic<bool> begun = false;
  std::atomic<bool> may_end = false;
  manager.add(controller_for<Gadget>([&](Context& context, const Gadget& gadget) {
    begun = true;
    world.happenings->note();
    world.wait_until([&] { return may_end.load(); });
    EXPECT_EQ(holder(), "first");
    return write_term(context, gadget);
  }));
  world.create_gadget("web");
  Running running(manager);
  world.wait_until([&] { return begun.load(); });
  running.request_stop();
  world.wait_for_line("stopping");
  may_end = true;
  world.happenings->note();
  running.wait();
  EXPECT_EQ(ready("web"), 1);
  EXPECT_EQ(holder(), "");
}

TEST_F(ManagerElectionConcurrency, ALostLeadCancelsWhatRunsAndItsWritesAreRefused) {
  Manager manager(world.client(), options("first"));
  std::atomic<bool> begun = false;
  std::atomic<bool> refused = false;
  manager.add(controller_for<Gadget>([&](Context& context, const Gadget& gadget) {
    begun = true;
    world.happenings->note();
    sleep_until(context.clock(), TimePoint::max(), context.stop());
    EXPECT_THROW(world.client().get<Lease>({"nowhere", "op"}), ApiError);
    try {
      manager.leader_client().remove<Gadget>(key_of(gadget));
    } catch (const NotLeader&) {
      refused = true;
    }
  }));
  world.create_gadget("web");
  Running running(manager);
  world.wait_until([&] { return begun.load(); });
  steal();
  EXPECT_THROW(running.wait(), LeadershipLost);
  EXPECT_TRUE(refused);
  EXPECT_FALSE(world.gadget("web").is_null());
  EXPECT_EQ(holder(), "thief");
  world.wait_for_line("lost leadership");
}

TEST_F(ManagerElectionConcurrency, AReconcileThatIgnoresALostLeadIsNamed) {
  ManagerOptions hasty = options("first");
  hasty.lifecycle.cancel_period = 10ms;
  std::atomic<bool> begun = false;
  std::atomic<bool> may_end = false;
  Manager manager(world.client(), std::move(hasty));
  manager.add(controller_for<Gadget>([&](Context&, const Gadget&) {
    begun = true;
    world.happenings->note();
    world.wait_until([&] { return may_end.load(); });
  }));
  world.create_gadget("web");
  Running running(manager);
  world.wait_until([&] { return begun.load(); });
  EXPECT_THAT(manager.stuck(), ::testing::IsEmpty());
  steal();
  EXPECT_THROW(running.wait(), LeadershipLost);
  EXPECT_THAT(manager.stuck(), ::testing::ElementsAre("controller gadget"));
  may_end = true;  // the destructor waits for it
  world.happenings->note();
}

TEST_F(ManagerElectionConcurrency, ACandidateStopsWithoutHavingLed) {
  Manager first(world.client(), options("first"));
  Manager second(world.client(), options("second"));
  first.add(controller_for<Gadget>(write_term));
  second.add(controller_for<Gadget>(write_term));
  Running leader(first);
  world.wait_until([&] { return first.is_leader(); });
  Running standby(second);
  world.wait_for_line("waiting to become leader lease=default/op identity=second");
  EXPECT_NO_THROW(standby.stop());
  EXPECT_EQ(holder(), "first");
  EXPECT_NO_THROW(leader.stop());
}

TEST_F(ManagerElectionConcurrency, TasksOfTheLeaderRunWhileItLeadsOthersAlways) {
  world.call(http::Method::post, "/apis/coordination.k8s.io/v1/namespaces/default/leases",
             R"({"metadata":{"name":"op"},"spec":{"holderIdentity":"other","leaseDurationSeconds":1000}})");
  Manager manager(world.client(), options("first"));
  std::atomic<int> everywhere = 0;
  std::atomic<int> leading = 0;
  const auto count = [&](std::atomic<int>& runs) {
    return [&](const std::stop_token& stop) {
      ++runs;
      world.happenings->note();
      sleep_until(*real_clock(), TimePoint::max(), stop);
    };
  };
  manager.add_task("everywhere", count(everywhere));
  manager.add_task("leading", count(leading), RunsOn::leader);
  Running running(manager);
  world.wait_until([&] { return everywhere == 1; });
  world.wait_for_line("holder=other");
  EXPECT_EQ(leading, 0);
  world.patch(lease, R"({"spec":{"holderIdentity":""}})");
  world.wait_until([&] { return leading == 1; });
  running.stop();
}

TEST_F(ManagerElectionConcurrency, WithoutAnElectionItAlwaysLeads) {
  Manager manager(world.client(), world.options());
  manager.add(controller_for<Gadget>(write_term));
  world.create_gadget("web");
  Running running(manager);
  world.wait_until([&] { return ready("web") == 1001; });
  EXPECT_TRUE(manager.is_leader());
  running.stop();
  EXPECT_TRUE(world.get(lease).is_null());
}

}  // namespace
}  // namespace evenkeel
