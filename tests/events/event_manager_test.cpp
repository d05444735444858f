// SPDX-License-Identifier: Apache-2.0
// Events of a running manager, against an API server core in this process.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/apiserver/faults.hpp>
#include <evenkeel/evenkeel.hpp>

#include "manager/world.hpp"

namespace evenkeel::event_manager {
namespace {

using namespace std::chrono_literals;

const std::string events = "/apis/events.k8s.io/v1/namespaces/default/events";

class EventManagerConcurrency : public ::testing::Test {
 protected:
  EventManagerConcurrency() {
    world.install_crd();
    world.create_gadget("web");
  }
  std::size_t written() const { return world.get(events)["items"].size(); }

  World world;
};

TEST_F(EventManagerConcurrency, WritesTheEventsOfReconcilersAndThoseOfTheProgram) {
  std::atomic<int> event_threads = 0;
  ManagerOptions options = world.options();
  options.on_thread_start = [&](std::string_view name) { event_threads += name == "events"; };
  Manager manager(world.client(), options);
  manager.add(controller_for<Gadget>([](Context& context, const Gadget& gadget) {
    context.event(gadget, EventSeverity::normal, "Scaled", "one replica");
  }));
  Running running(manager);
  world.wait_until([&] { return written() == 1; });
  manager.events().record({.api_version = "v1", .kind = "Node", .name = "n1"}, EventSeverity::warning, "Lost",
                          "it is silent");
  world.wait_until([&] { return written() == 2; });
  running.stop();
  EXPECT_EQ(event_threads, 1);
  const Json items = world.get(events)["items"];
  EXPECT_EQ(items[1]["note"].string_or(""), "one replica");
  EXPECT_EQ(items[1]["reportingController"].string_or(""), "test-operator");
  EXPECT_EQ(items[0].at({"regarding", "kind"}).string_or(""), "Node");
}

TEST_F(EventManagerConcurrency, WritesBeforeItEndsWhatWasRecordedLast) {
  world.core->inject({.verb = "create", .resource = "events.events.k8s.io", .delay = 200ms});
  Manager manager(world.client(), world.options());
  manager.add(controller_for<Gadget>([&](Context& context, const Gadget& gadget) {
    for (int i = 0; i < 3; ++i) {
      context.event(gadget, EventSeverity::normal, "Step" + std::to_string(i), "done");
      for (int again = 0; again < 4; ++again)
        context.event(gadget, EventSeverity::normal, "Step" + std::to_string(i), "done");
    }
    context.log().info("recorded");
  }));
  Running running(manager);
  world.wait_for_line("recorded");
  running.stop();
  const Json items = world.get(events)["items"];
  ASSERT_EQ(items.size(), 3U);
  for (const Json& item : items.as_array()) EXPECT_EQ(item.at({"series", "count"}).integer_or(0), 5);
}

TEST_F(EventManagerConcurrency, EndsInTimeIfEventsCannotBeWritten) {
  world.core->inject({.verb = "create", .resource = "events.events.k8s.io", .status = 500});
  ManagerOptions options = world.options();
  options.events.flush_limit = 50ms;
  Manager manager(world.client(), options);
  manager.add(controller_for<Gadget>([](Context& context, const Gadget& gadget) {
    context.event(gadget, EventSeverity::normal, "Scaled", "one replica");
    context.log().info("recorded");
  }));
  Running running(manager);
  world.wait_for_line("recorded");
  const TimePoint began = real_clock()->now();
  running.stop();
  EXPECT_LT(real_clock()->now() - began, 300s);
  EXPECT_EQ(written(), 0U);
  EXPECT_EQ(world.happenings->lines_with("events are not written yet waiting=1").size(), 1U);
}

TEST_F(EventManagerConcurrency, LogsOnceThatEventsAreDropped) {
  world.core->inject({.verb = "create", .resource = "events.events.k8s.io", .status = 500});
  EventRecorder recorder(world.client(), {.component = "test", .limits = {.queue = 3}, .log = world.log()});
  for (int i = 0; i < 10; ++i)
    recorder.record({.kind = "Pod", .namespace_ = "default", .name = "p" + std::to_string(i)},
                    EventSeverity::normal, "Seen", "");
  EXPECT_EQ(world.happenings->lines_with("events are dropped, as too many wait to be written").size(), 1U);
}

TEST_F(EventManagerConcurrency, LogsARefusalWithReasonAndError) {
  world.core->inject({.verb = "create", .resource = "events.events.k8s.io", .status = 403});
  EventRecorder recorder(world.client(), {.component = "test", .log = world.log()});
  recorder.record({.kind = "Pod", .namespace_ = "default", .name = "p"}, EventSeverity::normal, "Seen", "");
  world.wait_for_line(
      "an event was not recorded object=Pod default/p reason=Seen failures=1 error=create Event in "
      "default: 403 Forbidden: injected by a fault rule");
  EXPECT_TRUE(recorder.flush(1h));
}

TEST(EventRecorderOptions, RefusesAComponentThatTheServerWouldRefuse) {
  World world;
  try {
    EventRecorder recorder(world.client(), {.component = "my operator"});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "EventRecorderOptions: component must be a qualified name such as \"demo-operator\", not "
                 "\"my operator\"");
  }
  EXPECT_NO_THROW(EventRecorder(world.client(), {.component = "example.com/demo_operator.2"}));
}

TEST(EventRecorderOptions, RefusesALimitOfZero) {
  const World world;
  try {
    EventRecorder recorder(world.client(), {.limits = {.refill = 0s}});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "EventLimits: refill must be greater than 0");
  }
}

TEST(EventRecorderOptions, TakeTheManagersNameWithoutWhatTheServerWouldRefuse) {
  World world;
  ManagerOptions options = world.options();
  options.name = "my operator!";
  const Manager manager(world.client(), options);
  EXPECT_EQ(manager.events().options().component, "my-operator");
}

}  // namespace
}  // namespace evenkeel::event_manager
