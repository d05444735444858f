// SPDX-License-Identifier: Apache-2.0
// The store and the informer of a cache that holds a share of the namespaces; the test is their server.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/hash_ranges.hpp>
#include <evenkeel/cache/informer.hpp>
#include <evenkeel/cache/object_store.hpp>
#include <evenkeel/http/job_runner.hpp>

#include "base/fnv1a.hpp"
#include "cache/informer_ranges.hpp"
#include "objects.hpp"
#include "scripted_source.hpp"
#include "shares.hpp"

namespace evenkeel::cache_share_tests {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::frame;
using tests::list_of;
using tests::object;
using tests::ScriptedSource;

TEST(ObjectStoreShare, IsExtendedAndReducedByRanges) {
  ObjectStore store;
  store.add_index(index_by<DynamicObject>("name", [](const DynamicObject& one) { return one.name(); }));
  for (const char* space : {"a", "b"})
    store.apply(object({.name = "x", .version = "1", .namespace_ = space}));
  const auto deltas =
      store.extend(of({"b", "c"}), {object({.name = "x", .version = "2", .namespace_ = "c"}),
                                    object({.name = "y", .version = "3", .namespace_ = "b"})});
  std::vector<std::string> words;
  for (const StoreDelta& delta : deltas)
    words.push_back((delta.type == EventType::deleted ? "deleted " : "added ") + delta.object.key().str());
  EXPECT_THAT(words, ElementsAre("deleted b/x", "added b/y", "added c/x"));
  EXPECT_EQ(store.by_index("name", "x").size(), 2U);
  const std::size_t before = store.bytes();
  store.drop(of({"c"}));
  EXPECT_EQ(store.by_index("name", "x").size(), 1U);
  EXPECT_EQ(store.size(), 2U);
  EXPECT_LT(store.bytes(), before);
  EXPECT_FALSE(store.find("c", "x"));
  EXPECT_TRUE(store.find("a", "x"));
}

TEST(InformerRanges, HoldsWhatIsSelectedAndListed) {
  detail::InformerRanges share;
  EXPECT_FALSE(share.is_divided());
  share.select(of({"a", "b"}));
  share.on_held(of({"a"}), TimePoint{5s});
  EXPECT_TRUE(share.is_divided());
  EXPECT_TRUE(share.holds(detail::fnv1a("a")));
  EXPECT_FALSE(share.holds(detail::fnv1a("b")));
  EXPECT_EQ(share.missing_since(), TimePoint{5s});
  share.on_held(of({"a"}), TimePoint{6s});
  EXPECT_EQ(share.missing_since(), TimePoint{5s});
  share.select(of({"b"}));
  EXPECT_FALSE(share.holds(detail::fnv1a("a"))) << "before it is dropped";
  share.on_held(of({"b"}), TimePoint{7s});
  EXPECT_EQ(share.missing_since(), std::nullopt);
  share.require_all();
  share.select(of({"b"}));
  EXPECT_TRUE(share.wanted().is_all());
  share.on_held(HashRanges::all(), TimePoint{8s});
  EXPECT_FALSE(share.is_divided());
}

/// Records the calls of on_held() beside the events.
class HeldNotes final : public EventHandler {
 public:
  void on_event(const ObjectEvent& event) noexcept override {
    lines.push_back((event.type == EventType::deleted ? "deleted " : "added ") + event.object->key().str() +
                    (event.initial ? " initial" : ""));
  }
  void on_synced() noexcept override { lines.emplace_back("synced"); }
  void on_held() noexcept override { lines.emplace_back("held"); }
  std::vector<std::string> lines = {};
};

struct InformerRig {
  InformerRig()
      : informer({.resource = {"", "v1", "ConfigMap", "configmaps"}, .source = source, .runner = runner},
                 {.reflector = paged({.random = [] { return 0.0; }})}) {
    informer.add_handler(notes, {.delivery = Delivery::direct});
  }
  /// Selects, and carries out what follows at once.
  void select(const std::vector<std::string>& namespaces) {
    informer.select(of(namespaces));
    runner->pump();
  }
  std::vector<std::string> take_notes() { return std::exchange(notes->lines, {}); }
  ListRequest next_list() { return std::get<ListRequest>(source->next().step); }
  void answer(const std::vector<tests::ObjectParts>& objects, const std::string& version) {
    source->last().answer(list_of(objects, version));
    runner->pump();
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<ScriptedSource> source = std::make_shared<ScriptedSource>();
  std::shared_ptr<detail::JobRunner> runner = std::make_shared<detail::JobRunner>(clock, 0);
  std::shared_ptr<HeldNotes> notes = std::make_shared<HeldNotes>();
  Informer informer;
};

TEST(InformerShare, TellsItsHandlersWhatItHolds) {
  InformerRig rig;
  rig.select({});
  rig.informer.start();
  rig.runner->pump();
  EXPECT_TRUE(rig.informer.synced());
  EXPECT_THAT(rig.take_notes(), ElementsAre("synced"));
  EXPECT_EQ(rig.source->waiting(), 0U);
  EXPECT_EQ(rig.informer.health().activity, "resting");

  rig.clock->advance(1s);
  rig.select({"a"});
  EXPECT_EQ(rig.next_list().shard_selector, selector({"a"}));
  EXPECT_FALSE(rig.informer.holds("a"));
  EXPECT_EQ(rig.informer.health().missing_since, rig.clock->now());
  rig.clock->advance(1s);
  rig.answer({{.name = "x", .version = "1", .namespace_ = "a"}}, "10");
  EXPECT_THAT(rig.take_notes(), ElementsAre("added a/x initial", "held"));
  EXPECT_TRUE(rig.informer.holds("a"));
  EXPECT_FALSE(rig.informer.holds("b"));
  EXPECT_FALSE(rig.informer.holds(""));
  EXPECT_EQ(rig.informer.health().missing_since, std::nullopt);

  const auto watch = rig.source->next();
  watch.open();
  rig.select({"b"});
  EXPECT_FALSE(rig.informer.holds("a"));
  EXPECT_TRUE(watch.call->cancelled);
  EXPECT_EQ(rig.informer.size(), 0U);
  EXPECT_THAT(rig.take_notes(), IsEmpty()) << "nothing was deleted";
  EXPECT_EQ(rig.next_list().shard_selector, selector({"b"}));
  rig.answer({{.name = "y", .version = "2", .namespace_ = "b"}}, "20");
  EXPECT_THAT(rig.take_notes(), ElementsAre("added b/y initial", "held"));
  rig.informer.stop();
}

TEST(InformerShare, ALossHoldsNothingBeforeItIsDropped) {
  InformerRig rig;
  rig.select({"a"});
  rig.informer.start();
  rig.runner->pump();
  rig.next_list();
  rig.answer({{.name = "x", .version = "1", .namespace_ = "a"}}, "10");
  ASSERT_TRUE(rig.informer.holds("a"));
  rig.informer.select({});
  EXPECT_FALSE(rig.informer.holds("a"));
  EXPECT_EQ(rig.informer.size(), 1U);
  rig.informer.select(of({"a"}));
  EXPECT_TRUE(rig.informer.holds("a")) << "it was not dropped yet";
  rig.runner->pump();
  EXPECT_TRUE(rig.informer.holds("a"));
  EXPECT_EQ(rig.informer.size(), 1U);
  rig.informer.stop();
}

TEST(InformerShare, AReaderOfAllKeepsItWhole) {
  InformerRig rig;
  rig.select({"a"});
  rig.informer.start();
  rig.runner->pump();
  rig.next_list();
  rig.answer({{.name = "x", .version = "1", .namespace_ = "a"}}, "10");
  rig.source->next().open();
  rig.informer.require_all();
  rig.runner->pump();
  EXPECT_EQ(rig.next_list().shard_selector,
            HashRanges::all().without(of({"a"})).shard_selector("object.metadata.namespace"));
  EXPECT_FALSE(rig.informer.holds(""));
  rig.answer({{.name = "y", .version = "2", .namespace_ = "b"}}, "20");
  EXPECT_TRUE(rig.informer.holds(""));
  EXPECT_EQ(std::get<WatchRequest>(rig.source->next().step).shard_selector, "");
  rig.select({"a"});
  EXPECT_TRUE(rig.informer.holds(""));
  EXPECT_EQ(rig.informer.size(), 2U);
  rig.informer.stop();
}

TEST(InformerShare, AFailedListOfAGainIsTriedAgainWhileTheWatchGoesOn) {
  InformerRig rig;
  rig.select({"a"});
  rig.informer.start();
  rig.runner->pump();
  rig.next_list();
  rig.answer({}, "10");
  rig.source->next().open();
  rig.runner->pump();
  rig.select({"a", "b"});
  EXPECT_EQ(rig.next_list().shard_selector, selector({"b"}));
  rig.source->last().answer(R"({"kind":"Status","code":500,"message":"later"})", 500);
  rig.runner->pump();
  const auto watch = rig.source->next();
  EXPECT_EQ(std::get<WatchRequest>(watch.step).shard_selector, selector({"a"}));
  watch.open();
  watch.send(frame("ADDED", {.name = "x", .version = "11", .namespace_ = "a"}));
  rig.runner->pump();
  EXPECT_EQ(rig.informer.size(), 1U);
  EXPECT_THAT(rig.informer.health().last_error, HasSubstr("later"));
  EXPECT_TRUE(rig.informer.health().missing_since);
  rig.clock->advance(800ms);
  rig.runner->pump();
  EXPECT_TRUE(watch.call->cancelled);
  EXPECT_EQ(rig.next_list().shard_selector, selector({"b"}));
  rig.answer({{.name = "y", .version = "5", .namespace_ = "b"}}, "20");
  EXPECT_TRUE(rig.informer.holds("b"));
  EXPECT_EQ(rig.informer.size(), 2U);
  EXPECT_EQ(rig.informer.health().last_error, "");
  rig.informer.stop();
}

TEST(InformerShare, DoesNotDivideClusterScopedKinds) {
  const auto runner = std::make_shared<detail::JobRunner>(std::make_shared<ManualClock>(), 0);
  const auto source = std::make_shared<ScriptedSource>();
  Informer informer(
      {.resource = {"", "v1", "Node", "nodes", Scope::cluster}, .source = source, .runner = runner},
      {.reflector = paged()});
  informer.select({});
  informer.start();
  runner->pump();
  EXPECT_EQ(std::get<ListRequest>(source->next().step).shard_selector, "");
  EXPECT_TRUE(informer.holds(""));
  informer.stop();
}

struct LabelRig {
  LabelRig()
      : informer(
            {.resource = {"", "v1", "ConfigMap", "configmaps"},
             .source = source,
             .runner = runner,
             .on_mislabelled = [this](const WireObject& object) { found.push_back(object.key().str()); }},
            {.reflector = labelled()}) {}
  ~LabelRig() { informer.stop(); }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<ScriptedSource> source = std::make_shared<ScriptedSource>();
  std::shared_ptr<detail::JobRunner> runner = std::make_shared<detail::JobRunner>(clock, 0);
  std::vector<std::string> found = {};
  Informer informer;
};

TEST(InformerShare, FindsWrongLabelsInListsAndEvents) {
  LabelRig rig;
  rig.informer.select(cells_of({"a"}));
  rig.informer.start();
  rig.runner->pump();
  rig.source->next().answer(list_of({{.name = "new", .version = "1", .namespace_ = "a"},
                                     {.name = "right", .version = "2", .namespace_ = "a", .cell = cell("a")},
                                     {.name = "lost", .version = "3", .namespace_ = "c", .cell = cell("a")},
                                     {.name = "other", .version = "4", .namespace_ = "c"}},
                                    "10"));
  rig.runner->pump();
  EXPECT_THAT(std::exchange(rig.found, {}), ElementsAre("a/new", "c/lost"));
  EXPECT_EQ(rig.informer.size(), 2U) << "what has no label is cached where it belongs";
  EXPECT_TRUE(rig.informer.store().find("a", "new"));
  EXPECT_TRUE(rig.informer.holds("a"));
  EXPECT_FALSE(rig.informer.holds("c"));
  const auto watch = rig.source->next();
  watch.open();
  watch.send(frame("MODIFIED", {.name = "new", .version = "11", .namespace_ = "a", .cell = cell("a")}));
  watch.send(frame("DELETED", {.name = "lost", .version = "12", .namespace_ = "c", .cell = cell("a")}));
  watch.send(frame("MODIFIED", {.name = "right", .version = "13", .namespace_ = "a"}));
  watch.send(frame("ADDED", {.name = "more", .version = "14", .namespace_ = "a", .cell = "zz"}));
  rig.runner->pump();
  EXPECT_THAT(rig.found, ElementsAre("a/right", "a/more"));
  EXPECT_EQ(rig.informer.size(), 3U);
}

// The label is changed to that of another cell, and corrected: the server reports a deletion and an addition
// of an object that was there all the time.
TEST(InformerShare, AnObjectThatComesBackIsHeldAgain) {
  LabelRig rig;
  rig.informer.select(cells_of({"a"}));
  rig.informer.start();
  rig.runner->pump();
  rig.source->next().answer(
      list_of({{.name = "x", .version = "1", .namespace_ = "a", .cell = cell("a")}}, "10"));
  rig.runner->pump();
  const auto watch = rig.source->next();
  watch.open();
  watch.send(frame("DELETED", {.name = "x", .version = "11", .namespace_ = "a", .cell = cell("a")}));
  rig.runner->pump();
  EXPECT_EQ(rig.informer.size(), 0U);
  watch.send(frame("ADDED", {.name = "x", .version = "12", .namespace_ = "a", .cell = cell("a")}));
  rig.runner->pump();
  EXPECT_EQ(rig.informer.store().find("a", "x").resource_version(), "12");
  EXPECT_THAT(rig.found, IsEmpty());
}

TEST(InformerShare, DoesNotLookForLabelsOfKindsThatAreHeldWhole) {
  LabelRig rig;
  rig.informer.require_all();
  rig.informer.select(cells_of({"a"}));
  rig.informer.start();
  rig.runner->pump();
  const auto list = rig.source->next();
  EXPECT_EQ(std::get<ListRequest>(list.step).label_selector, "");
  list.answer(list_of({{.name = "x", .version = "1", .namespace_ = "a"}}, "10"));
  rig.runner->pump();
  EXPECT_EQ(rig.informer.size(), 1U);
  EXPECT_THAT(rig.found, IsEmpty());
}

}  // namespace
}  // namespace evenkeel::cache_share_tests
