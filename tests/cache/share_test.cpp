// SPDX-License-Identifier: Apache-2.0
// A cache that holds a part of the namespaces: the requests of the reflector, the objects of the store, and
// an informer whose server the test is.
#include <chrono>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/selector.hpp>
#include <evenkeel/base/hash_ranges.hpp>
#include <evenkeel/cache/informer.hpp>
#include <evenkeel/cache/reflector.hpp>
#include <evenkeel/http/job_runner.hpp>

#include "base/cells.hpp"
#include "base/fnv1a.hpp"
#include "cache/informer_ranges.hpp"
#include "cache/label_core.hpp"
#include "objects.hpp"
#include "scripted_source.hpp"

namespace evenkeel::cache_share_tests {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::bookmark_event;
using tests::frame;
using tests::list_of;
using tests::Notes;
using tests::object;
using tests::ScriptedSource;

/// Returns the selection of these namespaces alone.
HashRanges of(const std::vector<std::string>& namespaces) {
  std::vector<HashRange> ranges;
  for (const std::string& name : namespaces) ranges.push_back({detail::fnv1a(name), detail::fnv1a(name)});
  return HashRanges(std::move(ranges));
}

std::string selector(const std::vector<std::string>& namespaces) {
  return of(namespaces).shard_selector("object.metadata.namespace");
}

WireEvent event(WatchType type, const std::string& namespace_, const std::string& version) {
  return {.type = type,
          .object = object({.name = "o", .version = version, .namespace_ = namespace_}),
          .error = {}};
}

ReflectorFailure refused(int code) {
  return {.kind = ReflectorFailure::Kind::refused, .message = "no", .status = {.code = code}};
}

ReflectorOptions paged(ReflectorOptions options = {}) {
  options.streaming_list = false;
  return options;
}

/// A reflector that the test drives.
struct Rig {
  explicit Rig(ReflectorOptions options = paged()) : core(std::move(options)) {}

  template <class Request>
  Request next() {
    const ReflectorStep step = core.next_step(now);
    EXPECT_TRUE(std::holds_alternative<Request>(step)) << step.index();
    return std::holds_alternative<Request>(step) ? std::get<Request>(step) : Request();
  }
  /// Ends the running list, which has an object of each of these namespaces.
  std::optional<ReflectorChange> end_list(const std::vector<std::string>& namespaces,
                                          const std::string& version) {
    for (const std::string& name : namespaces)
      core.on_item(object({.name = "o", .version = "5", .namespace_ = name}));
    return core.on_list_ended({.resource_version = version});
  }
  /// Lists the namespaces, and watches them from version 10 on.
  void sync(const std::vector<std::string>& namespaces) {
    core.reselect(of(namespaces));
    next<ListRequest>();
    end_list(namespaces, "10");
    next<WatchRequest>();
    core.on_watch_opened(now);
    now += 10s;
  }

