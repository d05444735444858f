// SPDX-License-Identifier: Apache-2.0
#include "cache/object_packer.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/cache/detail/decoded_objects.hpp>

#include "random_json.hpp"

namespace evenkeel {
namespace {

using detail::ObjectPacker;
using ::testing::ElementsAre;

/// Returns a config map as a fleet of them looks: much text in common, and something of its own.
WireObject settings(int number, std::size_t extra = 0) {
  const std::string n = std::to_string(number);
  return WireScanner().object(
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings-)" + n +
      R"(","namespace":"team-)" + std::to_string(number % 7) + R"(","uid":"6f1c)" + n +
      R"(-11aa","resourceVersion":")" + std::to_string(1000 + number) +
      R"(","generation":3,"labels":{"app.kubernetes.io/name":"shop","app.kubernetes.io/instance":"shop-)" +
      n +
      R"("},"annotations":{"note":"an \"escaped\" text"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"shop-)" +
      n + R"(","uid":"0a)" + n +
      R"(","controller":true}]},"data":{"database.host":"db.internal.example.com","database.port":"5432","database.pool":"20","cache.host":"cache.internal.example.com","features":"checkout,search,recommendations","log.level":"info","own":")" +
      n + std::string(extra, 'x') + R"("}})");
}

std::vector<WireObject> fleet(int count) {
  std::vector<WireObject> objects;
  for (int i = 0; i < count; ++i) objects.push_back(settings(i));
  return objects;
}

std::size_t bytes_of(const std::vector<WireObject>& objects) {
  std::size_t bytes = 0;
  for (const WireObject& object : objects) bytes += object.bytes();
  return bytes;
}

/// Expects the same object in another form.
void expect_same(const WireObject& packed, const WireObject& whole) {
  EXPECT_EQ(packed.api_version(), whole.api_version());
  EXPECT_EQ(packed.kind(), whole.kind());
  EXPECT_EQ(packed.key(), whole.key());
  EXPECT_EQ(packed.uid(), whole.uid());
  EXPECT_EQ(packed.resource_version(), whole.resource_version());
  EXPECT_EQ(packed.generation(), whole.generation());
  EXPECT_EQ(packed.is_being_deleted(), whole.is_being_deleted());
  EXPECT_TRUE(packed.labels() == whole.labels());
  EXPECT_TRUE(packed.annotations() == whole.annotations());
  EXPECT_TRUE(packed.owners() == whole.owners());
  EXPECT_EQ(packed.json_bytes(), whole.raw().size());
}

TEST(ObjectPacker, WhatIsExpandedIsWhatWasPacked) {
  std::vector<WireObject> objects = fleet(300);
  const std::vector<WireObject> whole = objects;
  ObjectPacker packer;
  packer.pack_all(objects);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    ASSERT_EQ(objects[i].form(), WireForm::whole) << "without a sample there is no dictionary";
    objects[i] = packer.pack(objects[i]);
  }
  packer.pack_all(objects);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    ASSERT_EQ(objects[i].form(), WireForm::compressed) << i;
    EXPECT_EQ(objects[i].raw(), "");
    expect_same(objects[i], whole[i]);
    const WireObject expanded = objects[i].expanded();
    EXPECT_EQ(expanded.form(), WireForm::whole);
    EXPECT_EQ(expanded.raw(), whole[i].raw());
    expect_same(expanded, whole[i]);
    EXPECT_TRUE(whole[i].expanded() == whole[i]) << "it has its JSON";
  }
}

TEST(ObjectPacker, SimilarObjectsTakeAFractionOfTheirJson) {
  std::vector<WireObject> objects = fleet(1000);
  ObjectPacker packer;
  std::size_t json = 0;
  for (WireObject& object : objects) {
    json += object.json_bytes();
    object = packer.pack(std::move(object));
  }
  packer.pack_all(objects);
  EXPECT_LT(bytes_of(objects), json);
  std::size_t compressed = 0;
  for (const WireObject& object : objects)
    compressed += object.bytes() - (object.expanded().bytes() - object.json_bytes());
  EXPECT_LT(compressed * 6, json) << "the JSON alone";
}

