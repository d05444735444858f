// SPDX-License-Identifier: Apache-2.0
// Owners of objects that a reconciler writes: set, rejected with a reason, or omitted on request.
#include <functional>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/controller/helpers.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/run.hpp>

namespace evenkeel {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A cluster-scoped custom kind.
struct Fleet {
  static constexpr ResourceInfo resource{.group = "test.evenkeel.dev",
                                         .version = "v1",
                                         .kind = "Fleet",
                                         .plural = "fleets",
                                         .scope = Scope::cluster};
  ObjectMeta metadata;
};
EVENKEEL_FIELDS(Fleet, metadata)

ConfigMap map_in(const std::string& namespace_, const std::string& name) {
  return {.metadata = {.name = name, .namespace_ = namespace_}};
}

const ObjectKey web{"default", "web"};

/// Reconciles the config map default/web once.
testing::Harness run_with(std::function<void(Context&, const ConfigMap&)> work) {
  return testing::run_once<ConfigMap>(
      [work = std::move(work)](Context& context, const ConfigMap& map) { work(context, map); },
      {"{apiVersion: v1, kind: Namespace, metadata: {name: far}}", map_in("default", "web")},
      {.harness = {.expect_failures = true}});
}

std::string refusal_of(const std::function<void(Context&, const ConfigMap&)>& work) {
  const testing::Harness harness = run_with(work);
  EXPECT_THAT(harness.writes(), IsEmpty()) << "nothing was sent\n" << harness.str();
  EXPECT_TRUE(harness.last().outcome.panic) << "the program is wrong";
  return harness.last().outcome.message;
}

TEST(Ownership, WhatIsAppliedIsOwned) {
  const testing::Harness harness = run_with([](Context& context, const ConfigMap&) {
    context.apply(map_in("", "child"));
    context.apply(map_in("default", "sister"));
  });
  for (const char* name : {"child", "sister"}) {
    const auto child = harness.get<ConfigMap>({"default", name});
    ASSERT_THAT(child->metadata.owner_references, SizeIs(1)) << harness.str();
    EXPECT_EQ(child->metadata.owner_references[0].uid, harness.get<ConfigMap>(web)->metadata.uid);
    EXPECT_EQ(child->metadata.owner_references[0].controller, true);
  }
}

TEST(Ownership, ApplyIntoAnotherNamespaceIsRefused) {
  EXPECT_EQ(
      refusal_of([](Context& context, const ConfigMap&) { context.apply(map_in("far", "away")); }),
      "Context: apply ConfigMap far/away: ConfigMap default/web cannot be its owner: an owner must be in "
      "the namespace of what it owns; {.own = false} applies it without an owner");
}

TEST(Ownership, ACreatedObjectIsOwnedUnlessThatIsSaid) {
  const testing::Harness harness = run_with([](Context& context, const ConfigMap&) {
    context.create(map_in("", "child"));
    context.create(map_in("far", "away"), {.own = false});
  });
  EXPECT_EQ(harness.last().error, nullptr) << harness.str();
  const auto child = harness.get<ConfigMap>({"default", "child"});
  ASSERT_THAT(child->metadata.owner_references, SizeIs(1));
  EXPECT_EQ(child->metadata.owner_references[0].uid, harness.get<ConfigMap>(web)->metadata.uid);
  EXPECT_THAT(harness.get<ConfigMap>({"far", "away"})->metadata.owner_references, IsEmpty());
  EXPECT_EQ(
      refusal_of([](Context& context, const ConfigMap&) { context.create(map_in("far", "away")); }),
      "Context: create ConfigMap far/away: ConfigMap default/web cannot be its owner: an owner must be in "
      "the namespace of what it owns; {.own = false} creates it without an owner");
}

TEST(Ownership, ApplyOfAClusterScopedObjectFromANamespaceIsRefused) {
  EXPECT_EQ(refusal_of([](Context& context, const ConfigMap&) {
              context.apply(Namespace{.metadata = {.name = "wide"}});
            }),
            "Context: apply Namespace wide: ConfigMap default/web cannot be its owner: an owner with a "
            "namespace cannot own what is cluster-scoped; {.own = false} applies it without an owner");
}

TEST(Ownership, ApplyWithoutAnOwnerIsSaid) {
  const testing::Harness harness = run_with([](Context& context, const ConfigMap&) {
    context.apply(map_in("far", "away"), {.own = false});
    context.apply(Namespace{.metadata = {.name = "wide"}}, {.own = false});
  });
  EXPECT_EQ(harness.last().error, nullptr) << harness.str();
  EXPECT_THAT(harness.get<ConfigMap>({"far", "away"})->metadata.owner_references, IsEmpty());
  EXPECT_THAT(harness.get<Namespace>({"", "wide"})->metadata.owner_references, IsEmpty());
}

TEST(Ownership, ApplyOfTheObjectItselfAndOfOneWithAControllerSetsNone) {
  const testing::Harness harness = run_with([](Context& context, const ConfigMap& map) {
    ConfigMap self = map_in("default", "web");
    self.data["applied"] = "yes";
    context.apply(self);
    ConfigMap other = map_in("far", "other");
    other.metadata.owner_references = {{.api_version = "v1",
                                        .kind = "ConfigMap",
                                        .name = "x",
                                        .uid = map.metadata.uid + "x",
                                        .controller = true}};
    context.apply(other);
  });
  EXPECT_EQ(harness.last().error, nullptr) << harness.str();
  EXPECT_THAT(harness.get<ConfigMap>(web)->metadata.owner_references, IsEmpty());
}

TEST(Ownership, ApplyForAnObjectThatIsGoneIsRefused) {
  const auto apply = [](ContextApplyOptions options) {
    return testing::run_once<ConfigMap>(
        [options](Context& context, const Request&) { context.apply(map_in("default", "child"), options); },
        {}, {.key = web, .harness = {.expect_failures = true}});
  };
  EXPECT_EQ(apply({}).last().outcome.message,
            "Context: apply ConfigMap default/child: the object default/web cannot be its owner: it does not "
            "exist; {.own = false} applies it without an owner");
  EXPECT_TRUE(apply({.own = false}).find<ConfigMap>({"default", "child"}));
}

TEST(Ownership, AClusterScopedObjectOwnsInAllNamespaces) {
  const testing::Harness harness = testing::run_once<Fleet>(
      [](Context& context, const Fleet&) {
        context.apply(map_in("default", "child"));
        context.apply(Namespace{.metadata = {.name = "wide"}});
      },
      {Fleet{.metadata = {.name = "all"}}});
  EXPECT_THAT(harness.get<ConfigMap>({"default", "child"})->metadata.owner_references, SizeIs(1));
  EXPECT_THAT(harness.get<Namespace>({"", "wide"})->metadata.owner_references, SizeIs(1));
}

// The other ways to set an owner reject the same cases.
TEST(Ownership, CreateOrUpdateAndTheHelpersRefuseOwnersOfOtherNamespaces) {
  const auto message = [](std::function<void(const ConfigMap& owner, ObjectMeta& object)> own,
                          const ObjectKey& key) {
    return run_with([&](Context& context, const ConfigMap& owner) {
             create_or_update<ConfigMap>(context, key, [&](ConfigMap& map) { own(owner, map.metadata); });
           })
        .last()
        .outcome.message;
  };
  const auto controller = [](const ConfigMap& owner, ObjectMeta& object) {
    set_controller_reference(owner, object);
  };
  const auto plain = [](const ConfigMap& owner, ObjectMeta& object) { set_owner_reference(owner, object); };
  for (const auto& own : {std::function<void(const ConfigMap&, ObjectMeta&)>(controller),
                          std::function<void(const ConfigMap&, ObjectMeta&)>(plain)}) {
    EXPECT_THAT(message(own, {"far", "away"}), ::testing::HasSubstr("another namespace"));
    EXPECT_EQ(message(own, {"default", "near"}), "");
  }
  const testing::Harness wide = run_with([](Context& context, const ConfigMap& owner) {
    create_or_update<Namespace>(context, {"", "wide"},
                                [&](Namespace& made) { set_controller_reference(owner, made.metadata); });
  });
  EXPECT_THAT(wide.last().outcome.message, ::testing::HasSubstr("cluster-scoped"));
  EXPECT_THAT(wide.writes(), IsEmpty());
}

// Children are found in the owner's namespace, or in all of them.
TEST(Ownership, OwnedByFindsTheChildren) {
  std::vector<std::string> declared;
  std::vector<std::string> undeclared;
  testing::Harness harness;
  harness.add(controller_for<Fleet>([&](Context& context, const Fleet& fleet) {
                declared.clear();
                undeclared.clear();
                for (const auto& map : context.owned_by<ConfigMap>(fleet))
                  declared.push_back(map->metadata.name);
                for (const auto& secret : context.owned_by<Secret>(fleet))
                  undeclared.push_back(secret->metadata.name);
              }).owns<ConfigMap>());
  harness.create(
      {Fleet{.metadata = {.name = "all"}}, "{apiVersion: v1, kind: Namespace, metadata: {name: far}}"});
  const auto fleet = harness.get<Fleet>({"", "all"});
  for (const char* namespace_ : {"far", "default"}) {
    ConfigMap map = map_in(namespace_, std::string("map-") + namespace_);
    set_controller_reference(*fleet, map.metadata);
    Secret secret{.metadata = {.name = std::string("secret-") + namespace_, .namespace_ = namespace_}};
    set_owner_reference(*fleet, secret.metadata);
    harness.create({map, secret, map_in(namespace_, "stranger")});
  }
  harness.settle();
  EXPECT_THAT(declared, ::testing::ElementsAre("map-default", "map-far")) << harness.str();
  EXPECT_THAT(undeclared, ::testing::ElementsAre("secret-default", "secret-far"));
}

}  // namespace
}  // namespace evenkeel
