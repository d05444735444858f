// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/controller/handler.hpp>

#include "event_fixture.hpp"

namespace evenkeel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const ResourceId demo{"demo.evenkeel.dev", "v1", "Demo", "demos"};
const ResourceId cluster_demo{"demo.evenkeel.dev", "v1", "Demo", "demos", Scope::cluster};

WireObject owned_by(std::string_view references) {
  return wire_object(R"({"name":"child","namespace":"ns","ownerReferences":[)" + std::string(references) +
                     "]}");
}

TEST(Handler, ObjectMapsToItsOwnKeyOnceAnEvent) {
  const WireObject before = wire_object(R"({"name":"a","namespace":"ns","resourceVersion":"1"})");
  const WireObject after = wire_object(R"({"name":"a","namespace":"ns","resourceVersion":"2"})");
  const ObjectKey key{"ns", "a"};
  EXPECT_THAT(keys_of(added(after), map_to_object()), ElementsAre(key));
  EXPECT_THAT(keys_of(updated(before, after), map_to_object()), ElementsAre(key));
  EXPECT_THAT(keys_of(deleted(after), map_to_object()), ElementsAre(key));
}

TEST(Handler, ClusterScopedObjectsHaveNoNamespace) {
  EXPECT_THAT(keys_of(added(wire_object(R"({"name":"node-1"})", "Node")), map_to_object()),
              ElementsAre(ObjectKey{"", "node-1"}));
}

TEST(Handler, OwnerComparesGroupAndKindButNotTheVersion) {
  const KeyMapping mapping = map_to_owner(demo);
  const ObjectKey web{"ns", "web"};
  EXPECT_THAT(
      keys_of(added(owned_by(R"({"apiVersion":"demo.evenkeel.dev/v2","kind":"Demo","name":"web","uid":"1",
                                         "controller":true})")),
              mapping),
      ElementsAre(web));
  EXPECT_THAT(keys_of(added(owned_by(R"({"apiVersion":"other.dev/v1","kind":"Demo","name":"web","uid":"1",
                                         "controller":true})")),
                      mapping),
              IsEmpty());
  EXPECT_THAT(
      keys_of(added(owned_by(R"({"apiVersion":"demo.evenkeel.dev/v1","kind":"Other","name":"web","uid":"1",
                                         "controller":true})")),
              mapping),
      IsEmpty());
}

TEST(Handler, OwnerTakesControllersOnlyUnlessToldOtherwise) {
  const WireObject child =
      owned_by(R"({"apiVersion":"demo.evenkeel.dev/v1","kind":"Demo","name":"a","uid":"1"},
    {"apiVersion":"demo.evenkeel.dev/v1","kind":"Demo","name":"b","uid":"2","controller":true})");
  EXPECT_THAT(keys_of(added(child), map_to_owner(demo)), ElementsAre(ObjectKey{"ns", "b"}));
  EXPECT_THAT(keys_of(added(child), map_to_owner(demo, OwnerMatch::any)),
              ElementsAre(ObjectKey{"ns", "a"}, ObjectKey{"ns", "b"}));
}

TEST(Handler, AClusterScopedOwnerHasNoNamespace) {
  const WireObject child = owned_by(
      R"({"apiVersion":"demo.evenkeel.dev/v1","kind":"Demo","name":"a","uid":"1","controller":true})");
  EXPECT_THAT(keys_of(added(child), map_to_owner(cluster_demo)), ElementsAre(ObjectKey{"", "a"}));
}

// The owner that lost the object must be reconciled, too.
TEST(Handler, AnUpdateAsksOldAndNewAndTellsEachKeyOnce) {
  const auto of = [](std::string_view name) {
    return owned_by(
        R"({"apiVersion":"demo.evenkeel.dev/v1","kind":"Demo","uid":"1","controller":true,"name":")" +
        std::string(name) + R"("})");
  };
  const WireObject a = of("a");
  const WireObject b = of("b");
  EXPECT_THAT(keys_of(updated(a, b), map_to_owner(demo)),
              ElementsAre(ObjectKey{"ns", "a"}, ObjectKey{"ns", "b"}));
  EXPECT_THAT(keys_of(updated(a, a), map_to_owner(demo)), ElementsAre(ObjectKey{"ns", "a"}));
  EXPECT_THAT(keys_of(updated(owned_by(""), a), map_to_owner(demo)), ElementsAre(ObjectKey{"ns", "a"}));
}

TEST(Handler, ManyKeysAreToldOnceEachInTheOrderFound) {
  const KeyMapping mapping = [](const WireObject&, std::vector<ObjectKey>& keys) {
    for (int i = 99; i >= 0; --i) keys.push_back({"ns", "n" + std::to_string(i)});
  };
  const WireObject object = wire_object(R"({"name":"a","namespace":"ns"})");
  const auto keys = keys_of(updated(object, object), mapping);
  ASSERT_EQ(keys.size(), 100u);
  EXPECT_EQ(keys.front().name, "n99");
  EXPECT_EQ(keys.back().name, "n0");
}

}  // namespace
}  // namespace evenkeel
