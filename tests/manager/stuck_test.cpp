// SPDX-License-Identifier: Apache-2.0
// The manager itself reports a reconcile that hangs, without a request for an explanation.
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/manager/manager.hpp>

#include "world.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

// Blocks reconciles until it is opened.
class Gate {
 public:
  void pass() {
    MutexLock lock(mutex_);
    while (!open_) changed_.wait(lock);
  }
  void open() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool open_ EVENKEEL_GUARDED_BY(mutex_) = false;
};

TEST(StuckRunConcurrency, IsNamedInTheLogAgainAndAgainUntilItEnds) {
  World world;
  Gate gate;
  world.install_crd();
  Manager manager(world.client(), world.options());
  ControllerSpec spec = controller_for<Gadget>([&](Context&, const Gadget&) { gate.pass(); });
  spec.options.stuck_after = 5ms;
  Controller& controller = manager.add(std::move(spec));
  Running running(manager);
  world.create_gadget("web");
  world.wait_until([&] { return world.happenings->lines_with("a reconcile is stuck").size() >= 3; });
  const std::string line = world.happenings->lines_with("a reconcile is stuck").front();
  EXPECT_NE(line.find("object=default/web"), std::string::npos) << line;
  EXPECT_NE(line.find("started_by=gadgets (test.evenkeel.dev/v1): "), std::string::npos) << line;
  EXPECT_NE(controller.problem().find("default/web has been reconciled for "), std::string::npos)
      << controller.problem();
  gate.open();
  running.stop();
  EXPECT_EQ(controller.problem(), "");
}

}  // namespace
}  // namespace evenkeel
