// SPDX-License-Identifier: Apache-2.0
// Tests of the rules of client-go's Reflector (tools/cache/reflector.go): list and watch are driven by hand,
// in virtual time, without a server.
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/cache/reflector.hpp>

#include "objects.hpp"
#include "reflector_rig.hpp"

namespace evenkeel::reflector_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using tests::bookmark_event;

ReflectorFailure too_large() {
  ReflectorFailure failure = refused(504, "Timeout");
  failure.status.causes.push_back({.reason = "ResourceVersionTooLarge", .message = "m", .field = ""});
  return failure;
}
/// The form of servers before 1.17.
ReflectorFailure too_large_in_words() {
  ReflectorFailure failure = refused(504, "Timeout");
  failure.status.message = "Too large resource version: 9, current: 3";
  return failure;
}
TEST(Reflector, ListsAtZeroFirstThenWatchesFromTheListsVersion) {
  Rig rig;
  EXPECT_EQ(rig.next_list(), (ListRequest{.resource_version = "0", .limit = 500}));
  rig.core.on_item(object("a", "5"));
  EXPECT_FALSE(rig.core.synced());
  const auto change = rig.core.on_list_ended({.resource_version = "10"});
  ASSERT_TRUE(change);
  EXPECT_EQ(change->kind, ReflectorChange::Kind::replace);
  EXPECT_TRUE(change->first);
  ASSERT_EQ(change->objects.size(), 1u);
  EXPECT_EQ(change->objects[0].name(), "a");
  EXPECT_TRUE(rig.core.synced());
  EXPECT_EQ(rig.next_watch(), (WatchRequest{.resource_version = "10", .timeout = 300s}));
}

TEST(Reflector, AsksForLivesBetweenFiveAndTenMinutes) {
  double number = 0;
  Rig rig(paged({.random = [&number] { return number; }}));
  rig.sync();
  for (const auto& [drawn, life] : {std::pair(0.0, 300s), std::pair(0.5, 450s), std::pair(0.999, 599s)}) {
    number = drawn;
    rig.core.on_watch_ended({}, rig.now);
    EXPECT_EQ(rig.next_watch().timeout, life);
    rig.now += 10s;
  }
}

TEST(Reflector, FollowsPagesWithoutAVersion) {
  Rig rig;
  rig.next_list();
  rig.core.on_item(object("a", "5"));
  EXPECT_FALSE(rig.core.on_list_ended({.resource_version = "10", .continue_token = "t1"}));
  const ListRequest second = rig.next_list();
  EXPECT_EQ(second, (ListRequest{.continue_token = "t1", .limit = 500}));
  EXPECT_THAT(query_of(second), ElementsAre(Pair("limit", "500"), Pair("continue", "t1")));
  rig.core.on_item(object("b", "6"));
  const auto change = rig.core.on_list_ended({.resource_version = "10"});
  ASSERT_TRUE(change);
  EXPECT_EQ(change->objects.size(), 2u);
}

TEST(Reflector, PagesOnlyWhereTheServerReadsItsDatabaseAnyway) {
  Rig rig;
  rig.sync("10");
  rig.core.on_event(error_event(410), rig.now);
  rig.next_pause();
  EXPECT_EQ(rig.next_list(), (ListRequest{.resource_version = "10", .limit = 0}));

  Rig paged;  // this server pages at "0": it has no watch cache
  paged.next_list();
  paged.core.on_list_ended({.resource_version = "10", .continue_token = "t"});
  paged.next_list();
  paged.core.on_list_ended({.resource_version = "10"});
  paged.next_watch();
  paged.core.on_event(error_event(410), paged.now);
  paged.next_pause();
  EXPECT_EQ(paged.next_list(), (ListRequest{.resource_version = "10", .limit = 500}));
}

TEST(Reflector, ReadsAllAtOnceWhenATokenExpiresBetweenPages) {
  Rig rig;
  rig.next_list();
  rig.core.on_item(object("a", "5"));
  rig.core.on_list_ended({.resource_version = "10", .continue_token = "t1"});
  rig.next_list();
  rig.core.on_list_failed(refused(410, "Expired"), rig.now);
  EXPECT_EQ(rig.next_list(), (ListRequest{.resource_version = "0", .limit = 0}));
  rig.core.on_item(object("b", "6"));
  const auto change = rig.core.on_list_ended({.resource_version = "12"});
  ASSERT_TRUE(change);
  ASSERT_EQ(change->objects.size(), 1u) << "what the first page gave must be forgotten";
  EXPECT_EQ(change->objects[0].name(), "b");
}

