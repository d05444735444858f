// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/controller/predicate.hpp>

#include "event_fixture.hpp"

namespace evenkeel {
namespace {

const WireObject base = wire_object(R"({"name":"a","uid":"u1","generation":1,"resourceVersion":"5",
  "labels":{"app":"web","tier":"front"},"annotations":{"note":"x"}})");
const WireObject same = wire_object(R"({"name":"a","uid":"u1","generation":1,"resourceVersion":"5",
  "labels":{"tier":"front","app":"web"},"annotations":{"note":"x"}})");
const WireObject status_only = wire_object(R"({"name":"a","uid":"u1","generation":1,"resourceVersion":"6",
  "labels":{"app":"web","tier":"front"},"annotations":{"note":"x"}})");
const WireObject spec_changed = wire_object(R"({"name":"a","uid":"u1","generation":2,"resourceVersion":"6",
  "labels":{"app":"web","tier":"front"},"annotations":{"note":"x"}})");
const WireObject label_changed = wire_object(R"({"name":"a","uid":"u1","generation":1,"resourceVersion":"6",
  "labels":{"app":"web","tier":"back"},"annotations":{"note":"x"}})");
const WireObject label_removed = wire_object(R"({"name":"a","uid":"u1","generation":1,"resourceVersion":"6",
  "labels":{"app":"web"},"annotations":{"note":"x"}})");
const WireObject annotated = wire_object(R"({"name":"a","uid":"u1","generation":1,"resourceVersion":"6",
  "labels":{"app":"web","tier":"front"},"annotations":{"note":"x","more":"y"}})");
const WireObject deleting = wire_object(R"({"name":"a","uid":"u1","generation":1,"resourceVersion":"6",
  "deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["f"],"labels":{"app":"web","tier":"front"}})");
const WireObject recreated = wire_object(R"({"name":"a","uid":"u2","generation":1,"resourceVersion":"9",
  "labels":{"app":"web","tier":"front"},"annotations":{"note":"x"}})");

TEST(Predicate, EmptyLetsEverythingThrough) {
  EXPECT_TRUE(Predicate()(added(base)));
  EXPECT_TRUE(Predicate()(updated(base, same)));
  EXPECT_TRUE(Predicate()(deleted(base)));
  EXPECT_TRUE(Predicate().is_empty());
  EXPECT_TRUE((Predicate() && Predicate()).is_empty());
  EXPECT_FALSE((Predicate() && generation_changed()).is_empty());
}

TEST(Predicate, GenerationChangedDropsStatusWritesAndResyncs) {
  const Predicate predicate = generation_changed();
  EXPECT_TRUE(predicate(added(base)));
  EXPECT_TRUE(predicate(deleted(base)));
  EXPECT_FALSE(predicate(updated(base, same)));
  EXPECT_FALSE(predicate(updated(base, status_only)));
  EXPECT_FALSE(predicate(updated(base, label_changed)));
  EXPECT_TRUE(predicate(updated(base, spec_changed)));
}

TEST(Predicate, GenerationChangedNeverHidesADeletionOrANewObjectOfTheSameName) {
  EXPECT_TRUE(generation_changed()(updated(base, deleting)));
  EXPECT_TRUE(generation_changed()(updated(base, recreated)));
}

TEST(Predicate, OfChangesNeverHideTheBeginningOfADeletionOrANewObjectOfTheSameName) {
  const Predicate name = changed<ConfigMap>([](const ConfigMap& map) { return map.metadata.name; });
  for (const Predicate& predicate :
       {labels_changed(), annotations_changed(), resource_version_changed(), name}) {
    EXPECT_TRUE(predicate(updated(base, deleting)));
    EXPECT_TRUE(predicate(updated(base, recreated)));
    EXPECT_FALSE(predicate(updated(deleting, deleting)));
  }
}

TEST(Predicate, GenerationChangedComparesVersionsWhereThereIsNoGeneration) {
  const WireObject before = wire_object(R"({"name":"a","uid":"u","resourceVersion":"1"})");
  const WireObject after = wire_object(R"({"name":"a","uid":"u","resourceVersion":"2"})");
  EXPECT_TRUE(generation_changed()(updated(before, after)));
  EXPECT_FALSE(generation_changed()(updated(before, before)));
}

