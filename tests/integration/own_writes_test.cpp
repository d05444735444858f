// SPDX-License-Identifier: Apache-2.0
// Reads of own writes from a cache whose watch is behind, against the embedded API server. Tests in
// OwnWritesComplaint are named after complaints of users of a runtime whose reads wait for the watch.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/client/subresources.hpp>
#include <evenkeel/controller/context.hpp>

#include "../support/await.hpp"

namespace {

namespace ek = evenkeel;
using ek::ConfigMap;
using ek::Pod;
using ek::tests::await;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A config map as a type that declares all that the tests use.
struct WholeMap {
  static constexpr ek::ResourceInfo resource = ConfigMap::resource;
  static constexpr bool complete = true;
  ek::ObjectMeta metadata = {};
  std::map<std::string, std::string> data = {};
};
EVENKEEL_FIELDS(WholeMap, metadata, data)

/// A cache without threads: its watch delivers nothing until the test has it catch up.
class OwnWritesConcurrency : public ::testing::Test {
 protected:
  OwnWritesConcurrency() { declare(cache_.informer<ConfigMap>()); }

  void declare(ek::Informer& informer) {
    cache_.start();
    await("the first list", [&] {
      cache_.pump();
      return informer.synced();
    });
  }
  /// Blocks until the watch of `informer` has delivered this version, or a later one.
  void catch_up(const ek::Informer& informer, const std::string& version) {
    await("the watch", [&] {
      cache_.pump();
      return ek::compare_resource_versions(informer.health().resource_version, version) !=
             std::strong_ordering::less;
    });
  }
  static ConfigMap map(const std::string& name, const std::string& value = "1") {
    return {.metadata = {.name = name, .namespace_ = "default", .labels = {{"app", value}}},
            .data = {{"k", value}}};
  }
  static Pod pod(const std::string& name) {
    Pod pod{.metadata = {.name = name, .namespace_ = "default", .labels = {{"app", "web"}}}};
    pod.spec.containers = {{.name = "c", .image = "i"}};
    return pod;
  }
  std::vector<std::string> listed(const ek::ListOptions& options = {.namespace_ = "default"}) const {
    std::vector<std::string> result;
    for (const auto& one : cache_.list<ConfigMap>(options))
      result.push_back(one->metadata.name + "=" + one->data.at("k"));
    return result;
  }
  std::string value(const std::string& name) const {
    const auto found = cache_.find<ConfigMap>({"default", name});
    return found ? found->data.at("k") : "none";
  }

