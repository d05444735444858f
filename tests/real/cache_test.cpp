// SPDX-License-Identifier: Apache-2.0
// The cache with a real API server: during its crash and restart, in parts of a kind, by indexes, and on an
// etcd that is so old that the server rejects streaming lists.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/testing/environment.hpp>
#include <evenkeel/testing/log_recorder.hpp>

#include "../support/await.hpp"
#include "../support/event_ledger.hpp"
#include "real_environment.hpp"

namespace {

namespace ek = evenkeel;
using namespace std::chrono_literals;
using ek::ConfigMap;
using ek::testing::Component;
using ek::testing::Environment;
using ek::tests::await;
using ek::tests::environment;
using ek::tests::EventLedger;
using ::testing::HasSubstr;

using Versions = std::map<std::string, std::string>;

ConfigMap config_map(const std::string& namespace_, int number, const std::string& value) {
  return {.metadata = {.name = "object-" + std::to_string(number), .namespace_ = namespace_},
          .data = {{"a", value}}};
}

Versions served(const ek::Client& client, const std::string& namespace_) {
  Versions result;
  for (const auto& object : client.list<ConfigMap>({.namespace_ = namespace_}).items)
    result[object->metadata.name] = object->metadata.resource_version;
  return result;
}

Versions held(const ek::Informer& informer) {
  Versions result;
  for (const ek::WireObject& object : informer.store().snapshot())
    result[std::string(object.name())] = object.resource_version();
  return result;
}

/// Options with short back-offs: the server restarts within seconds.
ek::ReflectorOptions quick(bool streaming) {
  return {.backoff_base = 10ms, .backoff_max = 200ms, .streaming_list = streaming};
}

class RealCache : public ::testing::TestWithParam<bool> {};

TEST_P(RealCache, LosesNothingWhenTheServerIsKilledAndComesBack) {
  const ek::Client client(environment().config());
  const std::string team = ek::tests::fresh_namespace(client);
  for (int i = 0; i < 50; ++i) client.create(config_map(team, i, "0"));
  ek::Cache cache(client, {.namespace_ = team, .reflector = quick(GetParam())});
  ek::Informer& informer = cache.informer<ConfigMap>();
  const auto ledger = std::make_shared<EventLedger>();
  informer.add_handler(ledger);
  cache.start();
  ASSERT_TRUE(cache.wait_for_sync({}));

  // Writes continue until the server was killed three times; those without a response may be lost or not.
  std::atomic<bool> enough = false;
  std::atomic<int> writes = 0;
  std::vector<std::thread> writers;
  writers.reserve(3);
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&, writer] {
      for (int turn = 0; !enough; ++turn) {
        const int number = writer + 3 * (turn % 20);
        try {
          if (turn % 7 == 6)
            client.with({.timeout = 5s})
                .remove<ConfigMap>(ek::ObjectKey{team, "object-" + std::to_string(number)});
          else
            client.with({.timeout = 5s}).apply(config_map(team, number, std::to_string(turn)));
          ++writes;
        } catch (const ek::Error&) {
        }
      }
    });
  }
  for (int kills = 1; kills <= 3; ++kills) {
    const int before = writes;
    await("a hundred writes", [&] { return writes >= before + 100; });
    environment().kill(Component::api_server);
    environment().start(Component::api_server);
  }
  await("writes after the last start", [&, before = writes.load()] { return writes >= before + 100; });
  enough = true;
  for (std::thread& writer : writers) writer.join();

  const Versions expected = served(client, team);
  await("the cache to hold what the server has", [&] { return held(informer) == expected; });
  await("the handler to be told", [&] { return ledger->versions() == expected; });
  EXPECT_EQ(ledger->problems(), std::vector<std::string>());
  const ek::InformerHealth health = informer.health();
  EXPECT_EQ(health.counters.undecodable, 0u);
  EXPECT_GE(health.counters.watches, 4u);
  std::printf("[ writes   ] %d; %llu lists, %llu watches, %llu events\n", writes.load(),
              static_cast<unsigned long long>(health.counters.lists),
              static_cast<unsigned long long>(health.counters.watches),
              static_cast<unsigned long long>(health.counters.events));
}

