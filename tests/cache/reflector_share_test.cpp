// SPDX-License-Identifier: Apache-2.0
// The requests of a reflector that holds a share of the namespaces.
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/hash_ranges.hpp>
#include <evenkeel/cache/reflector.hpp>

#include "objects.hpp"
#include "shares.hpp"

namespace evenkeel::cache_share_tests {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using tests::bookmark_event;
using tests::object;

WireEvent event(WatchType type, const std::string& namespace_, const std::string& version) {
  return {.type = type,
          .object = object({.name = "o", .version = version, .namespace_ = namespace_}),
          .error = {}};
}

ReflectorFailure refused(int code) {
  return {.kind = ReflectorFailure::Kind::refused, .message = "no", .status = {.code = code}};
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

}  // namespace
}  // namespace evenkeel::cache_share_tests
