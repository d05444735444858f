// SPDX-License-Identifier: Apache-2.0
// A Kubernetes Event recorded from a reconciler. Quoted by docs/controllers.md.
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <evenkeel/evenkeel.hpp>
#include <evenkeel/testing/run.hpp>

namespace {

namespace ek = evenkeel;

// Records an Event about `object`. A rejected Event is only logged: it must never make a reconcile fail.
template <ek::ObjectType T>
void record_event(ek::Context& context, const T& object, std::string type, std::string reason,
                  std::string message) {
  const bool namespaced = !object.metadata.namespace_.empty();
  ek::core_v1::Event event{.metadata = {.generate_name = object.metadata.name + "-",
                                        .namespace_ = namespaced ? object.metadata.namespace_ : "default"}};
  event.involved_object = {.name = object.metadata.name,
                           .api_version = T::resource.api_version(),
                           .kind = std::string(T::resource.kind),
                           .uid = object.metadata.uid};
  if (namespaced) event.involved_object.namespace_ = object.metadata.namespace_;
  event.type = std::move(type);  // "Normal" or "Warning"
  event.reason = std::move(reason);
  event.message = std::move(message);
  event.source.component = "my-operator";
  event.first_timestamp = event.last_timestamp = ek::Time(context.clock().wall_now());
  event.count = 1;
  try {
    context.client().create(event);
  } catch (const ek::Error& error) {
    context.log().warn("an event was not recorded", {{"reason", *event.reason}, {"error", error.what()}});
  }
}

const ek::ObjectKey web{"default", "web"};

ek::Result reconcile(ek::Context& context, const ek::ConfigMap& map) {
  record_event(context, map, "Warning", "Empty", "there is nothing in it");
  return ek::done();
}

TEST(EventRecipe, RecordsAnEventThatNamesTheObject) {
  const ek::ConfigMap map{.metadata = {.name = "web", .namespace_ = "default"}};
  const ek::testing::Harness harness = ek::testing::run_once(reconcile, {map});
  const auto events = harness.events();
  ASSERT_EQ(events.size(), 1U) << harness.str();
  const ek::core_v1::Event& event = *events.front();
  EXPECT_EQ(event.metadata.namespace_, "default");
  EXPECT_EQ(event.involved_object.kind, "ConfigMap");
  EXPECT_EQ(event.involved_object.api_version, "v1");
  EXPECT_EQ(event.involved_object.name, "web");
  EXPECT_EQ(event.involved_object.uid, harness.get<ek::ConfigMap>(web)->metadata.uid);
  EXPECT_EQ(event.type, "Warning");
  EXPECT_EQ(event.reason, "Empty");
  EXPECT_EQ(event.message, "there is nothing in it");
}

TEST(EventRecipe, DoesNotFailTheRunWhenTheEventIsRefused) {
  const ek::ConfigMap map{.metadata = {.name = "web", .namespace_ = "default"}};
  const ek::testing::Harness harness = ek::testing::run_once(
      reconcile, {map}, {.harness = {.faults = {{.verb = "create", .resource = "events", .status = 403}}}});
  EXPECT_EQ(harness.last().outcome.kind, ek::OutcomeKind::success) << harness.str();
  EXPECT_TRUE(harness.events().empty());
  EXPECT_NE(harness.str().find("an event was not recorded"), std::string::npos) << harness.str();
}

TEST(EventRecipe, PutsTheEventOfAClusterScopedObjectIntoDefault) {
  const auto greet = [](ek::Context& context, const ek::Namespace& space) {
    record_event(context, space, "Normal", "Seen", "it is there");
  };
  const ek::Namespace team{.metadata = {.name = "team"}};
  const ek::testing::Harness harness = ek::testing::run_once(greet, {team});
  const auto events = harness.events();
  ASSERT_EQ(events.size(), 1U) << harness.str();
  EXPECT_EQ(events.front()->metadata.namespace_, "default");
  EXPECT_EQ(events.front()->involved_object.namespace_, std::nullopt);
}

}  // namespace