// All ways in which a list's version can be unavailable: one immediate retry with the newest, then waits.
TEST(Reflector, ListsTheNewestOnceItsVersionIsUnavailable) {
  for (const ReflectorFailure& failure : {refused(410, "Expired"), refused(410, "Gone"),
                                          refused(504, "Expired"), too_large(), too_large_in_words()}) {
    Rig rig;
    rig.sync("10");
    rig.core.on_event(error_event(410), rig.now);
    rig.next_pause();
    EXPECT_EQ(rig.next_list().resource_version, "10");
    rig.core.on_list_failed(failure, rig.now);
    EXPECT_EQ(rig.next_list(), (ListRequest{.resource_version = "", .limit = 500})) << "at once";
    rig.core.on_list_failed(failure, rig.now);
    EXPECT_GT(rig.next_pause(), 0s) << "only one retry comes at once";
    EXPECT_EQ(rig.next_list().resource_version, "") << "until a list succeeds";
    rig.core.on_list_ended({.resource_version = "30"});
    EXPECT_EQ(rig.next_watch().resource_version, "30");
    rig.now += 10s;
    rig.core.on_event(error_event(410), rig.now);
    rig.next_pause();
    EXPECT_EQ(rig.next_list().resource_version, "30");
  }
}

TEST(Reflector, RelistsAtTheLastVersionAfter410InTheStream) {
  Rig rig;
  rig.sync("10");
  rig.core.on_event(event(WatchType::modified, "a", "15"), rig.now);
  EXPECT_TRUE(rig.core.on_event(error_event(410, "Expired"), rig.now).ends_watch);
  EXPECT_EQ(rig.core.counters().expired, 1u);
  EXPECT_EQ(rig.next_pause(), 800ms);
  EXPECT_EQ(rig.next_list().resource_version, "15");
}

TEST(Reflector, DoesNotRelistWhenTheServerIsAwayOrBusy) {
  for (const ReflectorFailure& failure :
       {of(Kind::unreachable), refused(429, "TooManyRequests"), refused(0, "TooManyRequests")}) {
    Rig rig;
    rig.sync("10");
    rig.core.on_watch_ended({}, rig.now);
    rig.next_watch();
    for (const Duration wait : {800ms, 1600ms, 3200ms}) {
      rig.core.on_watch_ended(failure, rig.now);
      EXPECT_EQ(rig.next_pause(), wait);
      EXPECT_EQ(rig.next_watch().resource_version, "10");
    }
    EXPECT_EQ(rig.core.counters().lists, 1u);
  }
  Rig in_stream;
  in_stream.sync("10");
  in_stream.core.on_event(error_event(429), in_stream.now);
  in_stream.next_pause();
  EXPECT_EQ(in_stream.next_watch().resource_version, "10");
}

TEST(Reflector, WaitsAtLeastAsLongAsTheServerAsks) {
  Rig rig;
  rig.sync();
  ReflectorFailure busy = refused(429);
  busy.status.retry_after = 9s;
  rig.core.on_watch_ended(busy, rig.now);
  EXPECT_EQ(rig.next_pause(), 9s);
}

TEST(Reflector, ObeysARetryAfterForTwoMinutesAtMost) {
  for (const bool of_list : {false, true}) {
    Rig rig;
    ReflectorFailure busy = refused(429);
    busy.status.retry_after = 24h;
    if (of_list) {
      rig.next_list();
      rig.core.on_list_failed(busy, rig.now);
    } else {
      rig.sync();
      rig.core.on_watch_ended(busy, rig.now);
    }
    EXPECT_EQ(rig.next_pause(), 2min);
  }
  Rig event;
  event.sync();
  WireEvent error = error_event(429);
  error.error.retry_after = 24h;
  event.core.on_event(error, event.now);
  EXPECT_EQ(event.next_pause(), 2min);
}

/// Counts lists and watches in one virtual minute with a server that behaves like `list` and `watch`.
struct Requests {
  std::uint64_t lists = 0;
  std::uint64_t watches = 0;
};
template <class List, class Watch>
Requests requests_in_a_minute(List list, Watch watch, ReflectorOptions options = paged()) {
  Rig rig(std::move(options));
  Requests requests;
  while (rig.now < TimePoint{} + 60s && requests.lists + requests.watches < 10'000) {
    const ReflectorStep step = rig.next();
    if (const auto* pause = std::get_if<PauseRequest>(&step)) {
      rig.now += pause->delay;
    } else if (std::holds_alternative<ListRequest>(step)) {
      ++requests.lists;
      list(rig);
    } else {
      ++requests.watches;
      watch(rig);
    }
  }
  return requests;
}

