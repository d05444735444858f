// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/client/wait.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/controller/helpers.hpp>
#include <evenkeel/testing/harness.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;

struct Site {
  static constexpr ResourceInfo resource{
      .group = "test.evenkeel.dev", .version = "v1", .kind = "Site", .plural = "sites"};
  struct Spec {
    std::string text;
  };
  struct Status {
    std::vector<Condition> conditions;
  };
  ObjectMeta metadata;
  Spec spec;
  Status status;
};
EVENKEEL_FIELDS(Site::Spec, text)
EVENKEEL_FIELDS(Site::Status, conditions)
EVENKEEL_FIELDS(Site, metadata, spec, status)

const ObjectKey key{"default", "web"};

Site site(const std::string& text) {
  return {.metadata = {.name = key.name, .namespace_ = key.namespace_}, .spec = {text}, .status = {}};
}

class HelpersTest : public ::testing::Test {
 protected:
  // A controller that maintains a config map, and records its writes.
  ControllerSpec keeper() {
    return controller_for<Site>([this](Context& context, const Site& site) {
             written.push_back(create_or_update<ConfigMap>(context, context.key(), [&](ConfigMap& map) {
                                 set_controller_reference(site, map.metadata);
                                 map.data["text"] = site.spec.text;
                               }).operation);
           })
        .owns<ConfigMap>();
  }

  testing::Harness harness;
  std::vector<OperationResult> written;
};

TEST_F(HelpersTest, CreateOrUpdateSendsOnlyWhatIsMissing) {
  harness.add(keeper());
  harness.create({site("hello")});
  EXPECT_TRUE(harness.settle());
  EXPECT_THAT(written, ElementsAre(OperationResult::created, OperationResult::unchanged)) << harness.str();
  EXPECT_EQ(harness.get<ConfigMap>(key)->data.at("text"), "hello");
  ASSERT_THAT(harness.get<ConfigMap>(key)->metadata.owner_references, SizeIs(1));
  EXPECT_EQ(harness.get<ConfigMap>(key)->metadata.owner_references[0].block_owner_deletion, true);
  harness.edit<ConfigMap>(key, [](ConfigMap& map) { map.data["theirs"] = "stays"; });
  EXPECT_TRUE(harness.settle());
  EXPECT_EQ(written.back(), OperationResult::unchanged);
  harness.edit<Site>(key, [](Site& site) { site.spec.text = "bye"; });
  EXPECT_TRUE(harness.settle());
  EXPECT_THAT(written, ::testing::Contains(OperationResult::updated).Times(1)) << harness.str();
  EXPECT_EQ(harness.get<ConfigMap>(key)->data.at("text"), "bye");
  EXPECT_EQ(harness.get<ConfigMap>(key)->data.at("theirs"), "stays");
}

// The object is not in the cache yet: the result must not be AlreadyExists.
TEST_F(HelpersTest, CreateOrUpdateAsksTheServerIfTheCacheIsBehind) {
  testing::Harness late({.cache_lag = 1h});
  late.add(keeper());
  EXPECT_TRUE(late.settle(1min));
  late.create({ConfigMap{.metadata = {.name = "web", .namespace_ = "default"}, .data = {{"text", "old"}}}});
  late.create({site("new")});
  late.enqueue(key);
  late.run_for(2h);
  ASSERT_FALSE(written.empty());
  EXPECT_EQ(written.front(), OperationResult::updated) << late.str();
  EXPECT_EQ(late.get<ConfigMap>(key)->data.at("text"), "new");
}

TEST_F(HelpersTest, AConditionKeepsItsTransitionTimeUntilItsStatusChanges) {
  harness.add(controller_for<Site>([](Context& context, const Site& site) {
    const bool ready = site.spec.text != "bad";
    set_condition(context, site,
                  {.type = "Ready",
                   .status = ready ? "True" : "False",
                   .reason = ready ? "AllGood" : "BadText",
                   .message = site.spec.text});
  }));
  harness.create({site("one")});
  EXPECT_TRUE(harness.settle());
  const auto ready = [this] { return harness.get<Site>(key)->status.conditions.at(0); };
  const Condition first = ready();
  EXPECT_EQ(first.observed_generation, 1);
  ASSERT_TRUE(first.last_transition_time);
  const std::size_t writes = harness.changes().size();
  harness.run_for(1h);
  harness.enqueue(key);
  EXPECT_TRUE(harness.settle());
  EXPECT_EQ(harness.changes().size(), writes) << "nothing new is not written";
  harness.edit<Site>(key, [](Site& site) { site.spec.text = "two"; });
  EXPECT_TRUE(harness.settle());
  EXPECT_EQ(ready().message, "two");
  EXPECT_EQ(ready().observed_generation, 2);
  EXPECT_EQ(ready().last_transition_time, first.last_transition_time);
  harness.edit<Site>(key, [](Site& site) { site.spec.text = "bad"; });
  EXPECT_TRUE(harness.settle());
  EXPECT_EQ(ready().status, "False");
  EXPECT_NE(*ready().last_transition_time, *first.last_transition_time);
}

// ---- Waiting

TEST(WaitUntilConcurrency, FollowsAnObjectFromItsAbsenceToItsEnd) {
  auto core = std::make_shared<apiserver::SharedCore>();
  const Client client(Config{.server = "http://test"},
                      {.transport = std::make_shared<apiserver::InProcessTransport>(core)});
  const std::stop_source stop;
  const auto has_text = [](const Snapshot<ConfigMap>& map) { return map && map->data.contains("text"); };
  const auto gone = [](const Snapshot<ConfigMap>& map) { return !map; };
  EXPECT_FALSE(*wait_until<ConfigMap>(client, key, gone, stop.get_token())) << "it holds at once";
  std::jthread writer([&client] {
    const auto made = client.create(ConfigMap{.metadata = {.name = "web", .namespace_ = "default"}});
    client.create(
        ConfigMap{.metadata = {.name = "other", .namespace_ = "default"}, .data = {{"text", "no"}}});
    client.patch(made, [](ConfigMap& map) { map.data["text"] = "yes"; });
  });
  const auto found = wait_until<ConfigMap>(client, key, has_text, stop.get_token());
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)->metadata.name, "web");
  EXPECT_EQ((*found)->data.at("text"), "yes");
  writer.join();
  std::jthread remover([&client] { client.remove<ConfigMap>(key); });
  EXPECT_TRUE(wait_until<ConfigMap>(client, key, gone, stop.get_token()));
}

TEST(WaitUntilConcurrency, ReturnsNothingWhenItIsStopped) {
  const Client client(Config{.server = "http://test"},
                      {.transport = std::make_shared<apiserver::InProcessTransport>()});
  std::stop_source stop;
  std::jthread stopper([&stop] { stop.request_stop(); });
  EXPECT_FALSE(wait_until<ConfigMap>(
      client, key, [](const Snapshot<ConfigMap>& map) { return static_cast<bool>(map); }, stop.get_token()));
}

}  // namespace
}  // namespace evenkeel