  Reflector core;
  TimePoint now{};
};

std::vector<std::string> namespaces(const std::vector<WireObject>& objects) {
  std::vector<std::string> names;
  for (const WireObject& one : objects) names.emplace_back(one.namespace_());
  return names;
}

// ---- The reflector

TEST(ReflectorShare, ListsAndWatchesWhatIsSelected) {
  Rig rig;
  EXPECT_TRUE(rig.core.held().empty());
  rig.core.reselect(of({"a", "b"}));
  const auto list = rig.next<ListRequest>();
  EXPECT_EQ(list,
            (ListRequest{.resource_version = "0", .limit = 500, .shard_selector = selector({"a", "b"})}));
  EXPECT_THAT(query_of(list), ::testing::Contains(std::pair("shardSelector", selector({"a", "b"}))));
  const auto change = rig.end_list({"a", "b", "c"}, "10");  // a server that does not know the selector
  ASSERT_TRUE(change);
  EXPECT_THAT(namespaces(change->objects), ElementsAre("a", "b"));
  EXPECT_EQ(rig.core.held(), of({"a", "b"}));
  const auto watch = rig.next<WatchRequest>();
  EXPECT_EQ(watch.shard_selector, selector({"a", "b"}));
  EXPECT_THAT(query_of(watch), ::testing::Contains(std::pair("shardSelector", selector({"a", "b"}))));
  EXPECT_TRUE(rig.core.on_event(event(WatchType::added, "b", "11"), rig.now).change);
  EXPECT_FALSE(rig.core.on_event(event(WatchType::added, "c", "12"), rig.now).change);
  EXPECT_EQ(rig.core.resource_version(), "12");
}

TEST(ReflectorShare, OfAllSendsNoSelector) {
  Rig rig;
  EXPECT_EQ(rig.next<ListRequest>().shard_selector, "");
  rig.end_list({"a"}, "10");
  EXPECT_EQ(rig.next<WatchRequest>().shard_selector, "");
  EXPECT_TRUE(rig.core.held().is_all());
}

TEST(ReflectorShare, ALossResumesTheWatchWhereItWas) {
  Rig rig;
  rig.sync({"a", "b", "c"});
  rig.core.on_event(event(WatchType::modified, "a", "17"), rig.now);
  const WatchVerdict verdict = rig.core.reselect(of({"a", "c"}));
  EXPECT_TRUE(verdict.ends_watch);
  ASSERT_TRUE(verdict.change);
  EXPECT_EQ(verdict.change->kind, ReflectorChange::Kind::drop);
  EXPECT_EQ(verdict.change->ranges, of({"b"}));
  EXPECT_EQ(rig.core.held(), of({"a", "c"}));
  const auto watch = rig.next<WatchRequest>();
  EXPECT_EQ(watch.resource_version, "17");
  EXPECT_EQ(watch.shard_selector, selector({"a", "c"}));
  EXPECT_EQ(rig.core.counters().lists, 1U);
}

TEST(ReflectorShare, AGainListsOnlyItsRangesAndResumesTheWatchWhereItWas) {
  Rig rig;
  rig.sync({"a"});
  rig.core.on_event(event(WatchType::modified, "a", "17"), rig.now);
  EXPECT_TRUE(rig.core.reselect(of({"a", "b"})).ends_watch);
  EXPECT_EQ(rig.core.held(), of({"a"}));
  EXPECT_EQ(rig.next<ListRequest>(),
            (ListRequest{.resource_version = "17", .shard_selector = selector({"b"})}));
  const auto change = rig.end_list({"a", "b"}, "20");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->kind, ReflectorChange::Kind::extend);
  EXPECT_EQ(change->ranges, of({"b"}));
  EXPECT_THAT(namespaces(change->objects), ElementsAre("b"));
  EXPECT_FALSE(change->first);
  EXPECT_EQ(rig.core.held(), of({"a", "b"}));
  const auto watch = rig.next<WatchRequest>();
  EXPECT_EQ(watch.resource_version, "17");
  EXPECT_EQ(watch.shard_selector, selector({"a", "b"}));
  EXPECT_EQ(rig.core.counters().growths, 1U);
}

// The list of b is of version 20, the watch of both begins after 17: an object that was deleted in between
// must not come back.
TEST(ReflectorShare, EventsThatTheListOfAGainHasAreIgnored) {
  Rig rig;
  rig.sync({"a"});
  rig.core.on_event(event(WatchType::modified, "a", "17"), rig.now);
  rig.core.reselect(of({"a", "b"}));
  rig.next<ListRequest>();
  rig.end_list({"b"}, "20");
  rig.next<WatchRequest>();
  EXPECT_FALSE(rig.core.on_event(event(WatchType::modified, "b", "18"), rig.now).change);
  EXPECT_TRUE(rig.core.on_event(event(WatchType::modified, "a", "19"), rig.now).change);
  EXPECT_FALSE(rig.core.on_event(event(WatchType::deleted, "b", "20"), rig.now).change);
  EXPECT_TRUE(rig.core.on_event(event(WatchType::added, "b", "21"), rig.now).change);
  EXPECT_EQ(rig.core.resource_version(), "21");
}

