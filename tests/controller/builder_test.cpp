// SPDX-License-Identifier: Apache-2.0
// Tests of controllers made by the builder, with the embedded API server's core in virtual time.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/testing/harness.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ConfigMap config(const std::string& name, std::map<std::string, std::string> labels = {}) {
  return {.metadata = {.name = name, .namespace_ = "default", .labels = std::move(labels)}};
}

const auto nothing = [](Context&, const Request&) {};

std::vector<std::string> names(const testing::Harness& harness) {
  std::vector<std::string> found;
  for (const testing::ReconcileRun& run : harness.runs()) found.push_back(run.key.name);
  return found;
}

// The filter applies to every watch, in addition to each watch's own predicate.
TEST(Builder, AFilterAppliesToAllWatchesBesideTheirOwnPredicates) {
  testing::Harness harness;
  const auto to_itself = [](const WireObject& object) { return object.key(); };
  harness.add(controller_for<ConfigMap>(nothing, {.when = matches_labels("role!=own")})
                  .watches<Secret>(to_itself)
                  .filter(matches_labels("team=a"))
                  .filter(matches_labels("hidden!=yes")));
  harness.create({config("other"), config("mine", {{"team", "a"}}),
                  config("hidden", {{"team", "a"}, {"hidden", "yes"}}),
                  config("refused", {{"team", "a"}, {"role", "own"}}),
                  Secret{.metadata = {.name = "secret", .namespace_ = "default", .labels = {{"team", "a"}}}},
                  Secret{.metadata = {.name = "other-secret", .namespace_ = "default"}}});
  EXPECT_TRUE(harness.settle());
  EXPECT_THAT(names(harness), ::testing::UnorderedElementsAre("mine", "secret"));
}

// Objects that the program pushes bypass the filter; only their own predicate applies.
TEST(Builder, ChannelsOfObjectsPassTheFilterByAndTheirOwnPredicateNot) {
  testing::Harness harness;
  const EventChannel<ConfigMap> channel;
  std::vector<EventType> types;
  const auto note = [&types](const ObjectEvent& event) {
    types.push_back(event.type);
    return event.object->label("skip") != "yes";
  };
  harness.add(controller_for<ConfigMap>(nothing)
                  .source(channel,
                          [](const ConfigMap& map) {
                            return ObjectKey{"default", map.data.at("of")};
                          },
                          {.when = note})
                  .filter([](const ObjectEvent&) { return false; }));
  harness.create({config("ignored")});
  EXPECT_TRUE(harness.settle());
  EXPECT_THAT(names(harness), IsEmpty());
  ConfigMap call = config("call");
  call.data["of"] = "web";
  channel.push(call);
  call.metadata.labels["skip"] = "yes";
  call.data["of"] = "skipped";
  channel.push(call);
  EXPECT_TRUE(harness.settle());
  EXPECT_THAT(names(harness), ElementsAre("web"));
  EXPECT_THAT(types, ElementsAre(EventType::generic, EventType::generic));
}

TEST(Builder, EveryReconcilesAllObjectsInEachPeriod) {
  testing::Harness harness;
  harness.add(controller_for<ConfigMap>(nothing).every(1h));
  harness.create({config("a"), config("b")});
  EXPECT_FALSE(harness.settle(1min)) << "a timer is always due some time";
  EXPECT_THAT(names(harness), ElementsAre("a", "b"));
  harness.run_for(2h);
  EXPECT_THAT(names(harness), ElementsAre("a", "b", "a", "b", "a", "b"));
  EXPECT_EQ(harness.last().at, 2h);
}

TEST(Builder, EveryAsksForTheKeys) {
  testing::Harness harness;
  harness.add(controller_for<ConfigMap>(nothing).every(1min, [](Cache&) {
    return std::vector<ObjectKey>{{"default", "none"}};
  }));
  harness.run_for(150s);
  EXPECT_THAT(names(harness), ElementsAre("none", "none"));
}

TEST(Builder, AKeyChannelReconcilesWhatItIsTold) {
  testing::Harness harness;
  const KeyChannel channel;
  harness.add(controller_for<ConfigMap>(nothing).source("calls", channel));
  harness.settle();
  channel.push({"default", "late"}, {.delay = 30s});
  channel.push({"default", "now"});
  EXPECT_TRUE(harness.settle());
  EXPECT_THAT(names(harness), ElementsAre("now", "late"));
  EXPECT_EQ(harness.last().at, 30s);
}

