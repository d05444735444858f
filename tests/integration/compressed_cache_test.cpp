// SPDX-License-Identifier: Apache-2.0
// Caches that keep compressed objects, against the embedded API server.
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>

#include "../support/await.hpp"

namespace evenkeel {
namespace {

using ::testing::SizeIs;
using tests::await;

constexpr int fleet_size = 400;

ConfigMap settings(int number) {
  return {.metadata = {.name = "settings-" + std::to_string(number),
                       .namespace_ = "default",
                       .labels = {{"team", std::to_string(number % 5)}}},
          .data = {{"database.host", "db.internal.example.com"},
                   {"database.options", "sslmode=verify-full connect_timeout=10 application_name=shop"},
                   {"features", "checkout,search,recommendations,reviews,wishlist,gift-cards,loyalty"},
                   {"own", std::to_string(number)}}};
}

class CompressedCacheConcurrency : public ::testing::Test {
 protected:
  CompressedCacheConcurrency()
      : server(std::make_shared<apiserver::SharedCore>()),
        client(Config{.server = "http://in-process"},
               {.transport = std::make_shared<apiserver::InProcessTransport>(server)}),
        cache(client) {
    for (int i = 0; i < fleet_size; ++i) client.create(settings(i));
  }
  Informer& start() {
    Informer& informer = cache.informer<ConfigMap>({.form = WireForm::compressed});
    cache.start();
    EXPECT_TRUE(cache.wait_for_sync({}));
    return informer;
  }
  static ObjectKey key(int number) { return {"default", "settings-" + std::to_string(number)}; }

  std::shared_ptr<apiserver::SharedCore> server;
  Client client;
  Cache cache;
};

TEST_F(CompressedCacheConcurrency, TakesLessMemoryAndReadsTheSame) {
  const Informer& informer = start();
  Cache whole_cache(client);
  const Informer& whole = whole_cache.informer<ConfigMap>();
  whole_cache.start();
  ASSERT_TRUE(whole_cache.wait_for_sync({}));
  EXPECT_LT(informer.health().bytes, whole.health().bytes * 3 / 4) << "most of so small an object are names";
  for (const WireObject& object : informer.store().snapshot()) {
    EXPECT_EQ(object.form(), WireForm::compressed);
    EXPECT_EQ(object.expanded().raw(), whole.store().find(object.namespace_(), object.name()).raw());
  }
  for (int i = 0; i < fleet_size; ++i)
    EXPECT_EQ(cache.find<ConfigMap>(key(i))->data.at("own"), std::to_string(i));
  EXPECT_THAT(cache.list<ConfigMap>({.label_selector = "team=3"}), SizeIs(fleet_size / 5));
  EXPECT_TRUE(cache.find<ConfigMap>(key(7)).same(cache.find<ConfigMap>(key(7)))) << "decoded once";
  EXPECT_EQ(cache.live_reads(), 0U);
}

TEST_F(CompressedCacheConcurrency, SharesOneCollectionWithOtherForms) {
  Informer& informer = cache.informer<ConfigMap>({.form = WireForm::compressed});
  EXPECT_EQ(&cache.informer<ConfigMap>(), &informer);
  EXPECT_EQ(&cache.informer<ConfigMap>({.form = WireForm::metadata_only}), &informer);
}

TEST_F(CompressedCacheConcurrency, IndexesAndOwnWritesAreThoseOfWholeObjects) {
  cache.index<ConfigMap>("own", [](const ConfigMap& map) { return map.data.at("own"); });
  const Informer& informer = start();
  ASSERT_THAT(cache.list<ConfigMap>(by("own", "42")), SizeIs(1));
  const auto found = cache.find<ConfigMap>(key(42));
  client.patch(found, [](ConfigMap& map) { map.data["own"] = "moved"; });
  EXPECT_EQ(cache.find<ConfigMap>(key(42))->data.at("own"), "moved") << "at once";
  EXPECT_EQ(cache.find<ConfigMap>(key(42))->data.at("features"), found->data.at("features"));
  EXPECT_THAT(cache.list<ConfigMap>(by("own", "42")), SizeIs(0));
  await("the watch", [&] {
    const WireObject stored = informer.store().stored("default", "settings-42");
    return stored.form() == WireForm::compressed &&
           stored.resource_version() != found->metadata.resource_version;
  });
  EXPECT_THAT(cache.list<ConfigMap>(by("own", "moved")), SizeIs(1));
}

}  // namespace
}  // namespace evenkeel
