// SPDX-License-Identifier: Apache-2.0
// Tests of controllers made by the builder, with the embedded API server's core in virtual time.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
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
  EXPECT_THAT(cache.health(), SizeIs(2));
  controller.unwatch(id);
  core->install(secret("three"));
  settle();
  EXPECT_THAT(reconciled, SizeIs(2));
  EXPECT_THAT(cache.health(), SizeIs(1)) << "nobody else has asked for Secrets";
  controller.watch(watch_object<Secret>({.when = events_of({EventType::added})}));
  settle();
  EXPECT_THAT(reconciled, ElementsAre("owner-of-one", "owner-of-two", "one", "three", "two"))
      << "a new watch begins with what is there";
}

TEST(Builder, AnOwnedWatchAtRunTimeReconcilesTheOwner) {
  auto core = std::make_shared<apiserver::SharedCore>();
  auto transport = std::make_shared<apiserver::InProcessTransport>(
      core, apiserver::InProcessTransportOptions{.pumped = true});
  const Client client(Config{.server = "http://test"}, {.transport = transport});
  Cache cache(client, {.threads = 0});
  KeyTable keys;
  std::vector<std::string> reconciled;
  std::map<std::string, std::string> uids;
  Controller controller(controller_for<ConfigMap>([&](Context&, const ConfigMap& object) {
                          reconciled.push_back(object.metadata.name);
                          uids[object.metadata.name] = object.metadata.uid;
                        }),
                        {client, cache, keys});
  for (const std::string name : {"first", "other", "second"})
    core->install(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":")" +
                  name + "\"}}");
  controller.attach();
  cache.start();
  const auto settle = [&] {
    while (transport->pump() + cache.pump() + (controller.step() ? 1 : 0) != 0) continue;
  };
  settle();
  ASSERT_THAT(uids, SizeIs(3));
  const auto secret = [&](const std::string& owner, const std::string& is_controller) {
    return R"({"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"default","name":"of-)" + owner +
           R"(","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":")" + owner + R"(","uid":")" +
           uids.at(owner) + R"(","controller":)" + is_controller + "}]}}";
  };
  reconciled.clear();
  core->install(secret("first", "true"));
  const WatchId id = controller.watch(watch_owned<Secret>(ConfigMap::resource));
  settle();
  EXPECT_THAT(reconciled, ElementsAre("first"));
  core->install(secret("second", "true"));
  core->install(secret("other", "false"));
  settle();
  EXPECT_THAT(reconciled, ElementsAre("first", "second"));
  controller.unwatch(id);
  reconciled.clear();
  controller.watch(watch_owned<Secret>(ConfigMap::resource, {.owner = OwnerMatch::any}));
  settle();
  EXPECT_THAT(reconciled, ElementsAre("first", "other", "second"))
      << "owners that are not the controller count, too";
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
  begin(owner_controller(look), {.reflector = {.random = [] { return 0.5; }}, .resync = 1h});
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

// ---- Indexes

/// The Secret that a ConfigMap names in its data; none if it names none.
std::optional<std::string> secret_of(const ConfigMap& map) {
  const auto found = map.data.find("secret");
  if (found == map.data.end()) return std::nullopt;
  return found->second;
}

ConfigMap user(const std::string& name, const std::string& secret,
               const std::string& namespace_ = "default") {
  return {.metadata = {.name = name, .namespace_ = namespace_}, .data = {{"secret", secret}}};
}

Secret a_secret(const std::string& name, const std::string& namespace_ = "default") {
  return {.metadata = {.name = name, .namespace_ = namespace_}};
}

Namespace a_namespace(const std::string& name) {
  return {.metadata = {.name = name}};
}

/// Returns "namespace/name" of the objects that were reconciled since the last call.
class NewRuns {
 public:
  explicit NewRuns(testing::Harness& harness) : harness_(harness) {}
  std::vector<std::string> operator()() {
    harness_.settle();
    const auto runs = harness_.runs();
    std::vector<std::string> keys;
    for (; seen_ < runs.size(); ++seen_) keys.push_back(runs[seen_].key.str());
    return keys;
  }

 private:
  testing::Harness& harness_;
  std::size_t seen_ = 0;
};