TEST(Predicate, LabelsChanged) {
  const Predicate predicate = labels_changed();
  EXPECT_TRUE(predicate(added(base)));
  EXPECT_TRUE(predicate(deleted(base)));
  EXPECT_FALSE(predicate(updated(base, same))) << "order is no change";
  EXPECT_FALSE(predicate(updated(base, annotated)));
  EXPECT_TRUE(predicate(updated(base, label_changed)));
  EXPECT_TRUE(predicate(updated(base, label_removed)));
}

TEST(Predicate, AnnotationsChanged) {
  const Predicate predicate = annotations_changed();
  EXPECT_TRUE(predicate(added(base)));
  EXPECT_FALSE(predicate(updated(base, label_changed)));
  EXPECT_TRUE(predicate(updated(base, annotated)));
  EXPECT_TRUE(predicate(updated(annotated, base)));
}

TEST(Predicate, OnesOwnIsAnyCallable) {
  const Predicate deletions = [](const ObjectEvent& event) { return event.type == EventType::deleted; };
  EXPECT_TRUE(deletions(deleted(base)));
  EXPECT_FALSE(deletions(added(base)));
}

TEST(Predicate, CombinesWithAndOrNot) {
  const Predicate yes = [](const ObjectEvent&) { return true; };
  const Predicate no = [](const ObjectEvent&) { return false; };
  int asked = 0;
  const Predicate counting = [&](const ObjectEvent&) { return ++asked > 0; };
  const ObjectEvent event = updated(base, label_changed);
  EXPECT_TRUE((yes && yes)(event));
  EXPECT_FALSE((yes && no)(event));
  EXPECT_TRUE((no || yes)(event));
  EXPECT_FALSE((no || no)(event));
  EXPECT_FALSE((!yes)(event));
  EXPECT_TRUE((!no)(event));
  EXPECT_FALSE((no && counting)(event));
  EXPECT_TRUE((yes || counting)(event));
  EXPECT_EQ(asked, 0) << "the right side is asked only if it matters";
  EXPECT_TRUE((generation_changed() || labels_changed())(event));
  EXPECT_FALSE((generation_changed() && labels_changed())(event));
}

TEST(Predicate, ResourceVersionChangedDropsResyncs) {
  const Predicate predicate = resource_version_changed();
  EXPECT_TRUE(predicate(updated(base, status_only)));
  EXPECT_FALSE(predicate(updated(base, same)));
  EXPECT_TRUE(predicate(added(base)));
  EXPECT_TRUE(predicate(deleted(base)));
}

// Unlike controller-runtime's LabelSelectorPredicate, which checks the new state only: an object that stops
// matching would not be reported any more.
TEST(Predicate, MatchesLabelsBeforeOrAfterAnUpdate) {
  const Predicate predicate = matches_labels("tier in (front),app=web");
  EXPECT_TRUE(predicate(added(base)));
  EXPECT_TRUE(predicate(deleted(base)));
  EXPECT_FALSE(predicate(added(label_changed)));
  EXPECT_TRUE(predicate(updated(base, label_changed))) << "it leaves the selection";
  EXPECT_TRUE(predicate(updated(label_changed, base))) << "it enters";
  EXPECT_FALSE(predicate(updated(label_changed, label_removed)));
  EXPECT_THROW(matches_labels("tier in"), DecodeError);
}

TEST(Predicate, EventsOfTakesTypes) {
  const Predicate predicate = events_of({EventType::added, EventType::generic});
  EXPECT_TRUE(predicate(added(base)));
  EXPECT_TRUE(predicate({.type = EventType::generic, .object = &base}));
  EXPECT_FALSE(predicate(updated(base, same)));
  EXPECT_FALSE(predicate(deleted(base)));
}

TEST(Predicate, ChangedComparesAPartOfTheTypedObject) {
  const auto config = [](std::string_view data) {
    return WireScanner().object(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":)" +
                                std::string(data) + "}");
  };
  const WireObject one = config(R"({"image":"web:1","note":"x"})");
  const WireObject noted = config(R"({"image":"web:1","note":"y"})");
  const WireObject two = config(R"({"image":"web:2","note":"y"})");
  const Predicate predicate = changed<ConfigMap>([](const ConfigMap& map) { return map.data.at("image"); });
  EXPECT_FALSE(predicate(updated(one, noted)));
  EXPECT_TRUE(predicate(updated(noted, two)));
  EXPECT_TRUE(predicate(added(one)));
  EXPECT_TRUE(predicate(deleted(one)));
}

}  // namespace
}  // namespace evenkeel