TEST(Reflector, NoAnswerMakesItAskWithoutPause) {
  int version = 10;
  const auto lists = [&](Rig& rig) {
    rig.core.on_list_ended({.resource_version = std::to_string(++version)});
  };
  const auto gone_list = [](Rig& rig) { rig.core.on_list_failed(refused(410, "Expired"), rig.now); };
  const auto lost_pages = [odd = false](Rig& rig) mutable {
    odd = !odd;
    if (odd) {
      rig.core.on_list_ended({.resource_version = "7", .continue_token = "next"});
    } else {
      rig.core.on_list_failed(refused(410, "Expired"), rig.now);
    }
  };
  const auto bookmark_and_end = [&](Rig& rig) {
    rig.core.on_watch_opened(rig.now);
    rig.core.on_event(bookmark_event(std::to_string(++version)), rig.now);
    rig.core.on_watch_ended({}, rig.now);
  };
  const auto event_and_cut = [&](Rig& rig) {
    rig.core.on_watch_opened(rig.now);
    rig.core.on_event(event(WatchType::modified, "a", std::to_string(++version)), rig.now);
    rig.core.on_watch_ended(of(Kind::broken), rig.now);
  };
  const auto gone_event = [](Rig& rig) {
    rig.core.on_watch_opened(rig.now);
    rig.core.on_event(error_event(410, "Expired"), rig.now);
  };
  const auto silence = [](Rig& rig) {
    rig.now += 1s;
    rig.core.on_watch_ended(of(Kind::silent), rig.now);
  };
  const auto total = [](const Requests& requests) { return requests.lists + requests.watches; };
  EXPECT_LE(total(requests_in_a_minute(lists, bookmark_and_end)), 16U);
  EXPECT_LE(total(requests_in_a_minute(lists, event_and_cut)), 16U);
  EXPECT_LE(total(requests_in_a_minute(lists, gone_event)), 20U);
  EXPECT_LE(total(requests_in_a_minute(lists, silence)), 12U);
  EXPECT_LE(total(requests_in_a_minute(gone_list, silence)), 20U);
  // Seven cycles, with waits of 0.8 to 30 s after each, of six requests: a list in pages, one in one piece
  // that is paged nevertheless, and the one immediate retry at the newest version; each is a page and an
  // error.
  EXPECT_LE(total(requests_in_a_minute(lost_pages, silence)), 42U);
  EXPECT_LE(total(requests_in_a_minute(lists, bookmark_and_end, {.streaming_list = true})), 20U);
  EXPECT_LE(total(requests_in_a_minute(gone_list, gone_event, {.streaming_list = true})), 30U);
}

TEST(Reflector, AFewShortWatchesWithNewsAreFollowedAtOnce) {
  Rig rig;
  rig.sync("10");
  rig.core.on_watch_ended({}, rig.now);
  for (int i = 0; i < 3; ++i) {
    rig.next_watch();
    rig.core.on_event(bookmark_event(std::to_string(11 + i)), rig.now);
    rig.core.on_watch_ended({}, rig.now);
  }
  rig.next_watch();
  rig.core.on_event(bookmark_event("14"), rig.now);
  rig.core.on_watch_ended({}, rig.now);
  EXPECT_EQ(rig.core.last_error(), "the server ends each watch immediately");
  EXPECT_EQ(rig.next_pause(), 800ms);
  EXPECT_EQ(rig.next_watch().resource_version, "14") << "what was seen stays good: no list";
  rig.now += 10s;
  rig.core.on_watch_ended({}, rig.now);
  rig.next_watch();
}

TEST(Reflector, SilenceIsAFailureOfTheServerAndNeedsNoList) {
  Rig rig;
  rig.sync("10");
  rig.now += 150s;
  rig.core.on_watch_ended(of(Kind::silent), rig.now);
  EXPECT_EQ(rig.core.problem(), WatchProblem::unreachable);
  EXPECT_EQ(rig.core.last_error(), "what happened");
  EXPECT_EQ(rig.core.counters().failures, 1U);
  EXPECT_EQ(rig.next_pause(), 800ms);
  EXPECT_EQ(rig.next_watch().resource_version, "10");
  rig.core.on_watch_opened(rig.now);
  EXPECT_EQ(rig.core.problem(), WatchProblem::none);
}