TEST(ReflectorShare, AGainThatCannotBeListedDoesNotDelayTheWatch) {
  Rig rig;
  rig.sync({"a"});
  rig.core.reselect(of({"a", "b"}));
  rig.next<ListRequest>();
  EXPECT_FALSE(rig.core.next_growth_attempt());
  rig.core.on_list_failed(refused(500), rig.now);
  const auto again = rig.core.next_growth_attempt();
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, rig.now + 800ms);
  EXPECT_EQ(rig.next<WatchRequest>().shard_selector, selector({"a"}));
  rig.core.on_watch_opened(rig.now);
  EXPECT_TRUE(rig.core.on_event(event(WatchType::modified, "a", "18"), rig.now).change);
  EXPECT_EQ(rig.core.last_error(), "no") << "the watch that works does not hide it";
  EXPECT_EQ(rig.core.next_due(), *again);
  rig.now = *again - 1ms;
  EXPECT_FALSE(rig.core.on_timeout(rig.now).ends_watch);
  rig.now = *again;
  EXPECT_TRUE(rig.core.on_timeout(rig.now).ends_watch);
  EXPECT_EQ(rig.next<ListRequest>().shard_selector, selector({"b"}));
  EXPECT_TRUE(rig.end_list({"b"}, "30"));
  EXPECT_EQ(rig.core.last_error(), "");
  EXPECT_EQ(rig.next<WatchRequest>().resource_version, "18");
  EXPECT_FALSE(rig.core.next_due());
}

// The next attempts wait, although nothing can be watched.
TEST(ReflectorShare, AFirstGainThatCannotBeListedIsTriedAgainLater) {
  Rig rig;
  rig.core.reselect({});
  rig.next<IdleRequest>();
  rig.core.reselect(of({"a"}));
  rig.next<ListRequest>();
  rig.core.on_list_failed(refused(500), rig.now);
  EXPECT_EQ(rig.next<PauseRequest>().delay, 800ms);
  rig.now += 800ms;
  EXPECT_EQ(rig.next<ListRequest>().shard_selector, selector({"a"}));
}

TEST(ReflectorShare, AnExpiredOrImpossibleVersionOfAGainIsListedAtTheNewest) {
  for (const int code : {410, 504}) {
    Rig rig;
    rig.sync({"a"});
    rig.core.reselect(of({"a", "b"}));
    EXPECT_EQ(rig.next<ListRequest>().resource_version, "10");
    ReflectorFailure failure = refused(code);
    if (code == 504)
      failure.status.causes.push_back({.reason = "ResourceVersionTooLarge", .message = "m", .field = ""});
    rig.core.on_list_failed(failure, rig.now);
    const auto list = rig.next<ListRequest>();
    EXPECT_EQ(list.resource_version, "") << code;
    EXPECT_EQ(list.shard_selector, selector({"b"})) << code;
    EXPECT_TRUE(rig.end_list({"b"}, "20")) << code;
    EXPECT_EQ(rig.next<WatchRequest>().resource_version, "10") << code;
  }
}

TEST(ReflectorShare, AnExpiredPageOfAGainIsFollowedByTheListInOnePiece) {
  Rig rig;
  rig.core.reselect({});
  rig.core.reselect(of({"b"}));
  rig.next<ListRequest>();
  rig.core.on_list_ended({.resource_version = "10", .continue_token = "t"});
  EXPECT_EQ(rig.next<ListRequest>(),
            (ListRequest{.continue_token = "t", .limit = 500, .shard_selector = selector({"b"})}));
  rig.core.on_list_failed(refused(410), rig.now);
  EXPECT_EQ(rig.next<ListRequest>(),
            (ListRequest{.resource_version = "0", .shard_selector = selector({"b"})}));
  EXPECT_TRUE(rig.end_list({"b"}, "11"));
}

