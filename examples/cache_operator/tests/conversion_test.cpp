// SPDX-License-Identifier: Apache-2.0
// v1alpha1 and v1: nothing is lost in either direction, and a change in either version arrives.
#include "conversion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cache_fixture.hpp"

namespace cache_operator::tests {
namespace conversion_test {

using ::testing::HasSubstr;

constexpr const char* v1_name = "cache.evenkeel.dev/v1";
constexpr const char* v1alpha1_name = "cache.evenkeel.dev/v1alpha1";

v1::Memcached everything() {
  v1::Memcached object = memcached({.replicas = 3,
                                    .image = "memcached:1",
                                    .memory = ek::Quantity(100 * mebibyte + 512),
                                    .connections = 2000,
                                    .threads = 2,
                                    .port = 22122,
                                    .max_unavailable = 2,
                                    .auth = v1::Auth{.secret_name = "users"},
                                    .flush = v1::Flush{.schedule = "0 3 * * *", .time_zone = "Etc/UTC"}});
  object.metadata.annotations["team"] = "a";
  object.status.ready_replicas = 2;
  object.status.conditions = {{.type = "Available", .status = "True", .reason = "EnoughServers"}};
  return object;
}

ek::Json convert(const ek::Json& object, const char* version) {
  return memcached_conversion().convert(object, version);
}

TEST(CacheOperatorConversion, LosesNothing) {
  const ek::Json before = ek::to_tree(everything());
  const ek::Json lowered = convert(before, v1alpha1_name);
  EXPECT_EQ(
      lowered["spec"].dump(),
      R"({"connections":2000,"image":"memcached:1","memoryMegabytes":100,"secretName":"users","size":3,"threads":2})");
  EXPECT_EQ(convert(lowered, v1_name).dump(), before.dump());
}

TEST(CacheOperatorConversion, TakesWhatWasChangedInTheOldVersion) {
  ek::Json lowered = convert(ek::to_tree(everything()), v1alpha1_name);
  lowered["spec"]["size"] = 5;
  lowered["spec"]["memoryMegabytes"] = 200;
  lowered["spec"].erase("secretName");
  const auto raised = ek::from_tree<v1::Memcached>(convert(lowered, v1_name));
  EXPECT_EQ(raised.spec.replicas, 5);
  EXPECT_EQ(raised.spec.memory, ek::Quantity::parse("200Mi"));
  EXPECT_FALSE(raised.spec.auth);
  EXPECT_EQ(raised.spec.port, 22122) << "what the old version does not have stays";
  EXPECT_EQ(raised.spec.flush->schedule, "0 3 * * *");
  EXPECT_FALSE(raised.metadata.annotations.contains(std::string(v1_spec_annotation)));
}

TEST(CacheOperatorConversion, RaisesWhatWasWrittenInTheOldVersion) {
  const ek::Json object = ek::Json::parse(
      R"({"apiVersion": "cache.evenkeel.dev/v1alpha1", "kind": "Memcached", "metadata": {"name": "old"},)"
      R"( "spec": {"size": 2, "memoryMegabytes": 128, "secretName": "users"}})");
  const auto raised = ek::from_tree<v1::Memcached>(convert(object, v1_name));
  EXPECT_EQ(raised.spec.replicas, 2);
  EXPECT_EQ(raised.spec.memory.str(), "128Mi");
  EXPECT_EQ(raised.spec.auth->secret_name, "users");
  EXPECT_EQ(raised.spec.port, 11211);
}

TEST(CacheOperatorConversion, NamesAnAnnotationThatSomebodyBroke) {
  ek::Json lowered = convert(ek::to_tree(everything()), v1alpha1_name);
  lowered["metadata"]["annotations"][v1_spec_annotation] = "{";
  try {
    convert(lowered, v1_name);
    FAIL();
  } catch (const ek::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("annotation cache.evenkeel.dev/v1-spec"));
  }
}

TEST(CacheOperatorConversion, IsInOneDefinition) {
  const auto definitions =
      ek::merge_versions({ek::crd_for<v1::Memcached>(), ek::crd_for<v1alpha1::Memcached>()});
  ASSERT_EQ(definitions.size(), 1U);
  const ek::Json& versions = definitions[0]["spec"]["versions"];
  ASSERT_EQ(versions.size(), 2U);
  EXPECT_EQ(versions[0]["name"].as_string(), "v1");
  EXPECT_TRUE(versions[0]["storage"].as_bool());
  EXPECT_FALSE(versions[1]["storage"].as_bool());
  EXPECT_TRUE(versions[1]["deprecated"].as_bool());
}

}  // namespace conversion_test
}  // namespace cache_operator::tests