template <class F>
std::string refusal(F declare) {
  try {
    declare();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

TEST(BuilderIndex, ASecretReconcilesThoseThatUseIt) {
  testing::Harness harness;
  harness.add(
      controller_for<ConfigMap>(nothing).index("secret", secret_of).watches<Secret>(indexed("secret")));
  NewRuns runs(harness);
  harness.create({a_namespace("other"), user("b", "tls"), user("a", "tls"), user("c", "unused"),
                  user("d", "tls", "other"), config("none")});
  EXPECT_THAT(runs(), SizeIs(5));
  harness.create({a_secret("tls")});
  EXPECT_THAT(runs(), ElementsAre("default/a", "default/b")) << "in its own namespace, in order";
  harness.edit<Secret>({"default", "tls"}, [](Secret& secret) { secret.string_data["key"] = "new"; });
  EXPECT_THAT(runs(), ElementsAre("default/a", "default/b"));
  harness.edit<ConfigMap>({"default", "a"}, [](ConfigMap& map) { map.data["secret"] = "unused"; });
  EXPECT_THAT(runs(), ElementsAre("default/a"));
  harness.remove<Secret>({"default", "tls"});
  EXPECT_THAT(runs(), ElementsAre("default/b"));
  harness.remove<ConfigMap>({"default", "b"});
  EXPECT_THAT(runs(), ElementsAre("default/b"));
  harness.create({a_secret("tls")});
  EXPECT_THAT(runs(), IsEmpty());
}

TEST(BuilderIndex, MayReachOtherNamespaces) {
  testing::Harness harness;
  harness.add(
      controller_for<ConfigMap>(nothing)
          .index("secret", secret_of)
          .watches<Secret>(indexed("secret", IndexScope::all_namespaces), {.when = matches_labels("by!=key")})
          .watches<Secret>(indexed("secret", IndexScope::qualified_name),
                           {.when = matches_labels("by=key")}));
  NewRuns runs(harness);
  harness.create({a_namespace("other"), user("a", "tls"), user("b", "tls", "other"), user("c", "other/tls"),
                  user("d", "default/tls", "other")});
  EXPECT_THAT(runs(), SizeIs(4));
  harness.create({a_secret("tls", "other")});
  EXPECT_THAT(runs(), ElementsAre("default/a", "other/b"));
  Secret by_key = a_secret("tls");
  by_key.metadata.labels["by"] = "key";
  harness.create({by_key});
  EXPECT_THAT(runs(), ElementsAre("other/d"));
}

// A Namespace has no namespace: it concerns what has its name in the index, wherever that is.
TEST(BuilderIndex, AClusterScopedObjectConcernsAllNamespaces) {
  testing::Harness harness;
  harness.add(controller_for<ConfigMap>(nothing)
                  .index("team", label_index("team"))
                  .watches<Namespace>(indexed("team")));
  NewRuns runs(harness);
  harness.create({a_namespace("other"), config("a", {{"team", "blue"}})});
  ConfigMap far = config("b", {{"team", "blue"}});
  far.metadata.namespace_ = "other";
  harness.create({far});
  EXPECT_THAT(runs(), SizeIs(2));
  harness.create({a_namespace("blue")});
  EXPECT_THAT(runs(), ElementsAre("default/a", "other/b"));
}

TEST(BuilderIndex, ReconcilersListByTheIndexesOfTheirKinds) {
  testing::Harness harness;
  std::vector<std::string> users;
  harness.add(controller_for<Secret>([&users](Context& context, const Secret& secret) {
                users.clear();
                for (const auto& map : context.list<ConfigMap>(by("secret", secret.metadata.name)))
                  users.push_back(map->metadata.name);
              })
                  .owns<ConfigMap>()
                  .index<ConfigMap>("secret", secret_of));
  harness.create({user("b", "tls"), user("a", "tls"), user("c", "other"), a_secret("tls")});
  harness.settle();
  EXPECT_THAT(users, ElementsAre("a", "b"));
  EXPECT_FALSE(harness.last().error);
}

TEST(BuilderIndex, RefusesWhatIsNotDeclaredOrCannotBeIndexed) {
  testing::Harness harness;
  EXPECT_EQ(refusal([&] {
              harness.add(controller_for<ConfigMap>(nothing)
                              .index("app", label_index("app"))
                              .watches<Secret>(indexed("secret")));
            }),
            R"(watches<Secret>: ConfigMap: there is no index "secret"; indexes: "app")");
  EXPECT_EQ(
      refusal([] {
        controller_for<ConfigMap>(nothing, {.form = WireForm::metadata_only}).index("secret", secret_of);
      }),
      R"(index<ConfigMap>: the index "secret" needs whole objects, and controller_for keeps metadata only; )"
      "let its function take a const WireObject&");
  EXPECT_EQ(refusal([] { controller_for<ConfigMap>(nothing).index("", secret_of); }),
            "an index needs a name");
}

TEST(BuilderIndex, TwoControllersShareAnIndexOrAreRefused) {
  testing::Harness harness;
  harness.add(controller_for<ConfigMap>(nothing).named("one").index("secret", secret_of));
  harness.add(controller_for<ConfigMap>(nothing).named("two").index("secret", secret_of));
  EXPECT_EQ(
      refusal([&] {
        harness.add(controller_for<ConfigMap>(nothing).named("three").index("secret", label_index("secret")));
      }),
      R"(ConfigMap: there is an index "secret" with another function)");
}

TEST(BuilderIndex, MetadataCanBeIndexedByLabels) {
  testing::Harness harness;
  harness.add(controller_for<ConfigMap>(nothing, {.form = WireForm::metadata_only})
                  .index("secret", label_index("secret"))
                  .watches<Secret>(indexed("secret"), {.form = WireForm::metadata_only}));
  NewRuns runs(harness);
  harness.create({config("a", {{"secret", "tls"}}), config("b")});
  EXPECT_THAT(runs(), SizeIs(2));
  harness.create({a_secret("tls")});
  EXPECT_THAT(runs(), ElementsAre("default/a"));
}

// ---- Scope of a watch

TEST(BuilderScope, AClauseWatchesSeveralNamespaces) {
  testing::Harness harness;
  harness.create({a_namespace("one"), a_namespace("two"), a_namespace("three")});
  harness.add(controller_for<ConfigMap>(nothing, {.namespaces = {"one", "two"}})
                  .index("secret", secret_of)
                  .watches<Secret>(indexed("secret", IndexScope::all_namespaces)));
  NewRuns runs(harness);
  harness.create({user("a", "tls", "one"), user("b", "tls", "two"), user("c", "tls", "three")});
  EXPECT_THAT(runs(), ElementsAre("one/a", "two/b"));
  EXPECT_THAT(harness.cache().health(), SizeIs(3)) << "two of ConfigMaps and one of Secrets";
  harness.create({a_secret("tls", "three")});
  EXPECT_THAT(runs(), ElementsAre("one/a", "two/b"));
  EXPECT_EQ(harness.cache().live_reads(), 0u) << "each object is read from the informer of its namespace";
}

TEST(BuilderScope, TwoSelectorsOnOneKindSideBySide) {
  testing::Harness harness;
  const auto to = [](const char* name) {
    return [name](const WireObject& object) {
      return ObjectKey{"default", std::string(object.name()) + name};
    };
  };
  harness.add(controller_for<ConfigMap>(nothing)
                  .watches<Secret>(to("-blue"), {.label_selector = "team=blue"})
                  .watches<Secret>(to("-green"), {.label_selector = "team in (green, lime)"})
                  .watches<Secret>(to("-named"), {.field_selector = "metadata.name=b"}));
  NewRuns runs(harness);
  for (const char* name : {"a", "b", "c"}) {
    Secret secret = a_secret(name);
    secret.metadata.labels["team"] = *name == 'a' ? "blue" : *name == 'b' ? "lime" : "red";
    harness.create({secret});
  }
  EXPECT_THAT(runs(),
              ::testing::UnorderedElementsAre("default/a-blue", "default/b-green", "default/b-named"));
  std::vector<std::string> selectors;
  for (const CollectionHealth& one : harness.cache().health()) selectors.push_back(one.selector);
  EXPECT_THAT(selectors, ElementsAre("", "team=blue", "team in (green, lime)", "metadata.name=b"));
}

// The trap of filtered caches: an object that ceases to match is reported as deleted, and exists.
TEST(BuilderScope, AnObjectThatCeasesToMatchIsReportedAsDeletedAndReadLive) {
  testing::Harness harness;
  std::vector<std::string> seen;
  harness.add(controller_for<ConfigMap>(
      [&seen](Context& context, const Request&) {
        const auto found = context.find<ConfigMap>(context.key());
        seen.push_back(!found ? "gone" : found->metadata.labels.contains("team") ? "matches" : "ghost");
      },
      {.label_selector = "team"}));
  harness.create({config("a", {{"team", "blue"}}), config("b")});
  harness.settle();
  EXPECT_THAT(seen, ElementsAre("matches"));
  EXPECT_EQ(harness.cache().live_reads(), 2u) << "before the run and in it: a selection cannot answer reads";
  harness.edit<ConfigMap>({"default", "a"}, [](ConfigMap& map) { map.metadata.labels.clear(); });
  harness.settle();
  EXPECT_THAT(seen, ElementsAre("matches", "ghost"));
  harness.remove<ConfigMap>({"default", "a"});
  harness.settle();
  EXPECT_THAT(seen, SizeIs(2)) << "it was not watched any more";
}

// Reads are served by an informer that holds all objects in question; a selection beside it changes nothing.
TEST(BuilderScope, ReadsAreLiveUnlessAnInformerHoldsEverything) {
  testing::Harness harness;
  harness.create({config("a", {{"team", "blue"}}), config("b")});
  std::size_t listed = 0;
  harness.add(controller_for<ConfigMap>(
      [&listed](Context& context, const Request&) { listed = context.list<ConfigMap>().size(); },
      {.label_selector = "team=blue"}));
  harness.settle();
  EXPECT_GT(listed, 1u) << "a list means all objects, not those of the selection";
  EXPECT_EQ(harness.cache().live_reads(), 2u) << "of the object before the run, and of the list";
  EXPECT_THROW(harness.cache().list<ConfigMap>(by("none", "x")), std::invalid_argument);
}

TEST_F(WatchedCache, EachClauseHasItsResync) {
  core->install(secret("a"));
  core->install(secret("b"));
  const auto to = [](const char* suffix) {
    return [suffix](const WireObject& object) {
      return ObjectKey{"default", std::string(object.name()) + suffix};
    };
  };
  begin(controller_for<ConfigMap>(
            [this](Context& context, const Request&) { reconciled.push_back(context.key().name); },
            {.when = [](const ObjectEvent&) { return false; }})
            .watches<Secret>(to("-often"), {.field_selector = "metadata.name=a", .resync = 10min})
            .watches<Secret>(to("-never"), {.field_selector = "metadata.name=b", .resync = Duration::zero()}),
        {.reflector = {.random = [] { return 0.5; }}, .resync = 15min});
  pass(1s);
  EXPECT_THAT(reconciled, ::testing::UnorderedElementsAre("a-often", "b-never"));
  reconciled.clear();
  pass(21min);
  EXPECT_THAT(reconciled, ElementsAre("a-often", "a-often"));
}

TEST(BuilderScope, RefusesScopesThatCannotBeRight) {
  const auto owns = [](TriggerOptions options) {
    return refusal([&] { controller_for<ConfigMap>(nothing).owns<Secret>(options); });
  };
  EXPECT_THAT(owns({.label_selector = "team in blue"}),
              ::testing::StartsWith(R"(owns<Secret>: label_selector "team in blue": )"));
  EXPECT_THAT(owns({.field_selector = "metadata.name"}),
              ::testing::StartsWith(R"(owns<Secret>: field_selector "metadata.name": )"));
  EXPECT_EQ(owns({.namespaces = {"a", ""}}),
            "owns<Secret>: namespaces: one is empty; leave the option out for all");
  EXPECT_EQ(owns({.namespaces = {"a", "b", "a"}}), R"(owns<Secret>: namespaces: "a" is there twice)");
  EXPECT_EQ(owns({.resync = -1s}), "owns<Secret>: resync must not be negative");
  EXPECT_EQ(refusal([] { controller_for<Namespace>(nothing, {.namespaces = {"a"}}); }),
            "controller_for<Namespace>: namespaces: the kind is cluster-scoped");
  const auto to_itself = [](const WireObject& object) { return object.key(); };
  EXPECT_THAT(refusal([&] {
                controller_for<ConfigMap>(nothing).watches<Secret>(to_itself, {.label_selector = "a b"});
              }),
              ::testing::StartsWith(R"(watches<Secret>: label_selector "a b": )"));
  EXPECT_EQ(refusal([] {
              watch_object<Secret>({.namespaces = {"a", "b"}});
            }),
            "watch<Secret>: only one namespace is possible; add a watch for each");
}

}  // namespace
}  // namespace evenkeel