// Only metadata is requested and kept; reads of whole objects are live.
TEST(Builder, AWatchOfMetadataKeepsNoMore) {
  auto core = std::make_shared<apiserver::SharedCore>();
  auto transport = std::make_shared<apiserver::InProcessTransport>(
      core, apiserver::InProcessTransportOptions{.pumped = true});
  const Client client(Config{.server = "http://test"}, {.transport = transport});
  Cache cache(client, {.threads = 0});
  KeyTable keys;
  std::vector<std::string> seen;
  Controller controller(controller_for<ConfigMap>(nothing, {.form = WireForm::metadata_only})
                            .watches<Secret>(
                                [&](const WireObject& object) {
                                  seen.emplace_back(object.raw());
                                  return object.key();
                                },
                                {.form = WireForm::metadata_only}),
                        {client, cache, keys});
  core->install(
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"},"data":{"k":"v"}})");
  core->install(
      R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"default"},"data":{"k":"dg=="}})");
  controller.attach();
  cache.start();
  while (transport->pump() + cache.pump() != 0) continue;
  ASSERT_THAT(cache.health(), SizeIs(2)) << "one collection for each kind, and none for whole objects";
  EXPECT_THAT(seen, ElementsAre(""));
  EXPECT_EQ(controller.objects(), 1U);
  EXPECT_THAT(cache.health(), SizeIs(2)) << "counting declares nothing";
  EXPECT_EQ(controller.queue_size(), 2U);
}

// Through the cache, with a kind that was not declared before.
TEST(Builder, AWatchAtRunTimeListsItsKindAndEndsWhenItIsTold) {
  auto core = std::make_shared<apiserver::SharedCore>();
  auto transport = std::make_shared<apiserver::InProcessTransport>(
      core, apiserver::InProcessTransportOptions{.pumped = true});
  const Client client(Config{.server = "http://test"}, {.transport = transport});
  Cache cache(client, {.threads = 0});
  KeyTable keys;
  std::vector<std::string> reconciled;
  Controller controller(controller_for<ConfigMap>([&](Context& context, const Request&) {
                          reconciled.push_back(context.key().name);
                        }),
                        {client, cache, keys});
  controller.attach();
  cache.start();
  const auto settle = [&] {
    while (transport->pump() + cache.pump() + (controller.step() ? 1 : 0) != 0) continue;
  };
  settle();
  const auto secret = [](const std::string& name) {
    return R"({"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"default","name":")" + name + "\"}}";
  };
  const auto mapping = [](const WireObject& object) {
    return ObjectKey{"default", "owner-of-" + std::string(object.name())};
  };
  core->install(secret("one"));
  const WatchId id = controller.watch(watch_mapped<Secret>(mapping));
  settle();
  EXPECT_THAT(reconciled, ElementsAre("owner-of-one"));
  core->install(secret("two"));
  settle();
  EXPECT_THAT(reconciled, ElementsAre("owner-of-one", "owner-of-two"));
  controller.unwatch(id);
  core->install(secret("three"));
  settle();
  EXPECT_THAT(reconciled, SizeIs(2));
  controller.watch(watch_object<Secret>({.when = events_of({EventType::added})}));
  settle();
  EXPECT_THAT(reconciled, ElementsAre("owner-of-one", "owner-of-two", "one", "three", "two"))
      << "a new watch begins with what is there";
}