TEST(Reflector, ASilentWatchUnderSuspicionIsResumed) {
  Rig rig;
  rig.sync("10");
  rig.core.on_watch_opened(rig.now);
  rig.now += 4s;
  rig.core.on_event(bookmark_event("11"), rig.now);
  rig.now += 4999ms;
  EXPECT_FALSE(rig.core.on_suspicion(rig.now).ends_watch) << "it brought something less than 5 s ago";
  rig.now += 1ms;
  EXPECT_TRUE(rig.core.on_suspicion(rig.now).ends_watch);
  EXPECT_EQ(rig.core.problem(), WatchProblem::unreachable);
  EXPECT_EQ(rig.core.last_error(), "the watch is silent, and the server has newer objects");
  EXPECT_FALSE(rig.core.on_suspicion(rig.now).ends_watch) << "it ended";
  EXPECT_EQ(rig.next_pause(), 800ms);
  EXPECT_EQ(rig.next_watch().resource_version, "11") << "what was seen stays good: no list";
  rig.now += 4s;
  rig.core.on_watch_opened(rig.now);
  rig.now += 4s;
  EXPECT_FALSE(rig.core.on_suspicion(rig.now).ends_watch) << "it was accepted less than 5 s ago";
}

TEST(Reflector, AFirstStateIsNotUnderSuspicion) {
  for (const bool streams : {false, true}) {
    Rig rig(ReflectorOptions{.streaming_list = streams});
    rig.next();
    rig.now += 10s;
    EXPECT_FALSE(rig.core.on_suspicion(rig.now).ends_watch);
  }
}

TEST(Reflector, AListWithoutEndIsGivenUp) {
  Rig pages(paged({.max_list_pages = 3}));
  for (int page = 0; page < 3; ++page) {
    pages.next_list();
    pages.core.on_list_ended({.resource_version = "1", .continue_token = "next"});
    EXPECT_FALSE(pages.core.list_excess());
  }
  pages.next_list();
  pages.core.on_list_ended({.resource_version = "1", .continue_token = "next"});
  ASSERT_TRUE(pages.core.list_excess());
  EXPECT_EQ(pages.core.list_excess()->message, "the list is longer than 3 pages");
  pages.core.on_list_failed(*pages.core.list_excess(), pages.now);
  pages.next_pause();
  pages.next_list();
  EXPECT_FALSE(pages.core.list_excess()) << "the next list begins with nothing";

  Rig bytes(paged({.max_list_bytes = 1000}));
  bytes.next_list();
  while (!bytes.core.list_excess()) bytes.core.on_item(object("a", "5"));
  EXPECT_EQ(bytes.core.list_excess()->message, "the list is longer than 1000 bytes");
  EXPECT_GT(bytes.core.listed_bytes(), 1000u);
  bytes.core.on_list_failed(*bytes.core.list_excess(), bytes.now);
  EXPECT_EQ(bytes.core.listed_bytes(), 0u);
}

TEST(Reflector, RelistsAfterAnyOtherRefusal) {
  for (const int code : {400, 401, 403, 404, 500, 503}) {
    Rig rig;
    rig.sync("10");
    rig.core.on_watch_ended(refused(code), rig.now);
    EXPECT_EQ(rig.next_pause(), 800ms) << code;
    EXPECT_EQ(rig.next_list().resource_version, "10");
  }
}

TEST(Reflector, ResumesAtOnceAfterTheProperEndAndAfterACut) {
  for (const std::optional<ReflectorFailure>& end :
       {std::optional<ReflectorFailure>(), std::optional(of(Kind::broken))}) {
    Rig rig;
    rig.sync("10");
    rig.core.on_event(event(WatchType::added, "b", "12"), rig.now);
    rig.core.on_watch_ended(end, rig.now);
    EXPECT_EQ(rig.next_watch().resource_version, "12");
  }
}

TEST(Reflector, TreatsAVeryShortWatchWithoutNewsAsAFailure) {
  Rig rig;
  rig.sync("10");
  rig.core.on_watch_ended({}, rig.now);
  rig.next_watch();
  rig.now += 999ms;
  rig.core.on_watch_ended({}, rig.now);
  EXPECT_EQ(rig.next_pause(), 800ms);
  EXPECT_EQ(rig.next_list().resource_version, "10");
  rig.core.on_list_ended({.resource_version = "10"});
  rig.next_watch();
  rig.now += 1s;
  rig.core.on_watch_ended({}, rig.now);
  rig.next_watch();
  rig.core.on_event(bookmark_event("11"), rig.now);
  rig.core.on_watch_ended({}, rig.now);
  EXPECT_EQ(rig.next_watch().resource_version, "11") << "a bookmark is news";
}

