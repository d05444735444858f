// SPDX-License-Identifier: Apache-2.0
// The cache against the embedded API server, in the same process.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>

#include "../support/await.hpp"

namespace {

namespace ek = evenkeel;
using ek::ConfigMap;
using ek::test::await;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Counts log lines by message.
class CountingSink final : public ek::LogSink {
 public:
  bool enabled(ek::LogLevel) const noexcept override { return true; }
  void write(ek::LogLevel, std::string_view message, ek::LogFields, ek::LogFields) noexcept override {
    const std::lock_guard lock(mutex_);
    ++lines_[std::string(message)];
  }
  int count(const std::string& message) {
    const std::lock_guard lock(mutex_);
    return lines_[message];
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> lines_;
};

/// Ignores all events.
class Deaf final : public ek::EventHandler {
 public:
  void on_event(const ek::ObjectEvent&) noexcept override {}
};

class CacheConcurrency : public ::testing::Test {
 protected:
  CacheConcurrency()
      : server_(std::make_shared<ek::apiserver::SharedCore>()),
        client_(ek::Config{.server = "http://in-process"},
                {.transport = std::make_shared<ek::apiserver::InProcessTransport>(server_)}),
        cache_(client_,
               {.reflector = {.backoff_base = std::chrono::milliseconds{1}}, .log = ek::Log(sink_)}) {}

  ek::Snapshot<ConfigMap> create(const std::string& namespace_, const std::string& name,
                                 const std::string& app = "") {
    ConfigMap map{.metadata = {.name = name, .namespace_ = namespace_}, .data = {{"a", "1"}}};
    if (!app.empty()) map.metadata.labels = {{"app", app}};
    return client_.create(map);
  }
  void sync() {
    cache_.start();
    ASSERT_TRUE(cache_.wait_for_sync({}));
  }
  /// Blocks until the cache itself, own writes aside, holds the server's version.
  static void wait_for(const ek::Informer& informer, const ek::Snapshot<ConfigMap>& object) {
    const ek::ObjectMeta& meta = object->metadata;
    await("the cache to hold " + meta.name + " at " + meta.resource_version, [&] {
      const ek::WireObject stored = informer.store().stored(meta.namespace_, meta.name);
      return stored && stored.resource_version() == meta.resource_version;
    });
  }
  static std::vector<std::string> keys(const std::vector<ek::Snapshot<ConfigMap>>& list) {
    std::vector<std::string> result;
    for (const auto& one : list) result.push_back(one->metadata.namespace_ + "/" + one->metadata.name);
    return result;
  }