// A cache in virtual time, step by step.
class WatchedCache : public ::testing::Test {
 protected:
  void begin(ControllerSpec spec, CacheOptions options = {}) {
    options.threads = 0;
    options.clock = clock;
    cache = std::make_unique<Cache>(client, options);
    controller = std::make_unique<Controller>(
        std::move(spec),
        ControllerEnvironment{.client = client, .cache = *cache, .keys = keys, .clock = clock});
    controller->attach();
    cache->start();
    settle();
  }
  void settle() {
    while (transport->pump() + cache->pump() + (controller->step() ? 1 : 0) != 0) continue;
  }
  void pass(Duration time) {
    const TimePoint end = clock->now() + time;
    while (clock->now() < end) {
      clock->advance(std::min<Duration>(1s, end - clock->now()));
      settle();
    }
  }
  // Watches config maps only as owners of secrets.
  ControllerSpec owner_controller(Predicate when) {
    return controller_for<ConfigMap>(
               [this](Context& context, const Request&) { reconciled.push_back(context.key().name); },
               {.when = [](const ObjectEvent&) { return false; }})
        .watches<Secret>(
            [](const WireObject& object) {
              return ObjectKey{"default", "owner-of-" + std::string(object.name())};
            },
            {.when = std::move(when)});
  }
  static std::string secret(const std::string& name) {
    return R"({"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"default","name":")" + name + "\"}}";
  }
  void remove_secret(const std::string& name) {
    core->handle({.method = http::Method::delete_, .target = "/api/v1/namespaces/default/secrets/" + name});
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<apiserver::SharedCore> core =
      std::make_shared<apiserver::SharedCore>(apiserver::SharedCoreOptions{.clock = clock});
  std::shared_ptr<apiserver::InProcessTransport> transport = std::make_shared<apiserver::InProcessTransport>(
      core, apiserver::InProcessTransportOptions{.pumped = true});
  Client client{Config{.server = "http://test"}, {.transport = transport, .clock = clock}};
  KeyTable keys;
  std::vector<std::string> reconciled;
  std::unique_ptr<Cache> cache;
  std::unique_ptr<Controller> controller;
};

// A resync delivers every object again, with low priority; predicates that compare states drop it.
TEST_F(WatchedCache, AResyncTellsEverythingAgainAfterWhatIsLive) {
  core->install(secret("a"));
  core->install(secret("b"));
  int resyncs = 0;
  const auto look = [&](const ObjectEvent& event) {
    if (!event.resync) return true;
    ++resyncs;
    EXPECT_EQ(event.type, EventType::updated);
    EXPECT_EQ(event.old->resource_version(), event.object->resource_version());
    EXPECT_FALSE(resource_version_changed()(event));
    EXPECT_FALSE(generation_changed()(event));
    return true;
  };
  begin(owner_controller(look), {.resync = 1h});
  EXPECT_THAT(reconciled, ElementsAre("owner-of-a", "owner-of-b"));
  pass(59min);
  EXPECT_THAT(reconciled, SizeIs(2));
  clock->advance(1min);
  cache->pump();  // delivers the resync; a live key comes after it
  controller->enqueue({"default", "live"});
  settle();
  EXPECT_THAT(reconciled, ElementsAre("owner-of-a", "owner-of-b", "live", "owner-of-a", "owner-of-b"));
  pass(1h);
  EXPECT_EQ(resyncs, 4);
}

// Secondary watches, too, get a deletion with the last known state of objects that were deleted or replaced
// while no watch was open, and an addition of the new ones.
TEST_F(WatchedCache, MissedDeletionsReachTheOwners) {
  for (const char* name : {"gone", "kept", "remade"}) core->install(secret(name));
  std::vector<std::string> told;
  begin(owner_controller([&](const ObjectEvent& event) {
    static constexpr const char* types[] = {"added", "updated", "deleted", "generic"};
    told.push_back(std::string(types[static_cast<std::size_t>(event.type)]) + " " +
                   std::string(event.object->name()) + (event.final_state_unknown ? " unknown" : ""));
    return true;
  }));
  told.clear();
  reconciled.clear();
  // The watch breaks, and when it can be restarted its history has expired, so only a new list shows the
  // changes.
  const apiserver::FaultId away = core->inject({.resource = "secrets", .drop = apiserver::FaultDrop::before});
  core->cut_watches();
  settle();
  remove_secret("gone");
  remove_secret("remade");
  core->install(secret("remade"));
  core->inject({.verb = "watch", .resource = "secrets", .count = 1, .status = 410});
  core->remove_fault(away);
  pass(2min);
  EXPECT_THAT(told, ElementsAre("deleted gone unknown", "deleted remade unknown", "added remade"));
  EXPECT_THAT(reconciled, ElementsAre("owner-of-gone", "owner-of-remade"));
}

}  // namespace
}  // namespace evenkeel