// Its database was restored from a backup: what is held is as much in doubt as what is listed.
TEST(ReflectorShare, AServerThatHasGoneBackIsListedAgain) {
  Rig rig;
  rig.sync({"a"});
  rig.core.reselect(of({"a", "b"}));
  rig.next<ListRequest>();
  EXPECT_FALSE(rig.end_list({"b"}, "3"));
  EXPECT_EQ(rig.next<ListRequest>(), (ListRequest{.limit = 500, .shard_selector = selector({"a", "b"})}));
  const auto change = rig.end_list({"a", "b"}, "4");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->kind, ReflectorChange::Kind::replace);
  EXPECT_EQ(rig.core.held(), of({"a", "b"}));
}

TEST(ReflectorShare, OfNothingIsSyncedWithoutARequest) {
  Rig rig;
  const WatchVerdict verdict = rig.core.reselect({});
  ASSERT_TRUE(verdict.change);
  EXPECT_TRUE(verdict.change->first);
  EXPECT_TRUE(rig.core.synced());
  rig.next<IdleRequest>();
  rig.core.reselect(of({"a"}));
  EXPECT_EQ(rig.next<ListRequest>().resource_version, "0");
  const auto change = rig.end_list({"a"}, "10");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->kind, ReflectorChange::Kind::extend);
  EXPECT_EQ(rig.next<WatchRequest>().resource_version, "10");
  EXPECT_TRUE(rig.core.reselect({}).ends_watch);
  rig.next<IdleRequest>();
  // An old state must not follow a newer one.
  rig.core.reselect(of({"a"}));
  EXPECT_EQ(rig.next<ListRequest>().resource_version, "10");
}

TEST(ReflectorShare, WhatIsLostDuringItsListIsNotTaken) {
  Rig rig;
  rig.sync({"a"});
  rig.core.reselect(of({"a", "b", "c"}));
  rig.next<ListRequest>();
  const WatchVerdict verdict = rig.core.reselect(of({"a", "c", "d"}));
  EXPECT_FALSE(verdict.ends_watch) << "the list goes on";
  EXPECT_FALSE(verdict.change);
  const auto change = rig.end_list({"b", "c"}, "20");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->ranges, of({"c"}));
  EXPECT_THAT(namespaces(change->objects), ElementsAre("c"));
  EXPECT_EQ(rig.next<ListRequest>().shard_selector, selector({"d"}));
  EXPECT_TRUE(rig.end_list({"d"}, "21"));
  EXPECT_EQ(rig.next<WatchRequest>().shard_selector, selector({"a", "c", "d"}));
}

TEST(ReflectorShare, AFullListIsCutToWhatIsSelectedAtItsEnd) {
  Rig rig;
  rig.core.reselect(of({"a", "b"}));
  rig.next<ListRequest>();
  rig.core.reselect(of({"b", "c"}));
  const auto change = rig.end_list({"a", "b"}, "10");
  ASSERT_TRUE(change);
  EXPECT_THAT(namespaces(change->objects), ElementsAre("b"));
  EXPECT_EQ(rig.core.held(), of({"b"}));
  EXPECT_EQ(rig.next<ListRequest>().shard_selector, selector({"c"}));
}

TEST(ReflectorShare, AStreamingListIsFollowedByAWatchOfWhatIsSelectedByThen) {
  Rig rig(ReflectorOptions{});
  rig.core.reselect(of({"a", "b"}));
  const auto watch = rig.next<WatchRequest>();
  EXPECT_TRUE(watch.initial_events);
  EXPECT_EQ(watch.shard_selector, selector({"a", "b"}));
  rig.core.on_watch_opened(rig.now);
  rig.core.on_event(event(WatchType::added, "a", "3"), rig.now);
  rig.core.on_event(event(WatchType::added, "b", "4"), rig.now);
  EXPECT_FALSE(rig.core.reselect(of({"b"})).ends_watch);
  const WatchVerdict verdict = rig.core.on_event(bookmark_event("9", true), rig.now);
  EXPECT_TRUE(verdict.ends_watch);
  ASSERT_TRUE(verdict.change);
  EXPECT_THAT(namespaces(verdict.change->objects), ElementsAre("b"));
  EXPECT_EQ(rig.next<WatchRequest>(),
            (WatchRequest{.resource_version = "9", .timeout = 300s, .shard_selector = selector({"b"})}));
}