  std::shared_ptr<ek::ManualClock> clock_ = std::make_shared<ek::ManualClock>();
  std::shared_ptr<ek::apiserver::SharedCore> server_ = std::make_shared<ek::apiserver::SharedCore>();
  ek::Client client_{{.server = "http://in-process"},
                     {.transport = std::make_shared<ek::apiserver::InProcessTransport>(server_)}};
  ek::Cache cache_{client_, {.threads = 0, .clock = clock_}};
};

TEST_F(OwnWritesConcurrency, EveryVerbOfAClientIsSeen) {
  client_.create(map("a"));
  EXPECT_THAT(listed(), ElementsAre("a=1"));
  auto read = cache_.find<ConfigMap>({"default", "a"});
  read = client_.patch(read, [](ConfigMap& one) { one.data["k"] = "2"; });
  EXPECT_EQ(value("a"), "2");
  WholeMap updated{read->metadata, {{"k", "3"}}};
  client_.update(updated);
  EXPECT_EQ(value("a"), "3");
  client_.with({.field_owner = "other"}).apply(map("b", "4"));
  EXPECT_THAT(listed(), ElementsAre("a=3", "b=4"));
  EXPECT_THAT(listed({.namespace_ = "default", .label_selector = "app=4"}), ElementsAre("b=4"));
  client_.remove<ConfigMap>({"default", "a"});
  EXPECT_THAT(listed(), ElementsAre("b=4"));
  EXPECT_EQ(cache_.live_reads(), 0U);
}

TEST_F(OwnWritesConcurrency, CallsWithoutATypeAndCallsThatCompleteLaterAreSeen) {
  const ek::ResourceId resource(ConfigMap::resource);
  ek::DynamicObject object(ek::Json::parse(ek::to_json(map("a")), "a"));
  client_.resource(resource).create(object);
  EXPECT_EQ(value("a"), "1");
  const ek::RestRequest request{.method = ek::http::Method::patch,
                                .content_type = "application/merge-patch+json",
                                .body = R"({"data":{"k":"2"}})",
                                .path = "/api/v1/namespaces/default/configmaps/a"};
  client_.raw(request);
  EXPECT_EQ(value("a"), "2");
  std::atomic<bool> done = false;
  client_.start(ek::calls::remove<ConfigMap>({"default", "a"}), [&](const auto& outcome) {
    EXPECT_TRUE(outcome.ok());
    EXPECT_EQ(value("a"), "none") << "when the completion is called";
    done = true;
  });
  await("the completion", [&] { return done.load(); });
  EXPECT_EQ(cache_.live_reads(), 0U);
}

TEST_F(OwnWritesConcurrency, AnObjectThatIsCreatedAgainIsAnotherOne) {
  ek::Informer& informer = cache_.informer<ConfigMap>();
  for (const char* value : {"1", "2", "3"}) {
    client_.create(map("a", value));
    EXPECT_THAT(listed(), ElementsAre("a=" + std::string(value)));
    client_.remove<ConfigMap>({"default", "a"});
    EXPECT_THAT(listed(), IsEmpty());
  }
  const auto last = client_.create(map("a", "4"));
  catch_up(informer, last->metadata.resource_version);
  EXPECT_THAT(listed(), ElementsAre("a=4"));
}

TEST_F(OwnWritesConcurrency, ADeletionThatAFinalizerHoldsShowsTheTimestampAndItsEndNothing) {
  ConfigMap held = map("a");
  held.metadata.finalizers = {"test.dev/hold"};
  client_.create(held);
  client_.remove<ConfigMap>({"default", "a"});
  const auto read = cache_.find<ConfigMap>({"default", "a"});
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->metadata.deletion_timestamp);
  client_.patch(read, [](ConfigMap& one) { one.metadata.finalizers.clear(); });
  EXPECT_EQ(value("a"), "none");
  EXPECT_THAT(listed(), IsEmpty());
  EXPECT_EQ(cache_.live_reads(), 0U);
}

TEST_F(OwnWritesConcurrency, ADeletedCollectionIsReadFromTheServerUntilTheWatchShowsIt) {
  for (int i = 0; i < 12; ++i) client_.create(map("a" + std::to_string(i), i < 10 ? "x" : "y"));
  client_.remove_all<ConfigMap>({.namespace_ = "default", .label_selector = "app=x"});
  EXPECT_THAT(listed(), ElementsAre("a10=y", "a11=y"));
  EXPECT_EQ(value("a0"), "none");
  EXPECT_GT(cache_.live_reads(), 0U);
  const auto last = client_.create(map("b"));
  catch_up(cache_.informer<ConfigMap>(), last->metadata.resource_version);
  const std::uint64_t before = cache_.live_reads();
  EXPECT_THAT(listed(), ElementsAre("a10=y", "a11=y", "b=1"));
  EXPECT_EQ(cache_.live_reads(), before);
}

TEST_F(OwnWritesConcurrency, AfterAConflictAReadIsNotTheOldStateAgain) {
  const auto created = client_.create(map("a"));
  catch_up(cache_.informer<ConfigMap>(), created->metadata.resource_version);
  // Somebody else writes, with a client of his own.
  const ek::Client other({.server = "http://in-process"},
                         {.transport = std::make_shared<ek::apiserver::InProcessTransport>(server_)});
  other.patch(created, [](ConfigMap& one) { one.data["k"] = "2"; });
  WholeMap mine = *cache_.find<WholeMap>({"default", "a"});
  EXPECT_EQ(mine.data.at("k"), "1") << "the watch is behind";
  mine.data["k"] = "3";
  EXPECT_THROW(client_.update(mine), ek::ApiError);
  const auto again = cache_.find<WholeMap>({"default", "a"});
  EXPECT_EQ(again->data.at("k"), "2");
  mine = *again;
  mine.data["k"] = "3";
  client_.update(mine);
  EXPECT_EQ(value("a"), "3");
  EXPECT_EQ(cache_.live_reads(), 1U) << "the own write is known";
}