TEST_P(RealCache, ReadsTheFirstStateAndFollows) {
  const ek::Client client(environment().config());
  const std::string team = ek::tests::fresh_namespace(client);
  for (int i = 0; i < 30; ++i) client.create(config_map(team, i, "0"));
  auto options = quick(GetParam());
  options.page_size = 7;
  ek::Cache cache(client, {.namespace_ = team, .reflector = options});
  ek::Informer& informer = cache.informer<ConfigMap>();
  cache.start();
  ASSERT_TRUE(cache.wait_for_sync({}));
  EXPECT_EQ(held(informer), served(client, team));
  EXPECT_EQ(informer.health().counters.lists, GetParam() ? 0u : 1u) << "as a stream or as a list";
  const auto changed = client.apply(config_map(team, 3, "changed"));
  client.remove<ConfigMap>({team, "object-4"});
  await("the events", [&] { return held(informer) == served(client, team); });
  EXPECT_EQ(cache.find<ConfigMap>({team, "object-3"})->data.at("a"), "changed");
  EXPECT_EQ(informer.health().counters.failures, 0u);
}

INSTANTIATE_TEST_SUITE_P(FirstState, RealCache, ::testing::Values(false, true),
                         [](const auto& param) { return param.param ? "Streamed" : "Listed"; });

using Keys = std::vector<std::string>;

/// Three colours in each of two namespaces.
class RealCacheParts : public ::testing::Test {
 protected:
  RealCacheParts() {
    for (const std::string& space : {a_, b_}) {
      for (const char* colour : {"blue", "green", "red"}) {
        client_.create(
            ConfigMap{.metadata = {.name = colour, .namespace_ = space, .labels = {{"colour", colour}}},
                      .data = {{"a", "0"}}});
      }
    }
  }
  static Keys names(const std::vector<ek::Snapshot<ConfigMap>>& objects) {
    Keys result;
    result.reserve(objects.size());
    for (const auto& object : objects) result.push_back(object->metadata.name);
    return result;
  }
  const ek::Client client_{environment().config()};
  const std::string a_ = ek::tests::fresh_namespace(client_);
  const std::string b_ = ek::tests::fresh_namespace(client_);
};

TEST_F(RealCacheParts, NamespacesAndSelectorsStandSideBySide) {
  ek::Cache cache(client_);
  const ek::Informer& cool =
      cache.informer<ConfigMap>({.namespace_ = a_, .label_selector = "colour in (blue,green)"});
  const ek::Informer& red =
      cache.informer<ConfigMap>({.namespace_ = a_, .field_selector = "metadata.name=red"});
  const ek::Informer& all = cache.informer<ConfigMap>({.namespace_ = b_});
  cache.start();
  ASSERT_TRUE(cache.wait_for_sync({}));
  const auto held_names = [](const ek::Informer& informer) {
    const Versions versions = held(informer);
    Keys result;
    result.reserve(versions.size());
    for (const auto& [name, version] : versions) result.push_back(name);
    return result;
  };
  EXPECT_EQ(held_names(cool), (Keys{"blue", "green"})) << "the server sends no more";
  EXPECT_EQ(held_names(red), (Keys{"red"}));
  EXPECT_EQ(held_names(all), (Keys{"blue", "green", "red"}));
  EXPECT_TRUE(cache.find<ConfigMap>({b_, "red"}));
  EXPECT_EQ(cache.live_reads(), 0u);
  EXPECT_TRUE(cache.find<ConfigMap>({a_, "red"}))
      << "from the server: a selection does not say what is absent";
  EXPECT_EQ(cache.live_reads(), 1u);

  // Objects enter and leave a selection; another client writes.
  const ek::Client other(environment().config());
  const auto paint = [&](const char* name, const char* colour) {
    other.patch(other.get<ConfigMap>({a_, name}),
                [&](ConfigMap& map) { map.metadata.labels["colour"] = colour; });
  };
  paint("red", "green");
  await("an object that enters", [&] { return held_names(cool) == Keys{"blue", "green", "red"}; });
  paint("blue", "grey");
  await("an object that leaves", [&] { return held_names(cool) == Keys{"green", "red"}; });
}

