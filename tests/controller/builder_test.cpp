// SPDX-License-Identifier: Apache-2.0
// What the builder makes of controllers, at work against the embedded API server's core in virtual time.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/testing/bench.hpp>
#include <evenkeel/testing/in_process_transport.hpp>

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

std::vector<std::string> names(const testing::Bench& bench) {
  std::vector<std::string> found;
  for (const testing::ReconcileRun& run : bench.runs()) found.push_back(run.key.name);
  return found;
}

// go:1.1.15: the filter is asked of every watch, and so is each watch's own predicate.
TEST(Builder, AFilterAppliesToAllWatchesBesideTheirOwnPredicates) {
  testing::Bench bench;
  const auto to_itself = [](const WireObject& object) { return object.key(); };
  bench.add(controller_for<ConfigMap>(nothing, {.when = matches_labels("role!=own")})
                .watches<Secret>(to_itself)
                .filter(matches_labels("team=a"))
                .filter(matches_labels("hidden!=yes")));
  bench.create({config("other"), config("mine", {{"team", "a"}}),
                config("hidden", {{"team", "a"}, {"hidden", "yes"}}),
                config("refused", {{"team", "a"}, {"role", "own"}}),
                Secret{.metadata = {.name = "secret", .namespace_ = "default", .labels = {{"team", "a"}}}},
                Secret{.metadata = {.name = "other-secret", .namespace_ = "default"}}});
  EXPECT_TRUE(bench.settle());
  EXPECT_THAT(names(bench), ::testing::UnorderedElementsAre("mine", "secret"));
}

// go:1.1.15 go:2.2.28: what the program pushes itself is not asked about by the filter, but by its own
// predicate.
TEST(Builder, ChannelsOfObjectsPassTheFilterByAndTheirOwnPredicateNot) {
  testing::Bench bench;
  const EventChannel<ConfigMap> channel;
  std::vector<EventType> types;
  const auto note = [&types](const ObjectEvent& event) {
    types.push_back(event.type);
    return event.object->label("skip") != "yes";
  };
  bench.add(controller_for<ConfigMap>(nothing)
                .source(channel,
                        [](const ConfigMap& map) {
                          return ObjectKey{"default", map.data.at("of")};
                        },
                        {.when = note})
                .filter([](const ObjectEvent&) { return false; }));
  bench.create({config("ignored")});
  EXPECT_TRUE(bench.settle());
  EXPECT_THAT(names(bench), IsEmpty());
  ConfigMap call = config("call");
  call.data["of"] = "web";
  channel.push(call);
  call.metadata.labels["skip"] = "yes";
  call.data["of"] = "skipped";
  channel.push(call);
  EXPECT_TRUE(bench.settle());
  EXPECT_THAT(names(bench), ElementsAre("web"));
  EXPECT_THAT(types, ElementsAre(EventType::generic, EventType::generic));
}

TEST(Builder, EveryReconcilesAllObjectsInEachPeriod) {
  testing::Bench bench;
  bench.add(controller_for<ConfigMap>(nothing).every(1h));
  bench.create({config("a"), config("b")});
  EXPECT_FALSE(bench.settle(1min)) << "a timer is always due some time";
  EXPECT_THAT(names(bench), ElementsAre("a", "b"));
  bench.run_for(2h);
  EXPECT_THAT(names(bench), ElementsAre("a", "b", "a", "b", "a", "b"));
  EXPECT_EQ(bench.last().at, 2h);
}

TEST(Builder, EveryAsksForTheKeys) {
  testing::Bench bench;
  bench.add(controller_for<ConfigMap>(nothing).every(1min, [](Cache&) {
    return std::vector<ObjectKey>{{"default", "none"}};
  }));
  bench.run_for(150s);
  EXPECT_THAT(names(bench), ElementsAre("none", "none"));
}

TEST(Builder, AKeyChannelReconcilesWhatItIsTold) {
  testing::Bench bench;
  const KeyChannel channel;
  bench.add(controller_for<ConfigMap>(nothing).source("calls", channel));
  bench.settle();
  channel.push({"default", "late"}, {.delay = 30s});
  channel.push({"default", "now"});
  EXPECT_TRUE(bench.settle());
  EXPECT_THAT(names(bench), ElementsAre("now", "late"));
  EXPECT_EQ(bench.last().at, 30s);
}

// go:1.1.16: only metadata is asked of the server and kept; reads of whole objects are live.
TEST(Builder, AWatchOfMetadataKeepsNoMore) {
  auto core = std::make_shared<testing::SharedCore>();
  auto transport =
      std::make_shared<testing::InProcessTransport>(core, testing::InProcessTransportOptions{.pumped = true});
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

// R8: through the cache, with a kind that was not declared before.
TEST(Builder, AWatchAtRunTimeListsItsKindAndEndsWhenItIsTold) {
  auto core = std::make_shared<testing::SharedCore>();
  auto transport =
      std::make_shared<testing::InProcessTransport>(core, testing::InProcessTransportOptions{.pumped = true});
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

}  // namespace
}  // namespace evenkeel
