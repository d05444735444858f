// SPDX-License-Identifier: Apache-2.0
// The cache against the embedded API server, in the same process.
#include <algorithm>
#include <atomic>
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
using ek::tests::await;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Counts log lines by message.
class CountingSink final : public ek::LogSink {
 public:
  bool enabled(ek::LogLevel) const noexcept override { return true; }
  void write(ek::LogLevel level, std::string_view message, ek::LogFields, ek::LogFields) noexcept override {
    const std::lock_guard lock(mutex_);
    ++lines_[std::string(message)];
    if (level == ek::LogLevel::error) errors_.emplace_back(message);
  }
  int count(const std::string& message) {
    const std::lock_guard lock(mutex_);
    return lines_[message];
  }
  /// Returns the messages of errors.
  std::vector<std::string> errors() {
    const std::lock_guard lock(mutex_);
    return errors_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> errors_;
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

TEST_F(CacheConcurrency, AnObjectThatIsReadAgainIsTheSameInMemory) {
  const auto created = create("default", "a");
  cache_.informer<ConfigMap>();
  sync();
  const auto found = cache_.find<ConfigMap>({"default", "a"});
  EXPECT_TRUE(cache_.find<ConfigMap>({"default", "a"}).same(found));
  EXPECT_TRUE(cache_.list<ConfigMap>().at(0).same(found));
  client_.patch(created, [](ConfigMap& map) { map.data["a"] = "2"; });
  await("the change", [&] { return cache_.find<ConfigMap>({"default", "a"})->data.at("a") == "2"; });
  EXPECT_EQ(found->data.at("a"), "1");
}

TEST_F(CacheConcurrency, RefusesLiveReadsIfAsked) {
  create("default", "a");
  ek::Cache cache(client_, {.live_reads = false});
  const auto refusal = [&](const auto& read) {
    try {
      read();
    } catch (const ek::NotCached& error) {
      return std::string(error.what());
    }
    return std::string("no refusal");
  };
  const std::string begin = "ConfigMap: the cache cannot answer, and CacheOptions::live_reads is false: ";
  const auto find = [&] { cache.find<ConfigMap>({"default", "a"}); };
  EXPECT_EQ(refusal(find), begin + "no informer of the kind is declared");
  EXPECT_EQ(refusal([&] { cache.list<ConfigMap>(); }), begin + "no informer of the kind is declared");
  EXPECT_EQ(refusal([&] { cache.owned_by<ConfigMap>("u"); }), begin + "no informer of the kind is declared");
  cache.informer<ConfigMap>({.namespace_ = "default"});
  EXPECT_EQ(refusal(find), begin + "its informers are not synced yet");
  cache.start();
  ASSERT_TRUE(cache.wait_for_sync({}));
  EXPECT_TRUE(cache.find<ConfigMap>({"default", "a"}));
  EXPECT_THAT(refusal([&] { cache.list<ConfigMap>(); }),
              ::testing::HasSubstr("only a part of these objects"));
  EXPECT_EQ(cache.live_reads(), 0u);
  EXPECT_EQ(cache.list<ConfigMap>({.field_selector = "metadata.name=a"}).size(), 1u)
      << "asked for on purpose";
  EXPECT_EQ(cache.live_reads(), 1u);
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
    create("default", "a" + std::to_string(i));
    const auto found = cache_.find<ConfigMap>({"default", "a" + std::to_string(i)});
    ASSERT_TRUE(found);
    const auto patched = client_.patch(found, [](ConfigMap& map) { map.data["a"] = "mine"; });
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
  client_.create(map);
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

/// ConfigMaps that name a Secret in `data`.
class IndexConcurrency : public CacheConcurrency {
 protected:
  ek::Snapshot<ConfigMap> create_user(const std::string& namespace_, const std::string& name,
                                      const std::string& secret) {
    return client_.create(
        ConfigMap{.metadata = {.name = name, .namespace_ = namespace_, .labels = {{"app", name}}},
                  .data = {{"secret", secret}}});
  }
  static std::string secret_of(const ConfigMap& map) {
    const auto found = map.data.find("secret");
    return found == map.data.end() ? "" : found->second;
  }
  std::vector<std::string> users(const std::string& secret, const ek::IndexListOptions& options = {}) const {
    return keys(cache_.list<ConfigMap>(ek::by("secret", secret), options));
  }
  template <class E>
  std::string refusal(const std::string& index, const std::string& namespace_ = {}) const {
    try {
      cache_.list<ConfigMap>(ek::by(index, "x"), {.namespace_ = namespace_});
    } catch (const E& error) {
      return error.what();
    }
    return "none";
  }
};

TEST_F(IndexConcurrency, ListsByTheValueOfAFunctionInOrder) {
  create_user("default", "b", "tls");
  create_user("default", "a", "tls");
  create_user("default", "c", "other");
  create_user("kube-system", "d", "tls");
  create("default", "none");
  cache_.index<ConfigMap>("secret", secret_of);
  ek::Informer& informer = cache_.informer<ConfigMap>();
  sync();
  EXPECT_THAT(users("tls"), ElementsAre("default/a", "default/b", "kube-system/d"));
  EXPECT_THAT(users("tls", {.namespace_ = "default"}), ElementsAre("default/a", "default/b"));
  EXPECT_THAT(users("tls", {.limit = 2}), ElementsAre("default/a", "default/b"));
  EXPECT_THAT(users("tls", {.limit = 2, .after = ek::ObjectKey{"default", "b"}}),
              ElementsAre("kube-system/d"));
  EXPECT_THAT(users(""), IsEmpty());
  const auto moved = client_.patch(cache_.find<ConfigMap>({"default", "a"}),
                                   [](ConfigMap& map) { map.data["secret"] = "other"; });
  wait_for(informer, moved);
  EXPECT_THAT(users("tls"), ElementsAre("default/b", "kube-system/d"));
  EXPECT_THAT(users("other"), ElementsAre("default/a", "default/c"));
  EXPECT_EQ(cache_.live_reads(), 0u);
}

TEST_F(IndexConcurrency, IndexesWhatIsCachedAlreadyAndEveryInformerOfTheKind) {
  create_user("default", "a", "tls");
  create_user("kube-system", "b", "tls");
  cache_.informer<ConfigMap>({.namespace_ = "default"});
  sync();
  cache_.index<ConfigMap>("secret", secret_of);
  EXPECT_THAT(users("tls", {.namespace_ = "default"}), ElementsAre("default/a"));
  cache_.informer<ConfigMap>();
  sync();
  EXPECT_THAT(users("tls"), ElementsAre("default/a", "kube-system/b"));
}

TEST_F(IndexConcurrency, GivesOwnWritesAtOnce) {
  cache_.index<ConfigMap>("secret", secret_of);
  cache_.index<ConfigMap>("app", ek::label_index("app"));
  cache_.informer<ConfigMap>();
  sync();
  create_user("default", "a", "tls");
  EXPECT_THAT(users("tls"), ElementsAre("default/a"));
  EXPECT_THAT(keys(cache_.list<ConfigMap>(ek::by("app", "a"))), ElementsAre("default/a"));
}

TEST_F(IndexConcurrency, NamesAnIndexThatIsNotDeclared) {
  cache_.informer<ConfigMap>();
  sync();
  EXPECT_EQ(refusal<std::invalid_argument>("secret"),
            R"(ConfigMap: there is no index "secret"; indexes: none)");
  cache_.index<ConfigMap>("app", ek::label_index("app"));
  cache_.index<ConfigMap>("name", [](const ek::WireObject& object) { return object.name(); });
  cache_.index<ek::Pod>("node", [](const ek::WireObject&) { return "pods have indexes of their own"; });
  EXPECT_EQ(refusal<std::invalid_argument>("secret"),
            R"(ConfigMap: there is no index "secret"; indexes: "app", "name")");
}

TEST_F(IndexConcurrency, RefusesAnotherFunctionUnderTheSameName) {
  cache_.index<ConfigMap>("secret", secret_of);
  cache_.index<ConfigMap>("secret", secret_of);
  cache_.index<ek::Pod>("secret", ek::label_index("secret"));
  try {
    cache_.index<ConfigMap>("secret", ek::label_index("secret"));
    FAIL() << "two functions under one name";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), R"(ConfigMap: there is an index "secret" with another function)");
  }
}

// The server has no such index, so there is no live read.
TEST_F(IndexConcurrency, SaysWhyItCannotAnswer) {
  create_user("default", "a", "x");
  cache_.index<ConfigMap>("secret", secret_of);
  EXPECT_EQ(
      refusal<ek::NotCached>("secret"),
      R"(ConfigMap: cannot read the index "secret" of all namespaces: no informer of the kind is declared)");
  cache_.informer<ConfigMap>({.namespace_ = "default"});
  EXPECT_EQ(
      refusal<ek::NotCached>("secret", "default"),
      R"(ConfigMap: cannot read the index "secret" of namespace default: its informers are not synced yet)");
  sync();
  EXPECT_EQ(refusal<ek::NotCached>("secret", "default"), "none");
  EXPECT_EQ(
      refusal<ek::NotCached>("secret"),
      R"(ConfigMap: cannot read the index "secret" of all namespaces: the cache holds only a part of these )"
      "objects: metadata, a projection, a selection, or other namespaces");
  EXPECT_EQ(cache_.live_reads(), 0u);
}

TEST_F(IndexConcurrency, AFunctionThatThrowsStopsNothing) {
  const auto broken = create_user("default", "broken", "tls");
  create_user("default", "whole", "tls");
  cache_.index<ConfigMap>("secret", [](const ConfigMap& map) {
    if (map.metadata.name == "broken") throw std::runtime_error("cannot be indexed");
    return secret_of(map);
  });
  ek::Informer& informer = cache_.informer<ConfigMap>();
  sync();
  EXPECT_THAT(users("tls"), ElementsAre("default/whole"));
  EXPECT_TRUE(cache_.find<ConfigMap>({"default", "broken"}));
  EXPECT_EQ(informer.health().index_failures, 1u);
  const auto patched = client_.patch(broken, [](ConfigMap& map) { map.data["more"] = "1"; });
  wait_for(informer, patched);
  EXPECT_EQ(informer.health().index_failures, 2u);
  EXPECT_THAT(sink_->errors(), ElementsAre("the function of an index failed; the object is not in the index"))
      << "once for each object";
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
  cache_.informer<ConfigMap>(
      {.reflector = {.backoff_base = std::chrono::milliseconds{1}, .streaming_list = false}});
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

// ---- Leases

class LeaseConcurrency : public CacheConcurrency {
 protected:
  static std::vector<std::string> kept(const ek::Cache& cache) {
    std::vector<std::string> result;
    for (const ek::CollectionHealth& one : cache.health())
      result.push_back(one.resource.plural + "/" + one.namespace_);
    return result;
  }
  std::shared_ptr<ek::Informer> lease(const std::string& namespace_) {
    return cache_.lease(ek::ResourceId(ConfigMap::resource), {.namespace_ = namespace_});
  }
};

TEST_F(LeaseConcurrency, TheLastOneEndsTheWatchAndFreesTheObjects) {
  create("default", "one");
  cache_.start();
  auto first = lease("default");
  auto second = lease("default");
  EXPECT_EQ(first, second);
  ASSERT_TRUE(first->wait_for_sync({}));
  first.reset();
  EXPECT_TRUE(cache_.find<ConfigMap>({"default", "one"}));
  EXPECT_EQ(cache_.live_reads(), 0U);
  second.reset();
  EXPECT_THAT(kept(cache_), IsEmpty());
  EXPECT_TRUE(cache_.find<ConfigMap>({"default", "one"})) << "from the server";
  EXPECT_EQ(cache_.live_reads(), 1U);
  await("the end of the watch", [&] { return server_->cut_watches() == 0; });
}

TEST_F(LeaseConcurrency, NamespacesComeAndGo) {
  create("default", "one");
  create("kube-system", "two");
  cache_.start();
  auto a = lease("default");
  auto b = lease("kube-system");
  EXPECT_THAT(kept(cache_), ElementsAre("configmaps/default", "configmaps/kube-system"));
  a.reset();
  EXPECT_THAT(kept(cache_), ElementsAre("configmaps/kube-system"));
  a = lease("default");
  ASSERT_TRUE(a->wait_for_sync({}));
  ASSERT_TRUE(b->wait_for_sync({}));
  EXPECT_TRUE(cache_.find<ConfigMap>({"default", "one"}));
  EXPECT_EQ(cache_.live_reads(), 0U);
}

TEST_F(LeaseConcurrency, WhatIsDeclaredStays) {
  auto leased = lease("default");
  EXPECT_EQ(&cache_.informer<ConfigMap>({.namespace_ = "default"}), leased.get());
  leased.reset();
  EXPECT_THAT(kept(cache_), ElementsAre("configmaps/default"));
}

TEST_F(LeaseConcurrency, OneMayOutliveTheCache) {
  std::shared_ptr<ek::Informer> leased;
  {
    ek::Cache cache(client_);
    cache.start();
    leased = cache.lease(ek::ResourceId(ConfigMap::resource), {});
  }
  leased.reset();
  client_.list<ConfigMap>();  // the transport has seen the end of the watch before this
  EXPECT_EQ(server_->cut_watches(), 0U) << "the cache ended it, although it was leased";
}

/// Gives up the lease of its own informer at the first event.
class Leaver final : public ek::EventHandler {
 public:
  explicit Leaver(std::shared_ptr<ek::Informer> leased) : leased_(std::move(leased)) {}
  void on_event(const ek::ObjectEvent&) noexcept override {
    leased_->remove_handler(id);
    leased_.reset();
    left = true;
  }
  std::atomic<ek::HandlerId> id = 0;
  std::atomic<bool> left = false;

 private:
  std::shared_ptr<ek::Informer> leased_;
};

TEST_F(LeaseConcurrency, AHandlerMayGiveUpItsOwnInformer) {
  for (const ek::Delivery delivery : {ek::Delivery::direct, ek::Delivery::queued}) {
    auto leased = lease("default");
    const auto handler = std::make_shared<Leaver>(leased);
    handler->id = leased->add_handler(handler, {.delivery = delivery});
    leased.reset();
    cache_.start();
    create("default", delivery == ek::Delivery::direct ? "one" : "two");
    await("the event", [&] { return handler->left.load(); });
    await("the end", [&] { return kept(cache_).empty(); });
  }
}

TEST_F(LeaseConcurrency, ReadsDuringTheEndAreAnswered) {
  const auto object = create("default", "one");
  cache_.start();
  std::atomic<bool> enough = false;
  std::thread reader([&] {
    while (!enough) {
      EXPECT_EQ(cache_.find<ConfigMap>({"default", "one"})->data.at("a"), "1");
      EXPECT_EQ(cache_.list<ConfigMap>({.namespace_ = "default"}).size(), 1U);
    }
  });
  for (int i = 0; i < 50; ++i) {
    const auto leased = lease("default");
    EXPECT_TRUE(leased->wait_for_sync({}));
  }
  enough = true;
  reader.join();
}

}  // namespace
