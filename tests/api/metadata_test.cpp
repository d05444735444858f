// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/snapshot.hpp>

namespace ek = evenkeel;
using namespace std::chrono_literals;

namespace {

ek::ConfigMap owner(std::string name, std::string uid = "u1", std::string namespace_ = "default") {
  ek::ConfigMap out;
  out.metadata = {.name = std::move(name), .namespace_ = std::move(namespace_), .uid = std::move(uid)};
  return out;
}

TEST(Metadata, NewObjectsClaimOnlyWhatTheySet) {
  EXPECT_EQ(ek::to_json(ek::ObjectMeta{.name = "a", .namespace_ = "b"}), R"({"name":"a","namespace":"b"})");
  EXPECT_EQ(ek::to_json(ek::ObjectMeta{}), "{}");
}

TEST(Metadata, KeyIsNamespaceAndName) {
  EXPECT_EQ(ek::key_of(owner("a")).str(), "default/a");
  EXPECT_EQ(ek::key_of(owner("a", "u", "")).str(), "a");
}

TEST(Finalizers, AreAddedOnceAndRemovedWhole) {
  ek::ObjectMeta metadata;
  EXPECT_TRUE(ek::add_finalizer(metadata, "x.dev/a"));
  EXPECT_FALSE(ek::add_finalizer(metadata, "x.dev/a"));
  EXPECT_TRUE(ek::add_finalizer(metadata, "x.dev/b"));
  EXPECT_TRUE(ek::has_finalizer(metadata, "x.dev/a"));
  metadata.finalizers.push_back("x.dev/a");
  EXPECT_TRUE(ek::remove_finalizer(metadata, "x.dev/a"));
  EXPECT_EQ(metadata.finalizers, std::vector<std::string>{"x.dev/b"});
  EXPECT_FALSE(ek::remove_finalizer(metadata, "x.dev/a"));
}

TEST(OwnerReferences, ControllerReferenceIsComplete) {
  ek::ObjectMeta object{.name = "o", .namespace_ = "default"};
  ek::set_controller_reference(owner("a"), object);
  ASSERT_EQ(object.owner_references.size(), 1U);
  EXPECT_EQ(object.owner_references[0], (ek::OwnerReference{.api_version = "v1",
                                                            .kind = "ConfigMap",
                                                            .name = "a",
                                                            .uid = "u1",
                                                            .controller = true,
                                                            .block_owner_deletion = true}));
  EXPECT_EQ(ek::controller_of(object)->name, "a");
  EXPECT_TRUE(ek::is_owned_by(object, owner("a")));
  EXPECT_FALSE(ek::is_owned_by(object, owner("a", "u2")));
}

TEST(OwnerReferences, TheSameOwnerIsReplacedNotRepeated) {
  ek::ObjectMeta object{.name = "o", .namespace_ = "default"};
  ek::set_controller_reference(owner("a", "old"), object);
  ek::set_controller_reference(owner("a", "new"), object);
  ASSERT_EQ(object.owner_references.size(), 1U);
  EXPECT_EQ(object.owner_references[0].uid, "new");
}

TEST(OwnerReferences, ASecondControllerIsRefused) {
  ek::ObjectMeta object{.name = "o", .namespace_ = "default"};
  ek::set_controller_reference(owner("a"), object);
  try {
    ek::set_controller_reference(owner("b", "u2"), object);
    ADD_FAILURE();
  } catch (const ek::AlreadyOwned& error) {
    EXPECT_STREQ(error.what(), R"(object "default/o" is already owned by the controller ConfigMap "a")");
    EXPECT_EQ(error.owner().uid, "u1");
  }
  ek::set_owner_reference(owner("b", "u2"), object);
  EXPECT_EQ(object.owner_references.size(), 2U);
  EXPECT_FALSE(object.owner_references[1].controller);
}

TEST(OwnerReferences, OwnersOfOtherNamespacesAreRefused) {
  ek::ObjectMeta object{.name = "o", .namespace_ = "other"};
  EXPECT_THROW(ek::set_controller_reference(owner("a"), object), std::invalid_argument);
  EXPECT_THROW(ek::set_owner_reference(owner("a"), object), std::invalid_argument);
  ek::ObjectMeta cluster_scoped{.name = "o"};
  EXPECT_THROW(ek::set_controller_reference(owner("a"), cluster_scoped), std::invalid_argument);
  EXPECT_TRUE(object.owner_references.empty());
  ek::Namespace cluster_owner;
  cluster_owner.metadata = {.name = "n", .uid = "u"};
  ek::set_controller_reference(cluster_owner, object);
  EXPECT_EQ(object.owner_references.size(), 1U);
}

TEST(OwnerReferences, AnOwnerThatDoesNotExistYetIsRefused) {
  ek::ObjectMeta object{.name = "o", .namespace_ = "default"};
  EXPECT_THROW(ek::set_controller_reference(owner("a", ""), object), std::invalid_argument);
}

TEST(OwnerReferences, VersionsOfOneGroupAreTheSameOwner) {
  const ek::OwnerReference a{.api_version = "apps/v1", .kind = "Deployment", .name = "d"};
  const ek::OwnerReference b{.api_version = "apps/v1beta1", .kind = "Deployment", .name = "d"};
  const ek::OwnerReference c{.api_version = "extensions/v1beta1", .kind = "Deployment", .name = "d"};
  const ek::OwnerReference core{.api_version = "v1", .kind = "Deployment", .name = "d"};
  EXPECT_TRUE(ek::same_owner(a, b));
  EXPECT_FALSE(ek::same_owner(a, c));
  EXPECT_FALSE(ek::same_owner(a, core));
}

TEST(Conditions, TransitionTimeMovesOnlyWithTheStatus) {
  const ek::WallTime first{1000s};
  const ek::WallTime later{2000s};
  std::vector<ek::Condition> conditions;
  EXPECT_TRUE(ek::set_condition(conditions, {.type = "Ready", .status = "False", .reason = "R"}, first));
  EXPECT_FALSE(ek::set_condition(conditions, {.type = "Ready", .status = "False", .reason = "R"}, later));
  EXPECT_TRUE(ek::set_condition(conditions, {.type = "Ready", .status = "False", .reason = "Other"}, later));
  EXPECT_EQ(conditions[0].last_transition_time, ek::Time(first));
  EXPECT_TRUE(ek::set_condition(conditions, {.type = "Ready", .status = "True", .reason = "R"}, later));
  EXPECT_EQ(conditions[0].last_transition_time, ek::Time(later));
  EXPECT_TRUE(ek::is_condition_true(conditions, "Ready"));
  EXPECT_FALSE(ek::is_condition_true(conditions, "Other"));
  EXPECT_TRUE(ek::remove_condition(conditions, "Ready"));
  EXPECT_FALSE(ek::remove_condition(conditions, "Ready"));
}

TEST(Snapshot, SharesOneImmutableObject) {
  auto text = std::make_shared<std::string>("raw");
  const std::weak_ptr<std::string> alive = text;
  ek::Snapshot<ek::ConfigMap> snapshot(owner("a"), *text, text);
  text.reset();
  const ek::Snapshot<ek::ConfigMap> copy = snapshot;
  snapshot = nullptr;
  EXPECT_FALSE(snapshot);
  EXPECT_EQ(snapshot.get(), nullptr);
  EXPECT_EQ(snapshot.raw(), "");
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->metadata.name, "a");
  EXPECT_EQ(copy.raw(), "raw");
  EXPECT_TRUE(copy.same(ek::Snapshot<ek::ConfigMap>(copy)));
  EXPECT_FALSE(alive.expired());
  EXPECT_EQ(copy.share()->metadata.name, "a");
}