TEST_F(RealCacheParts, ObjectsAreReadFromEveryForm) {
  const auto shorten = [](ek::Json& object) { object["data"]["a"] = "short"; };
  for (const ek::WireForm form : {ek::WireForm::whole, ek::WireForm::projected, ek::WireForm::compressed}) {
    for (const bool shortened : {false, true}) {
      ek::Cache cache(client_);
      if (shortened) cache.transform<ConfigMap>(shorten);
      cache.informer<ConfigMap>({.namespace_ = a_, .form = form});
      cache.start();
      ASSERT_TRUE(cache.wait_for_sync({}));
      const auto blue = cache.find<ConfigMap>({a_, "blue"});
      EXPECT_EQ(blue->data, (std::map<std::string, std::string>{{"a", shortened ? "short" : "0"}}));
      EXPECT_EQ(blue->metadata.labels.at("colour"), "blue");
      EXPECT_EQ(cache.live_reads(), 0u);
    }
  }
}

TEST_F(RealCacheParts, LeasesEndWithTheirLastReader) {
  ek::Cache cache(client_);
  cache.start();
  const auto lease = [&](const std::string& space) {
    return cache.lease(ek::ResourceId(ConfigMap::resource), {.namespace_ = space});
  };
  auto first = lease(a_), second = lease(a_), other = lease(b_);
  ASSERT_TRUE(first->wait_for_sync({}));
  ASSERT_TRUE(other->wait_for_sync({}));
  first.reset();
  EXPECT_TRUE(cache.find<ConfigMap>({a_, "red"}));
  EXPECT_TRUE(cache.find<ConfigMap>({b_, "red"}));
  EXPECT_EQ(cache.live_reads(), 0u);
  second.reset();
  EXPECT_EQ(cache.health().size(), 1u);
  EXPECT_TRUE(cache.find<ConfigMap>({a_, "red"})) << "from the server";
  EXPECT_EQ(cache.live_reads(), 1u);
  second = lease(a_);
  ASSERT_TRUE(second->wait_for_sync({}));
  EXPECT_TRUE(cache.find<ConfigMap>({a_, "red"}));
  EXPECT_EQ(cache.live_reads(), 1u);
}

TEST_F(RealCacheParts, NothingIsWatchedThatWasNotDeclared) {
  const auto log = std::make_shared<ek::testing::LogRecorder>();
  ek::Cache live(client_, {.log = ek::Log(log)});
  live.start();
  for (const char* name : {"blue", "red"}) EXPECT_TRUE(live.find<ConfigMap>({a_, name}));
  EXPECT_EQ(names(live.list<ConfigMap>({.namespace_ = a_})), (Keys{"blue", "green", "red"}));
  EXPECT_EQ(live.live_reads(), 3u);
  EXPECT_EQ(log->lines_with("reading from the server because the cache cannot answer").size(), 1u);
  EXPECT_TRUE(live.health().empty());
  ek::Cache strict(client_, {.live_reads = false});
  strict.start();
  EXPECT_THROW(strict.find<ConfigMap>({a_, "red"}), ek::NotCached);
}

