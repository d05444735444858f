// SPDX-License-Identifier: Apache-2.0
// Events that reconcilers record, in the harness.
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/kinds/events.hpp>
#include <evenkeel/evenkeel.hpp>
#include <evenkeel/testing/run.hpp>

namespace evenkeel::event_harness {
namespace {

using namespace std::chrono_literals;

const ConfigMap web{.metadata = {.name = "web", .namespace_ = "default"}};

Result complain(Context& context, const ConfigMap& map) {
  context.event(map, EventSeverity::warning, "Empty", "there is nothing in it");
  return done();
}

TEST(EventHarness, ShowsTheEventOfARunAndNoWriteInIt) {
  const testing::Harness harness = testing::run_once(complain, {web});
  const auto events = harness.events();
  ASSERT_EQ(events.size(), 1U) << harness.str();
  const core_v1::Event& event = *events.front();
  EXPECT_EQ(event.metadata.namespace_, "default");
  EXPECT_EQ(event.involved_object.kind, "ConfigMap");
  EXPECT_EQ(event.involved_object.api_version, "v1");
  EXPECT_EQ(event.involved_object.name, "web");
  EXPECT_EQ(event.involved_object.uid, harness.get<ConfigMap>({"default", "web"})->metadata.uid);
  EXPECT_EQ(event.type, "Warning");
  EXPECT_EQ(event.reason, "Empty");
  EXPECT_EQ(event.message, "there is nothing in it");
  EXPECT_EQ(event.reporting_component, "evenkeel");
  EXPECT_TRUE(harness.writes().empty()) << harness.str();
}

TEST(EventHarness, CountsRepetitionsAsASeriesInVirtualTime) {
  const auto often = [](Context& context, const ConfigMap& map) {
    context.event(map, EventSeverity::normal, "Checked", "all is well");
    return requeue_after(10s);
  };
  testing::Harness harness;
  harness.add(controller_for<ConfigMap>(often));
  harness.create({web});
  harness.run_for(65s);
  ASSERT_EQ(harness.runs().size(), 7U) << harness.str();
  ASSERT_EQ(harness.events().size(), 1U) << harness.str();
  EXPECT_EQ(harness.events().front()->series->count, 2);
  harness.run_for(30min);
  EXPECT_GT(harness.events().front()->series->count, 170) << "written again after half an hour";
}

TEST(EventHarness, DoesNotWaitForTheEndOfASeriesWhenItSettles) {
  testing::Harness harness = testing::run(complain, {web});
  EXPECT_LT(harness.elapsed(), 1min);
  EXPECT_TRUE(harness.settle());
  EXPECT_LT(harness.elapsed(), 1min);
}

TEST(EventHarness, DoesNotFailARunWhenTheServerRefusesTheEvent) {
  const testing::Harness harness = testing::run_once(
      complain, {web}, {.harness = {.faults = {{.verb = "create", .resource = "events", .status = 403}}}});
  EXPECT_EQ(harness.last().outcome.kind, OutcomeKind::success) << harness.str();
  EXPECT_TRUE(harness.events().empty());
  bool logged = false;
  for (const std::string& line : harness.log())
    logged = logged || line.find("an event was not recorded") != std::string::npos;
  EXPECT_TRUE(logged);
}

TEST(EventHarness, WritesAnEventWhenTheServerIsBack) {
  testing::Harness harness({.faults = {{.verb = "create", .resource = "events", .count = 8, .status = 500}}});
  harness.add(controller_for<ConfigMap>(complain));
  harness.create({web});
  EXPECT_TRUE(harness.settle(3min)) << harness.str();
  EXPECT_EQ(harness.events().size(), 1U) << harness.str();
  EXPECT_GT(harness.elapsed(), 60s);
}

TEST(EventHarness, CountsAndCombinesInCoreV1) {
  int run = 0;
  const auto often = [&run](Context& context, const ConfigMap& map) {
    context.event(map, EventSeverity::warning, "Failed", "attempt " + std::to_string(++run));
    return run < 12 ? requeue_after(1s) : done();
  };
  testing::Harness harness({.events = {.api = EventApi::core_v1}});
  harness.add(controller_for<ConfigMap>(often));
  harness.create({web});
  EXPECT_TRUE(harness.settle());
  const auto events = harness.events();
  ASSERT_EQ(events.size(), 10U);
  bool combined = false;
  for (const auto& event : events) {
    if (event->message != "(combined from similar events): attempt 12") continue;
    combined = true;
    EXPECT_EQ(event->count, 3);
  }
  EXPECT_TRUE(combined);
}

TEST(EventHarness, RecordsEventsAboutObjectsWithoutAType) {
  const auto greet = [](Context& context, const Namespace& space) {
    const auto object = context.resource(Namespace::resource).find({"", space.metadata.name});
    context.event(*object, EventSeverity::normal, "Seen", "it is there",
                  {.action = "Look", .related = event_subject(web)});
  };
  const testing::Harness harness = testing::run_once(greet, {Namespace{.metadata = {.name = "team"}}});
  const auto events = harness.list<events_v1::Event>({.namespace_ = "default"});
  ASSERT_EQ(events.size(), 1U) << harness.str();
  EXPECT_EQ(events.front()->regarding.name, "team");
  EXPECT_EQ(events.front()->action, "Look");
  EXPECT_EQ(events.front()->related->name, "web");
}

TEST(EventHarness, ContinuesAfterARestart) {
  testing::Harness harness = testing::run(complain, {web});
  harness.restart();
  EXPECT_TRUE(harness.settle());
  EXPECT_EQ(harness.events().size(), 2U) << "a new process knows nothing of the first one's";
}

TEST(EventHarness, RefusesAnEventWithoutAReason) {
  const auto silent = [](Context& context, const ConfigMap& map) {
    context.event(map, EventSeverity::normal, "", "hm");
  };
  const testing::Harness harness = testing::run_once(silent, {web}, {.harness = {.expect_failures = true}});
  EXPECT_NE(
      harness.str().find("EventRecorder: an event about ConfigMap default/web needs a reason and an action"),
      std::string::npos)
      << harness.str();
}

}  // namespace
}  // namespace evenkeel::event_harness
