// SPDX-License-Identifier: Apache-2.0
// Reads of own writes with a real API server, from a cache whose watch stands still.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/subresources.hpp>

#include "../support/await.hpp"
#include "real_environment.hpp"

namespace own_writes_tests {
namespace {

namespace ek = evenkeel;
using ek::ConfigMap;
using ek::Deployment;
using ek::Pod;
using ek::tests::await;
using ek::tests::environment;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A cache that works only while it synchronizes.
class RealOwnWrites : public ::testing::Test {
 protected:
  RealOwnWrites() {
    const std::vector<ek::Informer*> informers{&cache_.informer<ConfigMap>(), &cache_.informer<Pod>(),
                                               &cache_.informer<Deployment>()};
    cache_.start();
    await("the first lists", [&] {
      cache_.pump();
      for (const ek::Informer* informer : informers) {
        if (!informer->synced()) return false;
      }
      return true;
    });
  }

  ConfigMap map(const std::string& name, const std::string& value = "1") const {
    return {.metadata = {.name = name, .namespace_ = team_, .labels = {{"app", "web"}}},
            .data = {{"k", value}}};
  }
  std::vector<std::string> listed() const {
    std::vector<std::string> result;
    for (const auto& one : cache_.list<ConfigMap>({.namespace_ = team_, .label_selector = "app=web"}))
      result.push_back(one->metadata.name + "=" + one->data.at("k"));
    return result;
  }
  decltype(Pod::spec) runs() const { return {.containers = {{.name = "c", .image = "i"}}}; }

  const ek::Client client_{environment().config()};
  const std::string team_ = ek::tests::fresh_namespace(client_);
  ek::Cache cache_{client_, {.namespace_ = team_, .threads = 0}};
};

TEST_F(RealOwnWrites, WritesDeletionsAndNewObjectsOfTheNameAreSeen) {
  auto a = client_.create(map("a"));
  EXPECT_THAT(listed(), ElementsAre("a=1"));
  client_.patch(a, [](ConfigMap& one) { one.data["k"] = "2"; });
  client_.with({.field_owner = "other"}).apply(map("b"));
  EXPECT_THAT(listed(), ElementsAre("a=2", "b=1"));
  for (const char* value : {"3", "4"}) {
    client_.remove<ConfigMap>({team_, "a"});
    EXPECT_THAT(listed(), ElementsAre("b=1"));
    a = client_.create(map("a", value));
    EXPECT_THAT(listed(), ElementsAre("a=" + std::string(value), "b=1"));
  }
  ConfigMap held = map("c");
  held.metadata.finalizers = {"test.dev/hold"};
  client_.create(held);
  client_.remove<ConfigMap>({team_, "c"});
  const auto ending = cache_.find<ConfigMap>({team_, "c"});
  ASSERT_TRUE(ending);
  EXPECT_TRUE(ending->metadata.deletion_timestamp);
  client_.patch(ending, [](ConfigMap& one) { one.metadata.finalizers.clear(); });
  EXPECT_THAT(listed(), ElementsAre("a=4", "b=1"));
  EXPECT_EQ(cache_.live_reads(), 0U);

  client_.remove_all<ConfigMap>({.namespace_ = team_, .label_selector = "app=web"});
  EXPECT_THAT(listed(), IsEmpty());
  const auto last = client_.create(map("d"));
  await("the watch", [&] {
    cache_.pump();
    return ek::compare_resource_versions(cache_.informer<ConfigMap>().health().resource_version,
                                         last->metadata.resource_version) != std::strong_ordering::less;
  });
  const std::uint64_t reads = cache_.live_reads();
  EXPECT_THAT(listed(), ElementsAre("d=1"));
  EXPECT_EQ(cache_.live_reads(), reads);
}

TEST_F(RealOwnWrites, EvictionsAndScalesAreReadFromTheServer) {
  client_.create(Pod{.metadata = {.name = "web", .namespace_ = team_}, .spec = runs()});
  ASSERT_TRUE(cache_.find<Pod>({team_, "web"}));
  EXPECT_EQ(cache_.live_reads(), 0U);
  client_.run(ek::calls::evict({team_, "web"}));
  const auto evicted = cache_.find<Pod>({team_, "web"});
  EXPECT_TRUE(!evicted || evicted->metadata.deletion_timestamp);
  EXPECT_EQ(cache_.live_reads(), 1U);

  Deployment deployment{.metadata = {.name = "d", .namespace_ = team_}};
  deployment.spec.replicas = 0;
  deployment.spec.selector = ek::LabelSelector{.match_labels = {{"app", "web"}}};
  deployment.spec.template_.metadata.labels = {{"app", "web"}};
  deployment.spec.template_.spec = runs();
  client_.create(deployment);
  EXPECT_EQ(cache_.find<Deployment>({team_, "d"})->spec.replicas, 0);
  client_.scale<Deployment>({team_, "d"}, 1);
  EXPECT_EQ(cache_.find<Deployment>({team_, "d"})->spec.replicas, 1);
}

TEST_F(RealOwnWrites, AfterAConflictAReadIsNotTheOldStateAgain) {
  const auto created = client_.create(map("a"));
  const ek::Client other(environment().config());
  other.patch(created, [](ConfigMap& one) { one.data["k"] = "2"; });
  ek::Json body = ek::Json::parse(created.raw());
  EXPECT_EQ(ek::tests::error_code([&] {
              client_.raw({.method = ek::http::Method::put,
                           .resource = ek::ResourceId(ConfigMap::resource),
                           .namespace_ = team_,
                           .name = "a",
                           .content_type = "application/json",
                           .body = body.dump()});
            }),
            409);
  EXPECT_THAT(listed(), ElementsAre("a=2"));
}

}  // namespace
}  // namespace own_writes_tests