TEST_F(RealCacheParts, IndexesFindByLabelByOwnerAndInPages) {
  ek::Cache cache(client_);
  for (const std::string& space : {a_, b_}) cache.informer<ConfigMap>({.namespace_ = space});
  cache.index<ConfigMap>("colour", ek::label_index("colour"));
  cache.index<ConfigMap>("value", [](const ConfigMap& map) { return map.data.at("a"); });
  cache.start();
  ASSERT_TRUE(cache.wait_for_sync({}));
  EXPECT_EQ(names(cache.list<ConfigMap>(ek::by("colour", "red"), {.namespace_ = b_})), (Keys{"red"}));
  const auto page = cache.list<ConfigMap>(ek::by("value", "0"), {.namespace_ = a_, .limit = 2});
  EXPECT_EQ(names(page), (Keys{"blue", "green"}));
  EXPECT_EQ(names(cache.list<ConfigMap>(ek::by("value", "0"),
                                        {.namespace_ = a_, .limit = 2, .after = ek::ObjectKey{a_, "green"}})),
            (Keys{"red"}));
  const ek::Client other(environment().config());
  const auto owner = other.get<ConfigMap>({a_, "blue"});
  other.patch(other.get<ConfigMap>({a_, "red"}), [&](ConfigMap& map) {
    map.data["a"] = "1";
    map.metadata.owner_references = {
        {.api_version = "v1", .kind = "ConfigMap", .name = "blue", .uid = owner->metadata.uid}};
  });
  await("the change",
        [&] { return cache.list<ConfigMap>(ek::by("value", "1"), {.namespace_ = a_}).size() == 1; });
  EXPECT_EQ(names(cache.owned_by<ConfigMap>(*owner)), (Keys{"red"}));
  EXPECT_EQ(cache.live_reads(), 0u);
}

/// Runs the server on Debian's etcd, see scripts/get-program.
class OldEtcd : public ::testing::Test {
 protected:
  static Environment& old() {
    static Environment shared({.etcd = EVENKEEL_OLD_ETCD});
    return shared;
  }
};

/// Collects a streamed list.
struct Frames final : ek::http::StreamHandler {
  void on_response(int code, const ek::http::Headers&) override { status = code; }
  void on_data(std::string_view piece) override { text += piece; }
  void on_end(std::exception_ptr) override { ended = true; }
  int status = 0;
  std::string text = {};
  std::atomic<bool> ended = false;
};

TEST_F(OldEtcd, RefusesStreamingLists) {
  const ek::Client client(old().config());
  const auto frames = std::make_shared<Frames>();
  client.stream({.resource = ek::ResourceId(ConfigMap::resource),
                 .query = {{"watch", "true"},
                           {"sendInitialEvents", "true"},
                           {"resourceVersionMatch", "NotOlderThan"},
                           {"allowWatchBookmarks", "true"}}},
                frames);
  await("the watch to end", [&] { return frames->ended.load(); });
  EXPECT_EQ(frames->status, 200);
  const ek::Json event = ek::Json::parse(frames->text);
  EXPECT_EQ(event["type"].as_string(), "ERROR");
  EXPECT_EQ(event.at({"object", "code"}).dump(), "500");
  EXPECT_THAT(event.at({"object", "message"}).as_string(), HasSubstr("RequestWatchProgress is disabled"));
}

TEST_F(OldEtcd, TheCacheFallsBackToPagesAndFollows) {
  const ek::Client client(old().config());
  const std::string team = ek::tests::fresh_namespace(client);
  for (int i = 0; i < 30; ++i) client.create(config_map(team, i, "0"));
  auto options = quick(true);
  options.page_size = 7;
  ek::Cache cache(client, {.namespace_ = team, .reflector = options});
  ek::Informer& informer = cache.informer<ConfigMap>();
  const auto ledger = std::make_shared<EventLedger>();
  informer.add_handler(ledger);
  cache.start();
  ASSERT_TRUE(cache.wait_for_sync({}));
  EXPECT_EQ(held(informer), served(client, team));
  EXPECT_EQ(informer.health().counters.lists, 1u);
  EXPECT_EQ(informer.health().counters.failures, 0u) << "no back-off: the list comes at once";
  client.apply(config_map(team, 3, "changed"));
  client.remove<ConfigMap>({team, "object-4"});
  await("the events", [&] { return held(informer) == served(client, team); });

  // Again after a restart of the server.
  old().restart(Component::api_server);
  client.apply(config_map(team, 5, "changed"));
  await("the event after the restart", [&] { return ledger->versions() == served(client, team); });
  EXPECT_EQ(ledger->problems(), std::vector<std::string>());
}

}  // namespace
