// SPDX-License-Identifier: Apache-2.0
// Controllers of kinds without a C++ type.
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/controller/builder.hpp>
#include <evenkeel/testing/harness.hpp>

#include "gadget.hpp"

namespace evenkeel::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

const ResourceId gadgets(Gadget::resource);
const ResourceId maps("", "v1", "ConfigMap", "configmaps");
const ResourceId secrets("", "v1", "Secret", "secrets");

// Applies a ConfigMap with the image of the Gadget, and reports its replicas in the status.
void reconcile_dynamic(Context& context, const DynamicObject& gadget) {
  DynamicObject map(maps, "", gadget.name());
  map["data"]["image"] = gadget["spec"]["image"];
  context.resource(maps).apply(map);
  context.resource(gadgets).patch_status(gadget, [&](DynamicObject& changed) {
    changed["status"]["readyReplicas"] = gadget["spec"]["replicas"];
  });
}

Harness with(ControllerSpec spec, const Objects& objects) {
  Harness harness;
  harness.create({crd_for<Gadget>()});
  harness.create(objects);
  harness.add(std::move(spec));
  harness.settle();
  return harness;
}

TEST(ResourceController, ReadsWritesAndOwns) {
  Harness harness = with(controller_for(gadgets, reconcile_dynamic).owns(maps), {gadget("web", 3)});
  EXPECT_EQ(harness.get<Gadget>(web)->status.ready_replicas, 3) << harness.str();
  const auto map = harness.get<ConfigMap>(web);
  EXPECT_EQ(map->data.at("image"), "web:1");
  ASSERT_THAT(map->metadata.owner_references, SizeIs(1));
  EXPECT_EQ(map->metadata.owner_references[0].kind, "Gadget");
  EXPECT_TRUE(map->metadata.owner_references[0].controller);
  EXPECT_EQ(harness.runs()[0].controller, "gadget");

  harness.edit<ConfigMap>(web, [](ConfigMap& changed) { changed.data["image"] = "vandal:1"; });
  harness.settle();
  EXPECT_EQ(harness.get<ConfigMap>(web)->data.at("image"), "web:1") << "its owner was reconciled";
  harness.remove<ConfigMap>(web);
  harness.settle();
  EXPECT_TRUE(harness.find<ConfigMap>(web));
}

TEST(ResourceController, TakesRequestsAndReadsTheCache) {
  std::vector<std::string> seen;
  const auto reconcile = [&](Context& context, const Request&) {
    const auto found = context.resource(gadgets).find(context.key());
    seen.push_back(found ? std::string(found->name()) : "none");
    if (!found) return;
    EXPECT_THAT(context.resource(gadgets).list(), SizeIs(1));
    const auto created = context.resource(maps).create(DynamicObject(maps, "default", "made"));
    EXPECT_EQ(context.resource(maps).find(created->key())->uid(), created->uid())
        << "before the watch shows it";
    EXPECT_THAT(context.resource(maps).owned_by(found->metadata()), SizeIs(1));
    context.resource(maps).remove(*created);
    EXPECT_FALSE(context.resource(maps).find(created->key()));
  };
  Harness harness =
      with(controller_for(gadgets, reconcile).owns(maps, {.when = [](const ObjectEvent&) { return false; }}),
           {gadget("web", 1)});
  harness.remove<Gadget>(web);
  harness.settle();
  EXPECT_THAT(seen, ElementsAre("web", "none"));
}

TEST(ResourceController, MapsObjectsOfOtherKinds) {
  int runs = 0;
  const auto reconcile = [&](Context&, const DynamicObject&) { ++runs; };
  const auto gadget_of = [](const DynamicObject& secret) {
    return ObjectKey{std::string(secret.namespace_()), std::string(secret.label("gadget").value_or("none"))};
  };
  Harness harness = with(controller_for(gadgets, reconcile).watches(secrets, gadget_of), {gadget("web", 1)});
  EXPECT_EQ(runs, 1);
  DynamicObject secret(secrets, "default", "s");
  secret.set_label("gadget", "web");
  harness.create({secret});
  harness.settle();
  EXPECT_EQ(runs, 2) << harness.str();
}

TEST(ResourceController, RunsFinalizers) {
  std::vector<std::string> cleaned;
  const auto clean_up = [&](Context& context, const DynamicObject& gadget) {
    context.resource(gadgets).patch_status(
        gadget, [](DynamicObject& changed) { changed["status"]["readyReplicas"] = 9; });
    cleaned.push_back(std::string(gadget.name()));
  };
  Harness harness = with(controller_for(gadgets, [](Context&, const DynamicObject&) {})
                             .finalize("test.evenkeel.dev/clean", clean_up),
                         {gadget("web", 1)});
  EXPECT_THAT(harness.get<Gadget>(web)->metadata.finalizers, ElementsAre("test.evenkeel.dev/clean"));
  EXPECT_THAT(cleaned, SizeIs(0));
  harness.remove<Gadget>(web);
  harness.settle();
  EXPECT_THAT(cleaned, ElementsAre("web"));
  EXPECT_FALSE(harness.find<Gadget>(web));
}

TEST(ResourceController, KeepsAFinalizerUntilItsCleanUpHasEnded) {
  int cleaned = 0;
  const auto clean_up = [&](Context&, const DynamicObject&) {
    return ++cleaned < 3 ? requeue_after(std::chrono::minutes{1}) : done();
  };
  Harness harness = with(controller_for(gadgets, [](Context&, const DynamicObject&) {})
                             .finalize("test.evenkeel.dev/clean", clean_up),
                         {gadget("web", 1)});
  harness.remove<Gadget>(web);
  harness.run_for(std::chrono::seconds{90});
  EXPECT_EQ(cleaned, 2);
  ASSERT_TRUE(harness.find<Gadget>(web)) << harness.str();
  EXPECT_THAT(harness.get<Gadget>(web)->metadata.finalizers, ElementsAre("test.evenkeel.dev/clean"));
  harness.settle();
  EXPECT_EQ(cleaned, 3);
  EXPECT_FALSE(harness.find<Gadget>(web)) << harness.str();
}

TEST(ResourceController, APatchTakesOnlyTheReconciledObjectByReference) {
  const auto reconcile = [](Context& context, const DynamicObject& gadget) {
    const DynamicObject copy = gadget;
    EXPECT_THROW(context.resource(gadgets).patch(copy, [](DynamicObject&) {}), std::invalid_argument);
    context.resource(gadgets).patch(gadget,
                                    [](DynamicObject& changed) { changed.set_label("seen", "once"); });
    context.resource(gadgets).patch(gadget,
                                    [](DynamicObject& changed) { changed.set_label("twice", "yes"); });
  };
  const Harness harness = with(controller_for(gadgets, reconcile), {gadget("web", 1)});
  EXPECT_EQ(harness.get<Gadget>(web)->metadata.labels.at("seen"), "once");
  EXPECT_EQ(harness.get<Gadget>(web)->metadata.labels.at("twice"), "yes");
}

}  // namespace
}  // namespace evenkeel::testing