TEST(ObjectPacker, ObjectsStayAsTheyAreUntilThereIsADictionary) {
  ObjectPacker packer;
  std::size_t whole = 0;
  for (int i = 0; i < 1000; ++i) whole += packer.pack(settings(i)).form() == WireForm::whole ? 1 : 0;
  EXPECT_EQ(whole, ObjectPacker::wanted_samples - 1);
}

TEST(ObjectPacker, FewObjectsStayAsTheyAre) {
  std::vector<WireObject> objects = fleet(3);
  ObjectPacker packer;
  for (WireObject& object : objects) object = packer.pack(std::move(object));
  packer.pack_all(objects);
  for (const WireObject& object : objects) EXPECT_EQ(object.form(), WireForm::whole);
}

TEST(ObjectPacker, ALargeObjectNeedsNoOthers) {
  ObjectPacker packer;
  std::vector<WireObject> objects;
  for (int i = 0; i < 200; ++i) objects.push_back(packer.pack(settings(i, 1u << 20)));
  EXPECT_EQ(objects.back().form(), WireForm::compressed) << "as soon as there are 4 MB";
  EXPECT_LT(objects.back().bytes(), 10'000U);
  EXPECT_EQ(objects.back().expanded().raw(), settings(199, 1u << 20).raw());
}

TEST(ObjectPacker, WhatCannotBePackedIsReturned) {
  ObjectPacker packer;
  EXPECT_FALSE(packer.pack({}));
  const WireObject metadata =
      WireScanner({.form = WireForm::metadata_only}).object(R"({"metadata":{"name":"a"}})");
  EXPECT_TRUE(packer.pack(metadata) == metadata);
  std::vector<WireObject> objects = fleet(1000);
  for (WireObject& object : objects) object = packer.pack(std::move(object));
  EXPECT_TRUE(packer.pack(objects.back()) == objects.back());
}

TEST(ObjectPacker, AnObjectOutlivesItsPacker) {
  WireObject kept;
  {
    ObjectPacker packer;
    for (int i = 0; i < 300; ++i) kept = packer.pack(settings(i));
  }
  EXPECT_EQ(kept.expanded().raw(), settings(299).raw());
  const WireObject copy = kept;
  kept = {};
  EXPECT_EQ(copy.decode<ConfigMap>()->data.at("own"), "299");
}

TEST(ObjectPacker, DecodingReadsTheCompressedForm) {
  ObjectPacker packer;
  WireObject object;
  for (int i = 0; i < 300; ++i) object = packer.pack(settings(i));
  ASSERT_EQ(object.form(), WireForm::compressed);
  const auto map = object.decode<ConfigMap>();
  EXPECT_EQ(map->metadata.labels.at("app.kubernetes.io/name"), "shop");
  EXPECT_EQ(map.raw(), settings(299).raw()) << "so that an edit keeps what the type lacks";
  EXPECT_EQ(object.decode<DynamicObject>()->body()["data"]["own"].as_string(), "299");
  EXPECT_EQ(object.decode<PartialObject>()->metadata.annotations.at("note"), "an \"escaped\" text");
  detail::DecodedObjects decoded(1u << 20);
  EXPECT_TRUE(decoded.decode<ConfigMap>(object).same(decoded.decode<ConfigMap>(object)));
}

// A collection of objects that have nothing in common.
TEST(ObjectPacker, RandomObjectsSurvive) {
  tests::RandomJson random(tests::fresh_seed());
  ObjectPacker packer;
  for (int i = 0; i < 2000; ++i) {
    const WireObject whole = WireScanner().object(R"({"metadata":{"name":"n)" + std::to_string(i) +
                                                  R"("},"x":)" + random.value(3) + "}");
    const WireObject packed = packer.pack(whole);
    ASSERT_EQ(packed.expanded().raw(), whole.raw());
    expect_same(packed, whole);
  }
}

}  // namespace
}  // namespace evenkeel