TEST_F(OwnWritesConcurrency, AfterALostAnswerReadsAskTheServerForAWhile) {
  const auto created = client_.create(map("a"));
  server_->inject({.verb = "patch", .count = 1, .drop = ek::apiserver::FaultDrop::after});
  EXPECT_THROW(client_.patch(created, [](ConfigMap& one) { one.data["k"] = "2"; }), ek::TransportError);
  EXPECT_EQ(value("a"), "2");
  EXPECT_THAT(listed(), ElementsAre("a=2"));
  clock_->advance(seconds{60});
  const std::uint64_t before = cache_.live_reads();
  EXPECT_EQ(value("a"), "2") << "as it was read last: the watch is still behind";
  EXPECT_EQ(cache_.live_reads(), before);
}

TEST_F(OwnWritesConcurrency, AListByIndexReadsWhatIsUnknown) {
  cache_.index<ConfigMap>("k", [](const ConfigMap& one) { return one.data.at("k"); });
  const auto created = client_.create(map("a"));
  client_.create(map("b"));
  server_->inject({.verb = "patch", .count = 1, .drop = ek::apiserver::FaultDrop::after});
  EXPECT_THROW(client_.patch(created, [](ConfigMap& one) { one.data["k"] = "2"; }), ek::TransportError);
  const auto named = [&](const std::string& value) {
    std::vector<std::string> names;
    for (const auto& one : cache_.list<ConfigMap>(ek::by("k", value), {.namespace_ = "default"}))
      names.push_back(one->metadata.name);
    return names;
  };
  EXPECT_THAT(named("2"), ElementsAre("a"));
  EXPECT_THAT(named("1"), ElementsAre("b"));
}

TEST_F(OwnWritesConcurrency, AnObjectThatSomebodyElseDeletedIsGoneAfterTheServerDidNotFindIt) {
  const auto created = client_.create(map("a"));
  catch_up(cache_.informer<ConfigMap>(), created->metadata.resource_version);
  const ek::Client other({.server = "http://in-process"},
                         {.transport = std::make_shared<ek::apiserver::InProcessTransport>(server_)});
  other.remove<ConfigMap>({"default", "a"});
  EXPECT_EQ(value("a"), "1") << "the watch is behind";
  EXPECT_THROW(client_.patch(created, [](ConfigMap& one) { one.data["k"] = "2"; }), ek::ApiError);
  EXPECT_EQ(value("a"), "none");
  EXPECT_THAT(listed(), IsEmpty());
  EXPECT_EQ(cache_.live_reads(), 1U);
}

TEST_F(OwnWritesConcurrency, ANameThatSomebodyElseTookIsReadFromTheServer) {
  const ek::Client other({.server = "http://in-process"},
                         {.transport = std::make_shared<ek::apiserver::InProcessTransport>(server_)});
  other.create(map("a", "theirs"));
  EXPECT_EQ(value("a"), "none") << "the watch is behind";
  EXPECT_THROW(client_.create(map("a")), ek::ApiError);
  EXPECT_EQ(value("a"), "theirs");
}

TEST_F(OwnWritesConcurrency, AnotherClientIsSeenOnceItIsObserved) {
  const ek::Client other({.server = "http://in-process"},
                         {.transport = std::make_shared<ek::apiserver::InProcessTransport>(server_)});
  other.create(map("a"));
  EXPECT_EQ(value("a"), "none");
  cache_.observe(other);
  other.with({.field_owner = "x"}).create(map("b"));
  EXPECT_THAT(listed(), ElementsAre("b=1"));
}

