// SPDX-License-Identifier: Apache-2.0
// The examples of docs/cache.md, which quotes them, and what its tables say of bad input.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/cache/object_store.hpp>
#include <evenkeel/evenkeel.hpp>
#include <evenkeel/testing/harness.hpp>

namespace {

namespace ek = evenkeel;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ek::ConfigMap site(const std::string& name, const std::string& secret) {
  return {.metadata = {.name = name, .namespace_ = "default"}, .data = {{"secret", secret}}};
}

std::optional<std::string> secret_of_site(const ek::ConfigMap& map) {
  const auto found = map.data.find("secret");
  return found == map.data.end() ? std::nullopt : std::optional(found->second);
}

TEST(CacheGuide, ARunReadsWhatItWrote) {
  ek::testing::Harness harness({.cache_lag = 1h});  // the watch is an hour behind
  harness.add(ek::controller_for<ek::Secret>([](ek::Context& context, const ek::Secret& secret) {
                const ek::ObjectKey copy{"default", "copy-of-" + secret.metadata.name};
                context.create(ek::ConfigMap{.metadata = {.name = copy.name}, .data = {{"secret", "tls"}}});
                EXPECT_TRUE(context.find<ek::ConfigMap>(copy));
                EXPECT_EQ(context.owned_by<ek::ConfigMap>(secret).size(), 1u);
                EXPECT_EQ(context.list<ek::ConfigMap>(ek::by("secret", "tls")).size(), 1u);
                context.remove<ek::ConfigMap>(copy);
                EXPECT_FALSE(context.find<ek::ConfigMap>(copy));
                EXPECT_EQ(context.list<ek::ConfigMap>(ek::by("secret", "tls")).size(), 0u);
              })
                  .owns<ek::ConfigMap>()
                  .index<ek::ConfigMap>("secret", secret_of_site));
  harness.create({ek::Secret{.metadata = {.name = "web", .namespace_ = "default"}}});
  harness.run_for(3h);
  EXPECT_EQ(harness.cache().live_reads(), 0u);
  EXPECT_THAT(harness.writes(), ::testing::Not(IsEmpty()));
}

TEST(CacheGuide, TheObjectOfARunIsAtLeastAsNewAsItsEvent) {
  ek::testing::Harness harness({.cache_lag = 10s});
  std::vector<std::string> seen;
  harness.add(ek::controller_for<ek::ConfigMap>(
      [&seen](ek::Context&, const ek::ConfigMap& map) { seen.push_back(map.data.at("secret")); }));
  harness.create({site("a", "one")});
  harness.settle();
  harness.edit<ek::ConfigMap>({"default", "a"}, [](ek::ConfigMap& map) { map.data["secret"] = "two"; });
  harness.settle();
  EXPECT_THAT(seen, ElementsAre("one", "two"));
}

TEST(CacheGuide, ALimitedListGoesOnAfterItsLastObject) {
  ek::testing::Harness harness;
  std::vector<std::string> read;
  harness.add(ek::controller_for<ek::Secret>([&read](ek::Context& context, const ek::Secret& secret) {
                ek::IndexListOptions page{.namespace_ = secret.metadata.namespace_, .limit = 2};
                for (;;) {
                  const auto sites =
                      context.list<ek::ConfigMap>(ek::by("secret", secret.metadata.name), page);
                  for (const auto& one : sites) read.push_back(one->metadata.name);
                  if (sites.size() < page.limit) return;
                  page.after = ek::key_of(*sites.back());
                }
              })
                  .owns<ek::ConfigMap>()
                  .index<ek::ConfigMap>("secret", secret_of_site));
  harness.create({site("c", "tls"), site("a", "tls"), site("b", "tls"), site("d", "other"),
                  ek::Secret{.metadata = {.name = "tls", .namespace_ = "default"}}});
  harness.settle();
  EXPECT_THAT(read, ElementsAre("a", "b", "c"));
}

// A kind that is kept as metadata is read from the store of its informer.
TEST(CacheGuideConcurrency, MetadataIsReadFromTheStoreOfItsInformer) {
  const auto server = std::make_shared<ek::apiserver::SharedCore>();
  const ek::Client client(ek::Config{.server = "http://in-process"},
                          {.transport = std::make_shared<ek::apiserver::InProcessTransport>(server)});
  client.create(site("a", "tls"));
  ek::Cache cache(client);
  const ek::Informer& maps = cache.informer<ek::ConfigMap>({.form = ek::WireForm::metadata_only});
  cache.start();
  ASSERT_TRUE(cache.wait_for_sync({}));
  EXPECT_TRUE(maps.store().find("default", "a"));
  for (const ek::WireObject& map : maps.store().list("default"))
    EXPECT_EQ(map.decode<ek::PartialObject>()->metadata.uid, map.uid());
  EXPECT_EQ(cache.live_reads(), 0u);
  EXPECT_TRUE(cache.find<ek::ConfigMap>({"default", "a"})) << "whole objects are read from the server";
  EXPECT_EQ(cache.live_reads(), 1u);
}

TEST(CacheGuideConcurrency, ATransformDropsWhatNobodyReads) {
  const ek::Client client(ek::Config{.server = "http://in-process"},
                          {.transport = std::make_shared<ek::apiserver::InProcessTransport>(
                               std::make_shared<ek::apiserver::SharedCore>())});
  const std::string applied = "kubectl.kubernetes.io/last-applied-configuration";
  client.create(ek::ConfigMap{
      .metadata = {.name = "b", .namespace_ = "default", .annotations = {{applied, "{}"}, {"note", "n"}}}});
  ek::Cache cache(client);
  cache.transform<ek::ConfigMap>([](ek::Json& map) {
    if (ek::Json* annotations = map["metadata"].find("annotations"))
      annotations->erase("kubectl.kubernetes.io/last-applied-configuration");
  });
  cache.informer<ek::ConfigMap>();
  cache.start();
  ASSERT_TRUE(cache.wait_for_sync({}));
  EXPECT_THAT(cache.find<ek::ConfigMap>({"default", "b"})->metadata.annotations,
              ElementsAre(::testing::Pair("note", "n")));
}

// ---- Bad input

std::string refusal_of(const std::string& text) {
  try {
    ek::WireScanner({.api_version = "v1", .kind = "ConfigMap"}).object(text);
  } catch (const ek::DecodeError& error) {
    return error.what();
  }
  return "none";
}

ek::WireObject config_map(const std::string& metadata) {
  return ek::WireScanner({.api_version = "v1", .kind = "ConfigMap"})
      .object(R"({"metadata":{"namespace":"default","name":"a","uid":"u")" + metadata + "}}");
}

TEST(CacheGuideBadInput, NamesTheObjectThatItCannotKeep) {
  EXPECT_EQ(refusal_of(R"({"data":{}})"), "ConfigMap: metadata.name: missing");
  EXPECT_EQ(refusal_of(R"({"metadata":{"name":"a"},"metadata":{"name":"b"}})"),
            "ConfigMap a: metadata: given twice");
  EXPECT_EQ(refusal_of(R"({"metadata":{"name":"a","name":"b"}})"), "none");
  EXPECT_THAT(refusal_of("{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"\xff\"}}"), HasSubstr("not JSON"));
}

TEST(CacheGuideBadInput, WhatIsNestedTooDeeplyIsKeptAndRefusedWhenItIsDecoded) {
  const std::string deep = std::string(10'000, '[') + std::string(10'000, ']');
  const auto object = ek::WireScanner({.api_version = "v1", .kind = "ConfigMap"})
                          .object(R"({"metadata":{"name":"a"},"more":)" + deep + "}");
  EXPECT_EQ(object.name(), "a");
  EXPECT_THROW(object.decode<ek::DynamicObject>(), ek::DecodeError);
  EXPECT_EQ(object.decode<ek::ConfigMap>()->metadata.name, "a") << "the type does not declare it";
}

TEST(CacheGuideBadInput, ObjectsWithoutAVersionReplaceEachOther) {
  ek::ObjectStore store;
  EXPECT_THAT(store.apply(config_map("")), SizeIs(1));
  EXPECT_THAT(store.apply(config_map(R"(,"labels":{"a":"1"})")), SizeIs(1));
  EXPECT_EQ(store.find("default", "a").label("a"), "1");
}

TEST(CacheGuideBadInput, AWatchThatRepeatsOrGoesBackChangesNothing) {
  ek::ObjectStore store;
  EXPECT_THAT(store.apply(config_map(R"(,"resourceVersion":"7")")), SizeIs(1));
  EXPECT_THAT(store.apply(config_map(R"(,"resourceVersion":"7")")), IsEmpty());
  EXPECT_THAT(store.apply(config_map(R"(,"resourceVersion":"6")")), IsEmpty());
  EXPECT_THAT(store.remove(config_map(R"(,"resourceVersion":"6")")), IsEmpty());
  EXPECT_THAT(store.remove(config_map(R"(,"resourceVersion":"8")")), SizeIs(1));
  EXPECT_THAT(store.remove(config_map(R"(,"resourceVersion":"8")")), IsEmpty()) << "it is not there";
}

}  // namespace