TEST(ReflectorShare, ARelistIsOfAllThatIsSelected) {
  Rig rig;
  rig.sync({"a"});
  rig.core.reselect(of({"a", "b"}));
  rig.next<ListRequest>();
  rig.end_list({"b"}, "20");
  rig.next<WatchRequest>();
  rig.core.on_event({.type = WatchType::error, .object = {}, .error = {.code = 410}}, rig.now);
  rig.now += rig.next<PauseRequest>().delay;
  EXPECT_EQ(rig.next<ListRequest>().shard_selector, selector({"a", "b"}));
  EXPECT_EQ(rig.end_list({"a", "b"}, "30")->kind, ReflectorChange::Kind::replace);
  EXPECT_EQ(rig.next<WatchRequest>().resource_version, "30");
  EXPECT_TRUE(rig.core.on_event(event(WatchType::added, "b", "31"), rig.now).change);
}

TEST(ReflectorShare, ManyRangesAreJoinedInTheAddressOnly) {
  std::vector<std::string> many;
  for (int i = 0; i < 100; ++i) many.push_back("n" + std::to_string(i * i));
  Rig rig;
  rig.core.reselect(of(many));
  const std::string text = rig.next<ListRequest>().shard_selector;
  std::size_t ranges = 0;
  for (std::size_t at = text.find("shardRange"); at != std::string::npos;
       at = text.find("shardRange", at + 1))
    ++ranges;
  EXPECT_EQ(ranges, 32U);
  rig.end_list(many, "10");
  EXPECT_EQ(rig.core.held(), of(many));
}

// ---- The store

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

// ---- The informer

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

// ---- Selection by a label

std::string cell(const std::string& namespace_) {
  return detail::cell_name(detail::hash_of(namespace_, NamespaceHash::mixed));
}

/// Returns the cells of these namespaces.
HashRanges cells_of(const std::vector<std::string>& namespaces) {
  std::vector<HashRange> ranges;
  for (const std::string& name : namespaces) {
    const std::uint64_t first = detail::hash_of(name, NamespaceHash::mixed) >> 56U << 56U;
    ranges.push_back({first, first + ((std::uint64_t{1} << 56U) - 1)});
  }
  return HashRanges(std::move(ranges));
}

std::string label_selector(const std::vector<std::string>& namespaces) {
  return detail::cell_selector("cell", cells_of(namespaces));
}

ReflectorOptions labelled() {
  return paged({.cell_label = "cell", .random = [] { return 0.0; }});
}

TEST(Cells, ASelectorTakesThoseOfItsRangesAndWhatIsNotLabelled) {
  EXPECT_EQ(detail::cell_selector("cell", HashRanges::all()), "");
  EXPECT_EQ(detail::cell_selector("cell", HashRanges({{0x0200000000000000, ~std::uint64_t{0}}})),
            "cell notin (00,01)");
  const LabelSelector selector = LabelSelector::parse(label_selector({"a", "b"}));
  const auto takes = [&](const std::string& value) {
    return selector.matches(std::map<std::string, std::string>{{"cell", value}});
  };
  ASSERT_NE(cell("a"), cell("c"));
  EXPECT_TRUE(takes(cell("a")));
  EXPECT_TRUE(takes(cell("b")));
  EXPECT_FALSE(takes(cell("c")));
  EXPECT_TRUE(takes("zz")) << "not a cell";
  EXPECT_TRUE(selector.matches(std::map<std::string, std::string>{}));
  // A range that ends within a cell needs all of it.
  const std::uint64_t hash = detail::hash_of("a", NamespaceHash::mixed);
  EXPECT_EQ(detail::cell_selector("cell", HashRanges({{hash, hash}})), label_selector({"a"}));
}