TEST(Reflector, DoesNotRecordVersionsOfSyntheticAddedEvents) {
  Rig rig;
  rig.next_list();
  rig.core.on_list_ended({.resource_version = ""});  // some aggregated servers return none
  EXPECT_EQ(rig.next_watch().resource_version, "");
  const WatchVerdict verdict = rig.core.on_event(event(WatchType::added, "a", "50"), rig.now);
  EXPECT_EQ(verdict.change->kind, ReflectorChange::Kind::apply) << "the object is stored all the same";
  EXPECT_EQ(rig.core.resource_version(), "");
  rig.core.on_event(event(WatchType::added, "b", "20"), rig.now);
  EXPECT_EQ(rig.core.resource_version(), "");
  rig.core.on_event(event(WatchType::modified, "b", "51"), rig.now);
  EXPECT_EQ(rig.core.resource_version(), "51") << "the first event that is not ADDED unlocks it";
  rig.core.on_event(event(WatchType::added, "c", "52"), rig.now);
  EXPECT_EQ(rig.core.resource_version(), "52");
}

TEST(Reflector, BookmarksMoveTheVersionAndNothingElse) {
  Rig rig;
  rig.sync("10");
  const WatchVerdict verdict = rig.core.on_event(bookmark_event("99"), rig.now);
  EXPECT_FALSE(verdict.change);
  EXPECT_FALSE(verdict.ends_watch);
  EXPECT_EQ(rig.core.resource_version(), "99");
}

TEST(Reflector, NeverMovesItsVersionBackBetweenLists) {
  Rig rig;
  rig.sync("100");
  rig.core.on_event(event(WatchType::modified, "a", "99"), rig.now);
  EXPECT_EQ(rig.core.resource_version(), "100");
  rig.core.on_event(event(WatchType::modified, "a", "101"), rig.now);
  EXPECT_EQ(rig.core.resource_version(), "101");
  rig.core.on_event(event(WatchType::modified, "a", "opaque"), rig.now);
  EXPECT_EQ(rig.core.resource_version(), "opaque")
      << "what cannot be compared is taken in the order of arrival";
  rig.core.on_event(error_event(410), rig.now);
  rig.next_pause();
  rig.next_list();
  rig.core.on_list_ended({.resource_version = "3"});
  EXPECT_EQ(rig.core.resource_version(), "3")
      << "a list says what is true now, even after a restore from backup";
}

TEST(Reflector, TurnsEventsIntoChanges) {
  Rig rig;
  rig.sync();
  const std::pair<WatchType, ReflectorChange::Kind> cases[] = {
      {WatchType::added, ReflectorChange::Kind::apply},
      {WatchType::modified, ReflectorChange::Kind::apply},
      {WatchType::deleted, ReflectorChange::Kind::remove}};
  for (const auto& [type, kind] : cases) {
    const WatchVerdict verdict = rig.core.on_event(event(type, "a", "11"), rig.now);
    ASSERT_TRUE(verdict.change);
    EXPECT_EQ(verdict.change->kind, kind);
    EXPECT_EQ(verdict.change->object.name(), "a");
  }
}

TEST(Reflector, RelistsAfterWhatItCannotRead) {
  Rig rig;
  rig.sync("10");
  rig.core.on_undecodable("Pod default/a: metadata.labels: expected object, found string", rig.now);
  EXPECT_THAT(rig.core.last_error(), HasSubstr("Pod default/a"));
  EXPECT_EQ(rig.core.counters().undecodable, 1u);
  EXPECT_EQ(rig.next_pause(), 800ms);
  rig.next_list();
  rig.core.on_list_failed(of(Kind::undecodable), rig.now);
  EXPECT_EQ(rig.core.counters().undecodable, 2u);
  EXPECT_EQ(rig.next_pause(), 1600ms);
  rig.next_list();
  rig.core.on_list_ended({.resource_version = "11"});
  EXPECT_EQ(rig.core.last_error(), "");
}

// A kind that is installed late, polled as client-go does: every ten seconds.
TEST(Reflector, LooksForAMissingKindMoreOftenThanForOtherTrouble) {
  Rig rig;
  rig.next_list();
  for (const Duration wait : {800ms, 1600ms, 3200ms, 6400ms, 10000ms, 10000ms}) {
    rig.core.on_list_failed(refused(404), rig.now);
    EXPECT_EQ(rig.next_pause(), wait);
    rig.next_list();
  }
  rig.core.on_list_failed(refused(403), rig.now);
  EXPECT_EQ(rig.next_pause(), 30s);
}

