// SPDX-License-Identifier: Apache-2.0
// A kind that cannot be watched blocks only its own controller, is logged once, and recovers by itself.
#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/manager/manager.hpp>

#include "../support/await.hpp"
#include "world.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two controllers, of Gadgets and of ConfigMaps.
class WatchHealthConcurrency : public ::testing::Test {
 protected:
  WatchHealthConcurrency() : manager_(world_.client(), options()) {
    manager_.add(controller_for<Gadget>([this](Context&, const Gadget&) { count(gadgets_); }));
    manager_.add(controller_for<ConfigMap>([this](Context&, const ConfigMap&) { count(maps_); }));
  }
  ManagerOptions options() const {
    ManagerOptions options = world_.options();
    options.sync_timeout = 20ms;
    options.cache.reflector = {.backoff_base = 5ms, .backoff_max = 20ms};
    return options;
  }
  void count(std::atomic<int>& runs) {
    ++runs;
    world_.happenings->note();
  }
  WatchHealth of_gadgets() const { return manager_.watch_health().at(0); }
  void wait_for_problem(WatchProblem problem) {
    world_.wait_until([&] { return of_gadgets().problem == problem; });
  }
  /// Checks that the other controller still runs.
  void expect_maps_go_on() {
    const int before = maps_;
    const std::string name = "map-" + std::to_string(++made_);
    world_.call(http::Method::post, world_.config_maps,
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name + R"("}})");
    world_.wait_until([&] { return maps_ > before; });
  }
  /// Waits for enough attempts to detect one log line per attempt.
  void wait_for_tries() {
    const std::uint64_t before = tries();
    world_.wait_until([&] { return tries() >= before + 5; });
  }
  std::uint64_t tries() {
    for (const CollectionHealth& one : manager_.cache().health()) {
      if (one.resource.plural == "gadgets") return one.informer.counters.failures;
    }
    return 0;
  }
  std::vector<std::string> said() const { return world_.happenings->lines_with("cannot list or watch; "); }

  World world_;
  std::atomic<int> gadgets_ = 0;
  std::atomic<int> maps_ = 0;
  int made_ = 0;
  Manager manager_;
};

TEST_F(WatchHealthConcurrency, AKindThatIsNotThereIsNamedOnceAndHealsWhenItIsInstalled) {
  Running running(manager_);
  wait_for_problem(WatchProblem::no_such_kind);
  expect_maps_go_on();
  wait_for_tries();
  const WatchHealth health = of_gadgets();
  EXPECT_EQ(health.controller, "gadget");
  EXPECT_EQ(health.resource.plural, "gadgets");
  EXPECT_FALSE(health.synced);
  EXPECT_TRUE(health.since);
  EXPECT_THAT(health.last_error, HasSubstr("list Gadget: 404"));
  EXPECT_EQ(manager_.watch_health().at(1).problem, WatchProblem::none);
  EXPECT_TRUE(manager_.watch_health().at(1).synced);
  world_.wait_for_line("still waiting");
  EXPECT_THAT(said(), ElementsAre(AllOf(HasSubstr("kind=Gadget"), HasSubstr("problem=no_such_kind"),
                                        HasSubstr("is its CustomResourceDefinition installed?"))));
  EXPECT_EQ(gadgets_, 0);

  world_.install_crd();
  world_.create_gadget("web");
  world_.wait_until([&] { return gadgets_ > 0; });
  EXPECT_EQ(of_gadgets().problem, WatchProblem::none);
  EXPECT_TRUE(of_gadgets().synced);
  EXPECT_FALSE(of_gadgets().since);
  EXPECT_FALSE(of_gadgets().next_attempt);
  world_.wait_for_line("lists and watches again kind=Gadget");
  EXPECT_NO_THROW(running.stop());
}

// A role may lack a single verb. The list that succeeds between two forbidden watches must not hide that.
TEST_F(WatchHealthConcurrency, AForbiddenVerbIsNamedOnceAndHealsWhenItIsGranted) {
  world_.install_crd();
  for (const std::string verb : {"list", "watch"}) {
    SCOPED_TRACE(verb);
    World world;
    world.install_crd();
    const apiserver::FaultId fault =
        world.core->inject({.verb = verb, .resource = "gadgets.test.evenkeel.dev", .status = 403});
    ManagerOptions quick = options();
    quick.log = world.log();
    quick.cache.reflector.streaming_list = verb == "watch";  // a streaming list needs no list
    Manager manager(world.client(), std::move(quick));
    std::atomic<int> runs = 0;
    manager.add(controller_for<Gadget>([&](Context&, const Gadget&) {
      ++runs;
      world.happenings->note();
    }));
    Running running(manager);
    world.wait_until([&] { return manager.cache().health().at(0).informer.counters.failures >= 5; });
    EXPECT_EQ(manager.watch_health().at(0).problem, WatchProblem::forbidden);
    EXPECT_EQ(manager.watch_health().at(0).synced, verb == "watch");
    EXPECT_THAT(manager.watch_health().at(0).last_error, HasSubstr(verb + " Gadget: 403"));
    EXPECT_THAT(world.happenings->lines_with("cannot list or watch; "),
                ElementsAre(AllOf(HasSubstr(verb + " Gadget: 403"), HasSubstr("problem=forbidden"))));
    world.core->remove_fault(fault);
    world.wait_for_line("lists and watches again kind=Gadget");
    world.create_gadget("web");
    world.wait_until([&] { return runs > 0; });
    EXPECT_EQ(manager.watch_health().at(0).problem, WatchProblem::none);
    EXPECT_NO_THROW(running.stop());
  }
}

TEST_F(WatchHealthConcurrency, AKindThatIsRemovedWhileItIsWatchedIsNamedAndHealsWhenItComesBack) {
  world_.install_crd();
  world_.create_gadget("web");
  Running running(manager_);
  world_.wait_until([&] { return gadgets_ == 1; });
  world_.remove("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.test.evenkeel.dev");
  wait_for_problem(WatchProblem::no_such_kind);
  EXPECT_TRUE(of_gadgets().synced) << "it was, and its controller goes on with what it has";
  expect_maps_go_on();
  wait_for_tries();
  EXPECT_THAT(said(), ElementsAre(HasSubstr("problem=no_such_kind")));

  world_.install_crd();
  world_.create_gadget("again");
  world_.wait_until([&] { return gadgets_ >= 2; });
  tests::await("the end of the problem", [&] { return of_gadgets().problem == WatchProblem::none; });
  EXPECT_NO_THROW(running.stop());
}

}  // namespace
}  // namespace evenkeel