TEST_F(OwnWritesConcurrency, TheVerbsOfAContextAreSeen) {
  declare(cache_.informer<Pod>());
  declare(cache_.informer<ek::Deployment>());
  ek::Context context({.client = client_, .cache = &cache_});
  const auto created = context.create(map("a"), {.own = false});
  EXPECT_EQ(context.find<ConfigMap>({"default", "a"})->data.at("k"), "1");
  const WholeMap changed{created->metadata, {{"k", "2"}}};
  context.update(changed);
  EXPECT_EQ(context.find<ConfigMap>({"default", "a"})->data.at("k"), "2");
  context.remove(changed);
  EXPECT_FALSE(context.find<ConfigMap>({"default", "a"}));

  const auto web = context.create(pod("web"), {.own = false});
  context.evict(*web);
  const auto evicted = context.find<Pod>({"default", "web"});
  EXPECT_TRUE(!evicted || evicted->metadata.deletion_timestamp);

  ek::Deployment deployment{.metadata = {.name = "d", .namespace_ = "default"}};
  deployment.spec.replicas = 1;
  deployment.spec.selector = ek::LabelSelector{.match_labels = {{"app", "web"}}};
  deployment.spec.template_.metadata.labels = {{"app", "web"}};
  deployment.spec.template_.spec.containers = {{.name = "c", .image = "i"}};
  context.create(deployment, {.own = false});
  context.scale<ek::Deployment>({"default", "d"}, 3);
  EXPECT_EQ(context.find<ek::Deployment>({"default", "d"})->spec.replicas, 3);
  ek::Deployment status{.metadata = {.name = "d", .namespace_ = "default"}};
  status.status.observed_generation = 2;
  context.apply_status(status);
  EXPECT_EQ(context.find<ek::Deployment>({"default", "d"})->status.observed_generation, 2);
}

using OwnWritesComplaintConcurrency = OwnWritesConcurrency;

// "The wait has no deadline: it blocks until the context ends."
TEST_F(OwnWritesComplaintConcurrency, AReadWaitsForNoWatch) {
  client_.create(map("a"));
  EXPECT_THAT(listed(), ElementsAre("a=1"));
  EXPECT_EQ(cache_.live_reads(), 0U);
  clock_->advance(std::chrono::minutes{5});
  EXPECT_THAT(listed(), IsEmpty()) << "CacheOptions::own_write_timeout: what the watch has";
}

// "A write outside of the selector of a cache blocks the next read of that kind."
TEST_F(OwnWritesComplaintConcurrency, AWriteOutsideOfASelectorIsHiddenAndHoldsUpNothing) {
  ek::Informer& web = cache_.informer<ConfigMap>({.label_selector = "app=web"});
  declare(web);
  const auto inside = client_.create(map("a", "web"));
  client_.create(map("b", "db"));
  EXPECT_THAT(web.store().list({}), SizeIs(1));
  EXPECT_TRUE(web.store().find("default", "a"));
  client_.patch(inside, [](ConfigMap& one) { one.metadata.labels["app"] = "db"; });
  EXPECT_THAT(web.store().list({}), IsEmpty()) << "it does not match any more";
  EXPECT_THAT(listed(), ElementsAre("a=web", "b=db")) << "the informer without a selector";
}

// "A list waits for any controller's writes in flight."
TEST_F(OwnWritesComplaintConcurrency, AListWaitsForNoWriteInFlight) {
  client_.create(map("a"));
  server_->inject({.verb = "create", .count = 1, .delay = std::chrono::hours{1}});
  const auto call =
      client_.with({.timeout = std::chrono::hours{2}}).start(ek::calls::create(map("slow")), [](const auto&) {
      });
  EXPECT_THAT(listed(), ElementsAre("a=1"));
  call->cancel();
}

// "Evict through the consistent client fails after having executed, and is then repeated."
TEST_F(OwnWritesComplaintConcurrency, AnEvictionIsSentOnceAndSeen) {
  ek::Informer& pods = cache_.informer<Pod>();
  declare(pods);
  const auto created = client_.create(pod("web"));
  catch_up(pods, created->metadata.resource_version);
  client_.run(ek::calls::evict({"default", "web"}));
  const auto found = cache_.find<Pod>({"default", "web"});
  EXPECT_TRUE(!found || found->metadata.deletion_timestamp);
  for (const auto& one : cache_.list<Pod>({.namespace_ = "default"}))
    EXPECT_TRUE(one->metadata.deletion_timestamp);
  EXPECT_EQ(cache_.live_reads(), 1U) << "what the first one read is known";
}