  std::shared_ptr<CountingSink> sink_ = std::make_shared<CountingSink>();
  std::shared_ptr<ek::apiserver::SharedCore> server_;
  ek::Client client_;
  ek::Cache cache_;
};

TEST_F(CacheConcurrency, ReadsWhatWasDeclaredWithoutTheServer) {
  create("default", "b", "web");
  create("default", "a");
  create("kube-system", "c", "web");
  cache_.informer<ConfigMap>();
  sync();
  const auto found = cache_.find<ConfigMap>({"default", "b"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->data.at("a"), "1");
  EXPECT_EQ(ek::Json::parse(found.raw())["kind"].as_string(), "ConfigMap");
  EXPECT_THAT(std::string(found.raw()), Not(::testing::HasSubstr("managedFields")));
  EXPECT_FALSE(cache_.find<ConfigMap>({"default", "none"}));
  EXPECT_THAT(keys(cache_.list<ConfigMap>({.namespace_ = "default"})), ElementsAre("default/a", "default/b"));
  EXPECT_THAT(keys(cache_.list<ConfigMap>({.label_selector = "app=web"})),
              ElementsAre("default/b", "kube-system/c"));
  EXPECT_THAT(keys(cache_.list<ConfigMap>({.label_selector = "!app", .limit = 1})), ElementsAre("default/a"));
  EXPECT_EQ(cache_.live_reads(), 0u);
}

TEST_F(CacheConcurrency, ReadsUndeclaredKindsLiveAndLogsThatOnce) {
  create("default", "a");
  cache_.start();
  EXPECT_TRUE(cache_.find<ConfigMap>({"default", "a"}));
  EXPECT_FALSE(cache_.find<ConfigMap>({"default", "b"}));
  EXPECT_THAT(keys(cache_.list<ConfigMap>({.namespace_ = "default"})), ElementsAre("default/a"));
  EXPECT_EQ(cache_.live_reads(), 3u);
  EXPECT_EQ(sink_->count("reading from the server because the cache cannot answer"), 1);
  EXPECT_THAT(cache_.health(), IsEmpty()) << "no informer was started by reading";
}

TEST_F(CacheConcurrency, ReadsLiveWhatTheCacheCannotAnswer) {
  create("default", "a");
  cache_.informer<ConfigMap>({.namespace_ = "default"});
  sync();
  EXPECT_EQ(cache_.list<ConfigMap>({.namespace_ = "default"}).size(), 1u);
  EXPECT_EQ(cache_.live_reads(), 0u);
  cache_.list<ConfigMap>({.namespace_ = "kube-system"});
  cache_.list<ConfigMap>();
  cache_.find<ConfigMap>({"kube-system", "x"});
  cache_.list<ConfigMap>({.namespace_ = "default", .field_selector = "metadata.name=a"});
  EXPECT_EQ(cache_.live_reads(), 4u);
}

TEST_F(CacheConcurrency, GivesTheSameInformerForTheSameCollection) {
  ek::Informer& all = cache_.informer<ConfigMap>();
  EXPECT_EQ(&cache_.informer<ConfigMap>(), &all);
  EXPECT_EQ(&cache_.informer<ConfigMap>({.form = ek::WireForm::metadata_only}), &all);
  EXPECT_NE(&cache_.informer<ConfigMap>({.namespace_ = "default"}), &all);
  EXPECT_NE(&cache_.informer<ConfigMap>({.label_selector = "a=b"}), &all);
}

TEST_F(CacheConcurrency, FollowsChanges) {
  ek::Informer& informer = cache_.informer<ConfigMap>();
  sync();
  const auto created = create("default", "a");
  wait_for(informer, created);
  const auto patched = client_.patch(created, [](ConfigMap& map) { map.data["a"] = "2"; });
  wait_for(informer, patched);
  EXPECT_EQ(cache_.find<ConfigMap>({"default", "a"})->data.at("a"), "2");
  EXPECT_EQ(created->data.at("a"), "1") << "a snapshot never changes";
  client_.remove<ConfigMap>({"default", "a"});
  await("the cache to forget it", [&] { return !cache_.find<ConfigMap>({"default", "a"}); });
}

TEST_F(CacheConcurrency, GivesOwnWritesAtOnce) {
  ek::Informer& informer = cache_.informer<ConfigMap>();
  sync();
  for (int i = 0; i < 50; ++i) {
    const auto created = create("default", "a" + std::to_string(i));
    cache_.written(created);
    const auto found = cache_.find<ConfigMap>({"default", "a" + std::to_string(i)});
    ASSERT_TRUE(found);
    const auto patched = client_.patch(found, [](ConfigMap& map) { map.data["a"] = "mine"; });
    cache_.written(patched);
    ASSERT_EQ(cache_.find<ConfigMap>({"default", "a" + std::to_string(i)})->data.at("a"), "mine");
    ASSERT_EQ(cache_.list<ConfigMap>({.namespace_ = "default"}).size(), static_cast<std::size_t>(i) + 1);
    if (i % 10 == 0) wait_for(informer, patched);
  }
}

TEST_F(CacheConcurrency, KeepsMetadataOnlyWhereThatIsEnough) {
  create("default", "a", "web");
  ek::Informer& informer = cache_.informer<ConfigMap>({.form = ek::WireForm::metadata_only});
  sync();
  const ek::WireObject object = informer.store().find("default", "a");
  ASSERT_TRUE(object);
  EXPECT_EQ(object.kind(), "ConfigMap");
  EXPECT_EQ(object.api_version(), "v1");
  EXPECT_EQ(object.label("app"), "web");
  EXPECT_EQ(object.raw(), "");
  EXPECT_EQ(object.decode<ek::PartialObject>()->metadata.labels.at("app"), "web");
  EXPECT_THROW(object.decode<ConfigMap>(), std::invalid_argument);
  EXPECT_TRUE(cache_.find<ConfigMap>({"default", "a"})) << "read live";
  EXPECT_EQ(cache_.live_reads(), 1u);
}

TEST_F(CacheConcurrency, ListsOverManyPagesAndFindsChildren) {
  const auto owner = create("default", "owner");
  for (int i = 0; i < 1200; ++i) {
    ConfigMap map{.metadata = {.name = "child-" + std::to_string(i), .namespace_ = "default"}};
    if (i % 100 == 0) {
      map.metadata.owner_references = {
          {.api_version = "v1", .kind = "ConfigMap", .name = "owner", .uid = owner->metadata.uid}};
    }
    client_.create(map);
  }
  cache_.informer<ConfigMap>();
  sync();
  EXPECT_EQ(cache_.list<ConfigMap>({.namespace_ = "default"}).size(), 1201u);
  EXPECT_EQ(cache_.owned_by<ConfigMap>(owner->metadata.uid).size(), 12u);
  EXPECT_THAT(cache_.owned_by<ConfigMap>("nobody"), IsEmpty());
}

/// A case in which an empty result of owned_by() would do harm: a reconciler that counts its children.
class OwnedByConcurrency : public CacheConcurrency {
 protected:
  OwnedByConcurrency() {
    owner_ = create("default", "owner");
    child("default", "b");
    child("default", "a");
    child("default", "stranger", "another uid");
  }

  void child(const std::string& namespace_, const std::string& name, const std::string& uid = "") {
    ConfigMap map{.metadata = {.name = name, .namespace_ = namespace_, .labels = {{"app", name}}}};
    map.metadata.owner_references = {{.api_version = "v1",
                                      .kind = "ConfigMap",
                                      .name = "owner",
                                      .uid = uid.empty() ? owner_->metadata.uid : uid}};
    client_.create(map);
  }
  std::vector<std::string> children() const { return keys(cache_.owned_by<ConfigMap>(*owner_)); }

  ek::Snapshot<ConfigMap> owner_;
};

TEST_F(OwnedByConcurrency, AsksTheServerForAKindThatIsNotDeclared) {
  cache_.start();
  EXPECT_THAT(children(), ElementsAre("default/a", "default/b"));
  EXPECT_THAT(keys(cache_.owned_by<ConfigMap>(owner_->metadata.uid)), ElementsAre("default/a", "default/b"));
  EXPECT_EQ(cache_.live_reads(), 2u);
  EXPECT_EQ(sink_->count("reading from the server because the cache cannot answer"), 1);
  EXPECT_THAT(cache_.owned_by<ConfigMap>("nobody"), IsEmpty());
}

TEST_F(OwnedByConcurrency, AsksTheServerUntilTheKindIsSynced) {
  cache_.informer<ConfigMap>();
  EXPECT_THAT(children(), ElementsAre("default/a", "default/b")) << "declared, nothing was listed yet";
  EXPECT_EQ(cache_.live_reads(), 1u);
  sync();
  EXPECT_THAT(children(), ElementsAre("default/a", "default/b"));
  EXPECT_EQ(cache_.live_reads(), 1u) << "from here on the cache knows";
}

TEST_F(OwnedByConcurrency, AsksTheServerWhereTheFirstListFails) {
  // The list of the cache fails, and is not retried for an hour; the read of the test comes second.
  server_->inject({.verb = "list", .resource = "configmaps", .count = 1, .status = 500});
  ek::Cache slow(client_, {.reflector = {.backoff_base = std::chrono::hours{1},
                                         .backoff_max = std::chrono::hours{1},
                                         .streaming_list = false}});
  const ek::Informer& informer = slow.informer<ConfigMap>();
  slow.start();
  await("a failure", [&] { return informer.health().counters.failures >= 1; });
  EXPECT_THAT(keys(slow.owned_by<ConfigMap>(*owner_)), ElementsAre("default/a", "default/b"));
}

TEST_F(OwnedByConcurrency, AsksTheServerForWholeObjectsOfMetadata) {
  const ek::Informer& informer = cache_.informer<ConfigMap>({.form = ek::WireForm::metadata_only});
  sync();
  const auto found = cache_.owned_by<ConfigMap>(*owner_);
  EXPECT_THAT(keys(found), ElementsAre("default/a", "default/b"));
  EXPECT_EQ(cache_.live_reads(), 1u);
  EXPECT_EQ(informer.store().by_owner(owner_->metadata.uid).size(), 2u) << "the store knows who they are";
}

TEST_F(OwnedByConcurrency, AsksTheServerOutsideOfTheNamespaceThatIsKept) {
  cache_.informer<ConfigMap>({.namespace_ = "kube-system"});
  sync();
  EXPECT_THAT(children(), ElementsAre("default/a", "default/b"));
  EXPECT_THAT(keys(cache_.owned_by<ConfigMap>(owner_->metadata.uid)), ElementsAre("default/a", "default/b"))
      << "all namespaces were asked for, one is kept";
  EXPECT_EQ(cache_.live_reads(), 2u);
  EXPECT_THAT(cache_.owned_by<ConfigMap>(owner_->metadata.uid, "kube-system"), IsEmpty());
  EXPECT_EQ(cache_.live_reads(), 2u) << "that namespace is known";
}

TEST_F(OwnedByConcurrency, AsksTheServerWhereASelectorLeavesObjectsOut) {
  cache_.informer<ConfigMap>({.label_selector = "app=a"});
  sync();
  EXPECT_THAT(children(), ElementsAre("default/a", "default/b"));
  EXPECT_EQ(cache_.live_reads(), 1u);
}

TEST_F(OwnedByConcurrency, FindsChildrenWithoutAnIndexOfOwners) {
  cache_.informer<ConfigMap>({.index_owners = false});
  sync();
  EXPECT_THAT(children(), ElementsAre("default/a", "default/b"));
  EXPECT_EQ(cache_.live_reads(), 0u);
}

TEST_F(OwnedByConcurrency, KnowsAfterTheLastHandlerIsGone) {
  ek::Informer& informer = cache_.informer<ConfigMap>();
  const ek::HandlerId id = informer.add_handler(std::make_shared<Deaf>());
  sync();
  informer.remove_handler(id);
  child("default", "c");
  wait_for(informer, client_.get<ConfigMap>({"default", "c"}));
  EXPECT_THAT(children(), ElementsAre("default/a", "default/b", "default/c"));
  EXPECT_EQ(cache_.live_reads(), 0u);
}

TEST_F(OwnedByConcurrency, GivesOwnWritesAtOnce) {
  cache_.informer<ConfigMap>();
  sync();
  ConfigMap map{.metadata = {.name = "c", .namespace_ = "default"}};
  ek::set_owner_reference(*owner_, map.metadata);
  cache_.written(client_.create(map));
  EXPECT_THAT(children(), ElementsAre("default/a", "default/b", "default/c"));
}

TEST_F(OwnedByConcurrency, RefusesAnOwnerWithoutAUid) {
  for (const bool declared : {false, true}) {
    if (declared) {
      cache_.informer<ConfigMap>();
      sync();
    }
    try {
      cache_.owned_by<ConfigMap>(ConfigMap{.metadata = {.name = "new", .namespace_ = "default"}});
      FAIL() << "an owner that was never written has no known children";
    } catch (const std::invalid_argument& error) {
      EXPECT_STREQ(error.what(), "ConfigMap: the owner has no uid; it was not read from the server");
    }
  }
}

TEST_F(CacheConcurrency, RefusesKeysThatTheServerWouldRefuse) {
  cache_.informer<ConfigMap>();
  sync();
  const auto refusal = [this](const ek::ObjectKey& key) -> std::string {
    try {
      return cache_.find<ConfigMap>(key) ? "found" : "not found";
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal({"default", ""}), "ConfigMap: the key has no name");
  EXPECT_EQ(refusal({"", "a"}), "ConfigMap a: the kind is namespaced and the key has no namespace");
}

TEST_F(CacheConcurrency, IgnoresTheNamespaceOfWhatIsInNone) {
  create("default", "a");
  cache_.informer<ek::Namespace>();
  sync();
  EXPECT_TRUE(client_.find<ek::Namespace>({"default", "default"})) << "as the server does";
  EXPECT_TRUE(cache_.find<ek::Namespace>({"default", "default"}));
  EXPECT_EQ(cache_.list<ek::Namespace>({.namespace_ = "default"}).size(),
            client_.list<ek::Namespace>({.namespace_ = "default"}).items.size());
  EXPECT_EQ(cache_.live_reads(), 0u);
}

TEST_F(CacheConcurrency, NamesWhatItMayNotReadAndRecovers) {
  const auto fault = server_->inject({.verb = "list", .resource = "configmaps", .status = 403});
  cache_.informer<ConfigMap>();
  cache_.start();
  await("two failures", [&] { return cache_.health()[0].informer.counters.failures >= 2; });
  EXPECT_THAT(cache_.health()[0].informer.last_error, ::testing::HasSubstr("list ConfigMap: 403 Forbidden"));
  EXPECT_FALSE(cache_.health()[0].informer.synced);
  server_->remove_fault(fault);
  EXPECT_TRUE(cache_.wait_for_sync({}));
  EXPECT_EQ(cache_.health()[0].informer.last_error, "");
}

TEST_F(CacheConcurrency, KindsThatTheServerDoesNotServeAreNamedAndDoNotHoldUpOthers) {
  ek::Informer& missing = cache_.informer({"none.example.com", "v1", "Nothing", "nothings"});
  ek::Informer& present = cache_.informer<ConfigMap>();
  cache_.start();
  EXPECT_TRUE(present.wait_for_sync({}));
  await("two failures", [&] { return missing.health().counters.failures >= 2; });
  EXPECT_THAT(missing.health().last_error, ::testing::HasSubstr("list Nothing: 404"));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(cache_.wait_for_sync(stop.get_token()));
}

TEST_F(CacheConcurrency, StopsWithStreamsOpen) {
  cache_.informer<ConfigMap>();
  cache_.informer<ek::Pod>();
  sync();
  cache_.stop();
  EXPECT_FALSE(cache_.find<ConfigMap>({"default", "a"})) << "what was read stays readable";
  EXPECT_EQ(cache_.live_reads(), 0u);
}

}  // namespace