TEST(Reflector, WaitsTwiceAsLongEachTimeUpToTheCeilingAndForgetsAfterQuiet) {
  Rig rig;
  rig.next_list();
  for (const Duration wait : {800ms, 1600ms, 3200ms, 6400ms, 12800ms, 25600ms, 30000ms, 30000ms}) {
    rig.core.on_list_failed(refused(403), rig.now);
    EXPECT_EQ(rig.next_pause(), wait);
    rig.next_list();
  }
  rig.now += 2min - 30s;
  rig.core.on_list_failed(refused(403), rig.now);
  EXPECT_EQ(rig.next_pause(), 30s) << "exactly two minutes is not yet quiet";
  rig.next_list();
  rig.now += 2min;
  rig.core.on_list_failed(refused(403), rig.now);
  EXPECT_EQ(rig.next_pause(), 800ms);
}

TEST(Reflector, AddsUpToAsMuchAgainAtRandom) {
  Rig rig(paged({.random = [] { return 0.5; }}));
  rig.next_list();
  rig.core.on_list_failed(refused(500), rig.now);
  EXPECT_EQ(rig.next_pause(), 1200ms);
}

TEST(Reflector, RelistTellsThatItIsNotTheFirst) {
  Rig rig;
  rig.sync();
  rig.core.on_event(error_event(410), rig.now);
  rig.next_pause();
  rig.next_list();
  const auto change = rig.core.on_list_ended({.resource_version = "20"});
  ASSERT_TRUE(change);
  EXPECT_FALSE(change->first);
}

TEST(Reflector, RefusesOptionsOutOfBounds) {
  EXPECT_THROW(Reflector({.page_size = 0}), std::invalid_argument);
  EXPECT_THROW(Reflector({.watch_timeout = 0s}), std::invalid_argument);
  EXPECT_THROW(Reflector({.list_timeout = 0s}), std::invalid_argument);
  EXPECT_THROW(Reflector({.backoff_base = 0s}), std::invalid_argument);
  EXPECT_THROW(Reflector({.backoff_base = 2s, .backoff_max = 1s}), std::invalid_argument);
  // Regression: without a wait, or without time for an answer, requests followed each other without a pause.
  EXPECT_THROW(Reflector({.missing_max = 0s}), std::invalid_argument);
  EXPECT_THROW(Reflector({.missing_max = -1s}), std::invalid_argument);
  EXPECT_THROW(Reflector({.watch_head_timeout = 0s}), std::invalid_argument);
  EXPECT_THROW(Reflector({.list_head_timeout = 0s}), std::invalid_argument);
}

TEST(ReflectorStreaming, CollectsUntilTheEndBookmarkAndWatchesOnTheSameStream) {
  Rig rig({.streaming_list = true});
  const WatchRequest request = rig.next_watch();
  EXPECT_TRUE(request.initial_events);
  EXPECT_EQ(rig.core.next_due(), rig.now + 30s);
  EXPECT_THAT(query_of(request),
              ElementsAre(Pair("watch", "true"), Pair("allowWatchBookmarks", "true"),
                          Pair("sendInitialEvents", "true"), Pair("resourceVersionMatch", "NotOlderThan"),
                          Pair("timeoutSeconds", "300")));
  EXPECT_FALSE(rig.core.on_event(event(WatchType::added, "a", "50"), rig.now).change);
  EXPECT_FALSE(rig.core.on_event(event(WatchType::added, "b", "20"), rig.now).change);
  EXPECT_FALSE(rig.core.on_event(event(WatchType::deleted, "a", "51"), rig.now).change);
  EXPECT_FALSE(rig.core.on_event(bookmark_event("51"), rig.now).change)
      << "not the bookmark that ends the state";
  EXPECT_EQ(rig.core.resource_version(), "") << "versions of synthetic events are not recorded";
  const WatchVerdict end = rig.core.on_event(bookmark_event("52", true), rig.now);
  ASSERT_TRUE(end.change);
  EXPECT_FALSE(end.ends_watch);
  EXPECT_TRUE(end.change->first);
  ASSERT_EQ(end.change->objects.size(), 1u);
  EXPECT_EQ(end.change->objects[0].name(), "b");
  EXPECT_EQ(rig.core.on_event(event(WatchType::added, "c", "53"), rig.now).change->kind,
            ReflectorChange::Kind::apply);
  EXPECT_EQ(rig.core.resource_version(), "53");
}