TEST(Cells, AWrongLabelIsCorrectedByTheHolderOfTheNamespaceOrOfTheLabel) {
  const HashRanges wanted = cells_of({"a"});
  const auto must = [&](const std::string& namespace_, const std::string& value) {
    return detail::must_label(object({.name = "o", .namespace_ = namespace_, .cell = value}), "cell", wanted);
  };
  EXPECT_FALSE(must("a", cell("a")));
  EXPECT_TRUE(must("a", ""));
  EXPECT_TRUE(must("a", "zz"));
  EXPECT_TRUE(must("a", cell("c")));
  EXPECT_FALSE(must("c", cell("c")));
  EXPECT_FALSE(must("c", "")) << "its own replica does it";
  EXPECT_FALSE(must("c", "zz"));
  EXPECT_TRUE(must("c", cell("a"))) << "its own replica does not see it";
}

TEST(ReflectorShare, SelectsByALabel) {
  Rig rig(labelled());
  rig.core.reselect(cells_of({"a", "b"}));
  const auto list = rig.next<ListRequest>();
  EXPECT_EQ(list, (ListRequest{
                      .resource_version = "0", .limit = 500, .label_selector = label_selector({"a", "b"})}));
  EXPECT_THAT(query_of(list), ::testing::Contains(std::pair("labelSelector", label_selector({"a", "b"}))));
  // The server sends what is not labelled, whichever namespace it is in.
  const auto change = rig.end_list({"a", "c"}, "10");
  ASSERT_TRUE(change);
  EXPECT_THAT(namespaces(change->objects), ElementsAre("a"));
  const auto watch = rig.next<WatchRequest>();
  EXPECT_EQ(watch.label_selector, label_selector({"a", "b"}));
  EXPECT_EQ(watch.shard_selector, "");
  rig.core.on_watch_opened(rig.now);
  EXPECT_TRUE(rig.core.on_event(event(WatchType::added, "b", "11"), rig.now).change);
  EXPECT_FALSE(rig.core.on_event(event(WatchType::added, "c", "12"), rig.now).change);

  EXPECT_TRUE(rig.core.reselect(cells_of({"b", "c"})).ends_watch);
  EXPECT_EQ(rig.next<ListRequest>().label_selector, label_selector({"c"}));
  const auto growth = rig.end_list({"c", "d"}, "20");
  ASSERT_TRUE(growth);
  EXPECT_EQ(growth->kind, ReflectorChange::Kind::extend);
  EXPECT_THAT(namespaces(growth->objects), ElementsAre("c"));
  const auto resumed = rig.next<WatchRequest>();
  EXPECT_EQ(resumed.label_selector, label_selector({"b", "c"}));
  EXPECT_EQ(resumed.resource_version, "12") << "it goes on where it was";
  rig.core.reselect(HashRanges::all());
  rig.next<ListRequest>();
  rig.end_list({}, "30");
  EXPECT_EQ(rig.next<WatchRequest>().label_selector, "");
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

const ResourceId maps{"", "v1", "ConfigMap", "configmaps"};
const ResourceId pods{"", "v1", "Pod", "pods"};

/// Returns the keys of the tasks that begin now.
std::vector<std::string> begin_all(detail::LabelCore& core, TimePoint now) {
  std::vector<std::string> keys;
  while (const auto task = core.next_task(now)) keys.push_back(task->resource.kind + " " + task->key.str());
  return keys;
}

TEST(LabelCore, PatchesFewObjectsAtATimeAndTakesTheKindsInTurn) {
  detail::LabelCore core;
  for (const char* name : {"1", "2", "3", "4", "1"}) core.on_found(maps, {"a", name});
  core.on_found(pods, {"a", "5"});
  EXPECT_EQ(core.counts().waiting, 5U);
  EXPECT_THAT(begin_all(core, TimePoint{}),
              ElementsAre("ConfigMap a/1", "Pod a/5", "ConfigMap a/2", "ConfigMap a/3"));
  EXPECT_EQ(core.next_due(), TimePoint::max());
  EXPECT_FALSE(core.on_done({maps, {"a", "1"}}, true));
  EXPECT_THAT(begin_all(core, TimePoint{}), ElementsAre("ConfigMap a/4"));
  EXPECT_EQ(core.counts().labelled, 1U);
  EXPECT_EQ(core.counts().waiting, 4U);
}

TEST(LabelCore, AnObjectThatIsFoundDuringItsPatchIsPatchedOnceMore) {
  detail::LabelCore core;
  core.on_found(maps, {"a", "1"});
  EXPECT_THAT(begin_all(core, TimePoint{}), ElementsAre("ConfigMap a/1"));
  core.on_found(maps, {"a", "1"});
  EXPECT_THAT(begin_all(core, TimePoint{}), IsEmpty());
  core.on_done({maps, {"a", "1"}}, true);
  ASSERT_THAT(begin_all(core, TimePoint{}), ElementsAre("ConfigMap a/1"));
  core.on_done({maps, {"a", "1"}}, false);
  EXPECT_EQ(core.counts().waiting, 0U);
  EXPECT_EQ(core.counts().labelled, 1U) << "the second was gone";
}

TEST(LabelCore, AfterAFailureTheKindWaitsAndOneAttemptShowsIfItWorksAgain) {
  detail::LabelCore core;
  for (const char* name : {"1", "2", "3"}) core.on_found(maps, {"a", name});
  core.on_found(pods, {"a", "4"});
  TimePoint now{};
  begin_all(core, now);
  EXPECT_TRUE(core.on_failed({maps, {"a", "1"}}, now));
  EXPECT_FALSE(core.on_failed({maps, {"a", "2"}}, now)) << "of the same attempt";
  EXPECT_FALSE(core.on_failed({maps, {"a", "3"}}, now));
  EXPECT_EQ(core.next_due(), now + 1s);
  core.on_done({pods, {"a", "4"}}, true);
  core.on_found(pods, {"a", "5"});
  EXPECT_THAT(begin_all(core, now), ElementsAre("Pod a/5")) << "other kinds do not wait";
  now += 1s;
  EXPECT_THAT(begin_all(core, now), ElementsAre("ConfigMap a/1"));
  EXPECT_FALSE(core.on_failed({maps, {"a", "1"}}, now));
  EXPECT_EQ(core.next_due(), now + 2s);
  now += 2s;
  EXPECT_THAT(begin_all(core, now), ElementsAre("ConfigMap a/2"));
  EXPECT_TRUE(core.on_done({maps, {"a", "2"}}, true));
  EXPECT_THAT(begin_all(core, now), ElementsAre("ConfigMap a/3", "ConfigMap a/1"));
  EXPECT_EQ(core.counts().failures, 4U);
}

// A quota or a policy may refuse the patches of one namespace.
TEST(LabelCore, AfterAFailureTheNextAttemptIsInAnotherNamespace) {
  detail::LabelCore core;
  for (const char* name : {"1", "2", "3", "4", "5", "6"}) core.on_found(maps, {"bad", name});
  core.on_found(maps, {"good", "7"});
  TimePoint now{};
  begin_all(core, now);
  for (const char* name : {"1", "2", "3", "4"}) core.on_failed({maps, {"bad", name}}, now);
  now += 1s;
  EXPECT_THAT(begin_all(core, now), ElementsAre("ConfigMap good/7"));
  core.on_done({maps, {"good", "7"}}, true);
  EXPECT_THAT(begin_all(core, now),
              ElementsAre("ConfigMap bad/5", "ConfigMap bad/6", "ConfigMap bad/1", "ConfigMap bad/2"));
}

TEST(LabelCore, WaitsFiveMinutesAtMost) {
  detail::LabelCore core;
  core.on_found(maps, {"a", "1"});
  TimePoint now{};
  for (int i = 0; i < 12; ++i) {
    ASSERT_EQ(begin_all(core, now).size(), 1U);
    core.on_failed({maps, {"a", "1"}}, now);
    EXPECT_LE(core.next_due(), now + 5min);
    now = core.next_due();
  }
  ASSERT_EQ(begin_all(core, now).size(), 1U);
  core.on_failed({maps, {"a", "1"}}, now);
  EXPECT_EQ(core.next_due(), now + 5min);
}

}  // namespace
}  // namespace evenkeel::cache_share_tests