TEST(DynamicObject, NamesWhatEveryObjectHas) {
  ek::DynamicObject object(ek::Json::parse(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"default","uid":"u","resourceVersion":"7",
          "generation":3,"labels":{"a":"b"},"finalizers":["f"],"deletionTimestamp":"2026-01-01T00:00:00Z"},"zz":1})"));
  EXPECT_EQ(object.kind(), "Pod");
  EXPECT_EQ(object.key().str(), "default/web");
  EXPECT_EQ(object.uid(), "u");
  EXPECT_EQ(object.resource_version(), "7");
  EXPECT_EQ(object.generation(), 3);
  EXPECT_EQ(object.label("a"), "b");
  EXPECT_EQ(object.label("x"), std::nullopt);
  EXPECT_EQ(object.finalizers(), std::vector<std::string>{"f"});
  EXPECT_TRUE(object.is_deleting());
  object.set_label("x", "y");
  object.set_annotation("n", "v");
  EXPECT_EQ(object.labels(), (std::map<std::string, std::string>{{"a", "b"}, {"x", "y"}}));
  EXPECT_EQ(object.annotation("n"), "v");
  EXPECT_EQ(object["zz"], ek::Json(1));
  EXPECT_EQ(object.metadata().name, "web");
  EXPECT_EQ(object.as<ek::Pod>().metadata.labels.at("x"), "y");
  EXPECT_THROW(static_cast<void>(object.as<ek::ConfigMap>()), ek::DecodeError);
}

TEST(DynamicObject, WhatIsAbsentOrOfTheWrongTypeReadsAsEmpty) {
  const ek::DynamicObject object(ek::Json::parse(R"({"metadata":{"name":5,"labels":[1],"finalizers":"x"}})"));
  EXPECT_EQ(object.name(), "");
  EXPECT_EQ(object.kind(), "");
  EXPECT_TRUE(object.labels().empty());
  EXPECT_TRUE(object.finalizers().empty());
  EXPECT_FALSE(object.is_deleting());
  EXPECT_THROW(static_cast<void>(object.metadata()), ek::DecodeError);
}

TEST(DynamicObject, IsMadeFromItsKind) {
  const ek::DynamicObject object(ek::ConfigMap::resource, "default", "a");
  EXPECT_EQ(object.body(),
            ek::Json::parse(
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"}})"));
}

TEST(PartialObject, IsMetadataOfAnyKind) {
  const auto partial = ek::from_json<ek::PartialObject>(
      R"({"apiVersion":"apps/v1","kind":"X","metadata":{"name":"a"},"spec":{"b":1}})");
  EXPECT_EQ(partial.kind, "X");
  EXPECT_EQ(ek::to_json(partial), R"({"apiVersion":"apps/v1","kind":"X","metadata":{"name":"a"}})");
}

}  // namespace