TEST(ReflectorStreaming, ListsInsteadWhereStreamingFails) {
  const auto fail = [](Rig& rig, int way) {
    if (way == 0) rig.core.on_watch_ended(refused(422, "Invalid"), rig.now);
    if (way == 1) rig.core.on_watch_ended({}, rig.now);
    if (way == 2) {
      rig.now += 30s - 1ns;
      EXPECT_FALSE(rig.core.on_timeout(rig.now).ends_watch) << "not before its deadline";
      rig.now += 1ns;
      EXPECT_TRUE(rig.core.on_timeout(rig.now).ends_watch);
    }
    if (way == 3) rig.core.on_event(error_event(500), rig.now);
    if (way == 4) rig.core.on_watch_ended(of(Kind::broken), rig.now);
  };
  for (int way = 0; way < 5; ++way) {
    Rig rig({.streaming_list = true});
    rig.next_watch();
    rig.core.on_event(event(WatchType::added, "half", "50"), rig.now);
    fail(rig, way);
    EXPECT_EQ(rig.next_list().resource_version, "0") << "at once, way " << way;
    const auto change = rig.core.on_list_ended({.resource_version = "60"});
    EXPECT_TRUE(change->objects.empty()) << "the half state must be forgotten";
    EXPECT_FALSE(rig.next_watch().initial_events);
    rig.core.on_event(error_event(410), rig.now);
    rig.next_pause();
    EXPECT_TRUE(rig.next_watch().initial_events) << "tried again in the next cycle";
  }
}

// The state is complete from an earlier cycle, and the stream of a later one hangs all the same.
TEST(ReflectorStreaming, EveryStreamedStateHasADeadline) {
  Rig rig({.streaming_list = true});
  rig.next_watch();
  rig.core.on_event(bookmark_event("52", true), rig.now);
  EXPECT_EQ(rig.core.next_due(), std::nullopt) << "the state is complete";
  EXPECT_FALSE(rig.core.on_timeout(rig.now + 1h).ends_watch);
  rig.now += 10s;
  rig.core.on_event(error_event(410), rig.now);
  rig.next_pause();
  rig.next_watch();
  ASSERT_EQ(rig.core.next_due(), rig.now + 30s);
  rig.now += 30s;
  EXPECT_TRUE(rig.core.on_timeout(rig.now).ends_watch);
  EXPECT_EQ(rig.core.last_error(), "the server did not finish its streamed list in time");
  EXPECT_EQ(rig.next_list().resource_version, "52");
}

// Client-go streams again without a version; a list by every informer would make a server's start harder.
TEST(ReflectorStreaming, StreamsTheNewestOnceItsVersionIsUnavailable) {
  for (const ReflectorFailure& failure : {refused(410, "Expired"), too_large(), too_large_in_words()}) {
    Rig rig({.streaming_list = true});
    rig.next_watch();
    rig.core.on_event(bookmark_event("52", true), rig.now);
    rig.now += 10s;
    rig.core.on_event(error_event(410), rig.now);
    rig.next_pause();
    EXPECT_EQ(rig.next_watch().resource_version, "52");
    rig.core.take_streaming_outcome();
    rig.core.on_watch_ended(failure, rig.now);
    EXPECT_EQ(rig.core.take_streaming_outcome()->kind, StreamingOutcome::Kind::failed);
    rig.next_pause();
    const WatchRequest newest = rig.next_watch();
    EXPECT_TRUE(newest.initial_events);
    EXPECT_EQ(newest.resource_version, "");
    rig.core.on_watch_ended(failure, rig.now);
    EXPECT_EQ(rig.next_list().resource_version, "") << "it is nothing that streaming can cure";
    rig.core.on_list_ended({.resource_version = "60"});
    EXPECT_EQ(rig.core.counters().streaming_fallbacks, 1U);
  }
}

TEST(ReflectorStreaming, ReportsEachOutcomeOnce) {
  using Outcome = StreamingOutcome::Kind;
  Rig rig({.streaming_list = true});
  EXPECT_TRUE(rig.core.wants_streaming_list());
  rig.next_watch();
  EXPECT_FALSE(rig.core.wants_streaming_list());
  EXPECT_FALSE(rig.core.take_streaming_outcome());
  rig.now += 30s;
  EXPECT_TRUE(rig.core.on_timeout(rig.now).ends_watch);
  const auto away = rig.core.take_streaming_outcome();
  ASSERT_TRUE(away);
  EXPECT_EQ(away->kind, Outcome::failed) << "the server did not even accept it";
  EXPECT_EQ(away->reason, "the server did not finish its streamed list in time");
  EXPECT_FALSE(rig.core.take_streaming_outcome());
  rig.next_list();
  rig.core.on_list_ended({.resource_version = "10"});
  rig.next_watch();
  rig.core.on_event(error_event(410), rig.now);
  EXPECT_FALSE(rig.core.wants_streaming_list()) << "the pause comes first";
  rig.next_pause();
  EXPECT_TRUE(rig.core.wants_streaming_list());
  rig.core.list_instead();
  rig.next_list();
  EXPECT_FALSE(rig.core.take_streaming_outcome());
}