// "One informer for each kind and namespace: two selectors on one kind cannot coexist."
TEST_F(OwnWritesComplaintConcurrency, TwoSelectorsOnOneKindEachShowTheirWrites) {
  ek::Informer& web = cache_.informer<ConfigMap>({.label_selector = "app=web"});
  ek::Informer& one = cache_.informer<ConfigMap>({.field_selector = "metadata.name=one"});
  declare(web);
  declare(one);
  const auto first = client_.create(map("one", "db"));
  client_.create(map("two", "web"));
  EXPECT_FALSE(web.store().find("default", "one"));
  EXPECT_TRUE(web.store().find("default", "two"));
  EXPECT_TRUE(one.store().find("default", "one"));
  EXPECT_FALSE(one.store().find("default", "two"));
  client_.remove<ConfigMap>({"default", "one"});
  EXPECT_FALSE(one.store().find("default", "one"));
}

// "Making a cache does discovery: it fails offline."
TEST(OwnWritesComplaint, MakingACacheSendsNoRequest) {
  const ek::Client offline({.server = "http://127.0.0.1:1"});
  ek::Cache cache(offline, {.threads = 0});
  cache.informer<ConfigMap>();
  EXPECT_EQ(cache.live_reads(), 0U);
}

// "Raw options are overwritten: lost preconditions and orphaning, so the collector deleted Pods."
TEST_F(OwnWritesComplaintConcurrency, OptionsOfDeletionsArriveAsTheyWereGiven) {
  declare(cache_.informer<Pod>());
  const auto created = client_.create(pod("web"));
  ek::Context context({.client = client_, .cache = &cache_});
  EXPECT_THROW(context.remove(*created, {.uid = "another"}), ek::ApiError);
  Pod other = *created;
  other.metadata.uid = "another";
  EXPECT_THROW(context.evict(other), ek::ApiError);
  ASSERT_TRUE(context.find<Pod>({"default", "web"}));
  EXPECT_FALSE(context.find<Pod>({"default", "web"})->metadata.deletion_timestamp);
  context.remove(*created, {.propagation = ek::Propagation::orphan, .uid = created->metadata.uid});
  const auto found = context.find<Pod>({"default", "web"});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->metadata.finalizers, ElementsAre("orphan"));
}

// "A watch attached to a running controller cannot be detached."
TEST_F(OwnWritesComplaintConcurrency, AWatchOfARunningCacheCanBeGivenUp) {
  auto pods = cache_.lease(ek::ResourceId(Pod::resource), {});
  declare(*pods);
  EXPECT_THAT(cache_.health(), SizeIs(2));
  pods.reset();
  cache_.pump();
  EXPECT_THAT(cache_.health(), SizeIs(1));
}

/// Counts lines.
class CountedLog final : public ek::LogSink {
 public:
  bool enabled(ek::LogLevel) const noexcept override { return true; }
  void write(ek::LogLevel, std::string_view, ek::LogFields, ek::LogFields) noexcept override { ++lines; }
  std::atomic<int> lines = 0;
};

// "The logger is global to the package."
TEST_F(OwnWritesComplaintConcurrency, EachCacheHasALogOfItsOwn) {
  const auto one_log = std::make_shared<CountedLog>();
  const auto two_log = std::make_shared<CountedLog>();
  const ek::Cache one(client_, {.threads = 0, .log = ek::Log(one_log)});
  const ek::Cache two(client_, {.threads = 0, .log = ek::Log(two_log)});
  EXPECT_FALSE(one.find<ConfigMap>({"default", "a"})) << "a live read, which is logged";
  EXPECT_EQ(one_log->lines, 1);
  EXPECT_EQ(two_log->lines, 0);
}

// "The test server has neither garbage collection nor eviction, so it cannot show any of this."
TEST_F(OwnWritesComplaintConcurrency, TheTestServerCollectsGarbage) {
  const auto owner = client_.create(map("owner"));
  ConfigMap child = map("child");
  child.metadata.owner_references = {
      {.api_version = "v1", .kind = "ConfigMap", .name = "owner", .uid = owner->metadata.uid}};
  client_.create(child);
  client_.remove<ConfigMap>({"default", "owner"});
  EXPECT_THAT(listed(), ElementsAre("child=1"));
  await("the garbage collector", [&] {
    cache_.pump();
    return listed().empty();
  });
}

}  // namespace