TEST(Reflector, IgnoresWhatDoesNotBelongToTheRunningStep) {
  Rig rig;
  rig.core.on_watch_ended(refused(410), rig.now);
  EXPECT_FALSE(rig.core.on_list_ended({.resource_version = "10"}));
  rig.next_list();
  EXPECT_FALSE(rig.core.on_event(event(WatchType::added, "a", "5"), rig.now).change);
  rig.core.on_watch_ended({}, rig.now);
  rig.core.on_item(object("b", "6"));
  EXPECT_EQ(rig.core.on_list_ended({.resource_version = "10"})->objects.size(), 1u);
  rig.core.on_list_failed(refused(500), rig.now);
  EXPECT_EQ(rig.core.counters().failures, 0u);
  EXPECT_EQ(rig.next_watch().resource_version, "10");
}

TEST(Reflector, SaysInOneWordWhatIsWrong) {
  Rig rig;
  EXPECT_EQ(rig.core.problem(), WatchProblem::none);
  const auto after = [&](const ReflectorFailure& failure) {
    rig.next_list();
    rig.core.on_list_failed(failure, rig.now);
    rig.next_pause();
    return rig.core.problem();
  };
  EXPECT_EQ(after(refused(404)), WatchProblem::no_such_kind);
  EXPECT_EQ(after(refused(403)), WatchProblem::forbidden);
  EXPECT_EQ(after(refused(401)), WatchProblem::unauthorized);
  EXPECT_EQ(after(refused(500)), WatchProblem::other);
  EXPECT_EQ(after(of(Kind::unreachable)), WatchProblem::unreachable);
  EXPECT_EQ(after(of(Kind::broken)), WatchProblem::other);
  rig.next_list();
  rig.core.on_list_ended({.resource_version = "10"});
  EXPECT_EQ(rig.core.problem(), WatchProblem::none) << "what failed works again";
}

// A role that permits list but not watch: the list succeeds each time, but the problem persists.
TEST(Reflector, ARefusedWatchIsAProblemUntilOneIsAccepted) {
  Rig rig;
  rig.next_list();
  rig.core.on_list_ended({.resource_version = "10"});
  for (int round = 0; round < 2; ++round) {
    rig.next_watch();
    rig.core.on_watch_ended(refused(403), rig.now);
    EXPECT_EQ(rig.core.problem(), WatchProblem::forbidden);
    rig.next_pause();
    rig.next_list();
    rig.core.on_list_ended({.resource_version = "10"});
    EXPECT_EQ(rig.core.problem(), WatchProblem::forbidden);
  }
  rig.next_watch();
  EXPECT_EQ(rig.core.next_due(), std::nullopt) << "it is not accepted yet";
  rig.core.on_watch_opened(rig.now);
  EXPECT_EQ(rig.core.problem(), WatchProblem::forbidden) << "it may end at once";
  EXPECT_EQ(rig.core.next_due(), rig.now + 1s);
  rig.now += 1s;
  EXPECT_FALSE(rig.core.on_timeout(rig.now).ends_watch);
  EXPECT_EQ(rig.core.problem(), WatchProblem::none) << "it has lasted";
  EXPECT_EQ(rig.core.last_error(), "");
  EXPECT_EQ(rig.core.next_due(), std::nullopt);
}

TEST(Reflector, AnEventShowsThatAWatchWorksAgain) {
  Rig rig;
  rig.sync("10");
  rig.core.on_watch_ended({}, rig.now);
  rig.next_watch();
  rig.core.on_watch_ended({}, rig.now);
  rig.next_pause();
  rig.next_list();
  rig.core.on_list_ended({.resource_version = "10"});
  rig.next_watch();
  rig.core.on_watch_opened(rig.now);
  EXPECT_EQ(rig.core.problem(), WatchProblem::other);
  rig.core.on_event(event(WatchType::added, "b", "12"), rig.now);
  EXPECT_EQ(rig.core.problem(), WatchProblem::none);
}

}  // namespace
}  // namespace evenkeel::reflector_tests
