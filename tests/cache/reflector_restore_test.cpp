// SPDX-License-Identifier: Apache-2.0
// Tests of a reflector that begins with a copy from before the start.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/cache/reflector.hpp>

#include "objects.hpp"
#include "reflector_rig.hpp"

namespace evenkeel::reflector_tests {
namespace {

using ::testing::ElementsAre;
using tests::bookmark_event;

/// A reflector that begins with a copy of "a" and "b" at version 20.
struct RestoreRig : Rig {
  explicit RestoreRig(ReflectorOptions options = {}) : Rig(std::move(options)) {
    core.restore("20", {object("a", "5", "ua"), object("b", "6", "ub")});
  }
  /// Shows the server's first objects and its version.
  std::optional<ReflectorChange> recognize(const std::string& uid, const std::string& version) {
    EXPECT_EQ(next_list(), (ListRequest{.resource_version = "", .limit = 5}));
    core.on_item(object("a", "5", uid));
    return core.on_list_ended({.resource_version = version, .continue_token = "more"});
  }
  /// Begins the watch that catches up.
  void watch() {
    recognize("ua", "30");
    EXPECT_EQ(next_watch(), (WatchRequest{.resource_version = "20", .timeout = 300s}));
    core.on_watch_opened(now);
  }
  static std::vector<std::string> names(const ReflectorChange& change) {
    std::vector<std::string> result;
    for (const WireObject& one : change.objects)
      result.push_back(std::string(one.name()) + "@" + std::string(one.resource_version()));
    return result;
  }
};

TEST(ReflectorRestore, TakesTheCopyOverOnceTheWatchHasReachedTheServersVersion) {
  RestoreRig rig;
  EXPECT_FALSE(rig.core.wants_streaming_list());
  rig.watch();
  EXPECT_FALSE(rig.core.on_event(event(WatchType::modified, "a", "25"), rig.now).change);
  EXPECT_FALSE(rig.core.on_event(event(WatchType::deleted, "b", "26"), rig.now).change);
  EXPECT_FALSE(rig.core.synced());
  const WatchVerdict end = rig.core.on_event(event(WatchType::added, "c", "30"), rig.now);
  ASSERT_TRUE(end.change);
  EXPECT_FALSE(end.ends_watch) << "it goes on";
  EXPECT_EQ(end.change->kind, ReflectorChange::Kind::replace);
  EXPECT_TRUE(end.change->first);
  EXPECT_THAT(RestoreRig::names(*end.change), ElementsAre("a@5", "a@25", "c@30"))
      << "the last of each counts";
  EXPECT_EQ(rig.core.resource_version(), "30");
  EXPECT_EQ(rig.core.counters().restores, 1U);
  EXPECT_EQ(rig.core.on_event(event(WatchType::modified, "c", "31"), rig.now).change->kind,
            ReflectorChange::Kind::apply);
}

// Regression: each of the items of a server that ignores the limit was compared with each object of the copy.
TEST(ReflectorRestore, OnlyTheFirstItemsOfAServerThatIgnoresTheLimitCount) {
  for (const int match : {5, 6}) {
    RestoreRig rig;
    rig.next_list();
    for (int item = 1; item <= 1000; ++item)
      rig.core.on_item(object("n" + std::to_string(item), "5", item == match ? "ua" : "foreign"));
    EXPECT_FALSE(rig.core.on_list_ended({.resource_version = "30"}));
    EXPECT_EQ(rig.core.take_restore_failure().has_value(), match > 5);
  }
}

TEST(ReflectorRestore, ABookmarkShowsThatNothingIsMissing) {
  RestoreRig rig;
  rig.watch();
  const WatchVerdict end = rig.core.on_event(bookmark_event("33"), rig.now);
  ASSERT_TRUE(end.change);
  EXPECT_THAT(RestoreRig::names(*end.change), ElementsAre("a@5", "b@6"));
  EXPECT_EQ(rig.core.resource_version(), "33");
}

// The server's version is that of all kinds: most of the time no event of this kind shows that it is reached.
TEST(ReflectorRestore, ATimeWithoutEventsShowsThatNothingIsMissing) {
  RestoreRig rig;
  rig.recognize("ua", "30");
  rig.next_watch();
  EXPECT_EQ(rig.core.next_due(), std::nullopt) << "not before the server has accepted it";
  rig.now += 30ms;
  rig.core.on_watch_opened(rig.now);
  rig.now += 100ms;
  rig.core.on_event(event(WatchType::modified, "a", "25"), rig.now);
  EXPECT_EQ(rig.core.next_due(), rig.now + 120ms) << "since the last event";
  EXPECT_FALSE(rig.core.on_timeout(rig.now + 119ms).change);
  const WatchVerdict end = rig.core.on_timeout(rig.now + 120ms);
  ASSERT_TRUE(end.change);
  EXPECT_FALSE(end.ends_watch);
  EXPECT_EQ(rig.core.resource_version(), "25");
  EXPECT_EQ(rig.core.next_due(), std::nullopt);
}

TEST(ReflectorRestore, WaitsAsTheServersDistanceDemands) {
  for (const auto& [accepted_after, settle] :
       {std::pair<Duration, Duration>{0ms, 20ms}, {5ms, 20ms}, {6ms, 24ms}, {50ms, 200ms}, {10s, 200ms}}) {
    RestoreRig rig;
    rig.recognize("ua", "30");
    rig.next_watch();
    rig.now += accepted_after;
    rig.core.on_watch_opened(rig.now);
    EXPECT_EQ(rig.core.next_due(), rig.now + settle);
  }
}

TEST(ReflectorRestore, WhereNothingHasChangedNoWatchIsNeeded) {
  RestoreRig rig;
  const auto change = rig.recognize("ua", "20");
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->first);
  EXPECT_EQ(rig.next_watch().resource_version, "20");
  EXPECT_EQ(rig.core.on_event(event(WatchType::added, "c", "21"), rig.now).change->kind,
            ReflectorChange::Kind::apply);
}

TEST(ReflectorRestore, AnotherServersObjectsAreNotTakenOver) {
  for (const auto& [uid, version] : {std::pair("other", "30"), std::pair("ua", "19")}) {
    RestoreRig rig;
    EXPECT_FALSE(rig.recognize(uid, version));
    EXPECT_EQ(rig.core.take_restore_failure(), "the server does not have its objects");
    EXPECT_EQ(rig.core.take_restore_failure(), std::nullopt);
    const WatchRequest streaming = rig.next_watch();
    EXPECT_TRUE(streaming.initial_events) << "as without a copy";
    EXPECT_EQ(streaming.resource_version, "");
    const auto change = rig.core.on_event(bookmark_event("52", true), rig.now).change;
    EXPECT_TRUE(change->objects.empty());
    EXPECT_TRUE(change->first);
  }
}

TEST(ReflectorRestore, ListsWhereTheServerHasForgottenTheVersion) {
  for (const bool in_stream : {false, true}) {
    RestoreRig rig(paged());
    rig.watch();
    rig.core.on_event(event(WatchType::modified, "a", "25"), rig.now);
    if (in_stream)
      EXPECT_TRUE(rig.core.on_event(error_event(410), rig.now).ends_watch);
    else
      rig.core.on_watch_ended(refused(410, "Expired"), rig.now);
    EXPECT_EQ(rig.core.take_restore_failure(), "the server does not have its version any more");
    EXPECT_EQ(rig.next_list().resource_version, "0") << "at once";
    EXPECT_EQ(rig.core.counters().expired, 1U);
    EXPECT_TRUE(rig.core.on_list_ended({.resource_version = "60"})->objects.empty());
  }
}

TEST(ReflectorRestore, AnUnreachableServerDoesNotCostTheCopy) {
  RestoreRig rig;
  rig.next_list();
  rig.core.on_list_failed(of(Kind::unreachable), rig.now);
  EXPECT_EQ(rig.next_pause(), 800ms);
  rig.recognize("ua", "30");
  rig.next_watch();
  rig.core.on_watch_ended(of(Kind::unreachable), rig.now);
  EXPECT_EQ(rig.core.problem(), WatchProblem::unreachable);
  EXPECT_EQ(rig.next_pause(), 1600ms);
  EXPECT_EQ(rig.next_watch().resource_version, "20");
  rig.core.on_watch_opened(rig.now);
  EXPECT_TRUE(rig.core.on_event(bookmark_event("40"), rig.now).change);
  EXPECT_EQ(rig.core.last_error(), "");
}

TEST(ReflectorRestore, AnyOtherFailureCostsTheCopyAndNothingElse) {
  const auto fail = [](RestoreRig& rig, int way) {
    if (way == 0) return rig.core.on_list_failed(refused(403, "Forbidden"), rig.now);
    rig.recognize("ua", "30");
    rig.next_watch();
    if (way == 1) rig.core.on_watch_ended(refused(403, "Forbidden"), rig.now);
    if (way == 2) rig.core.on_watch_ended({}, rig.now);
    if (way == 3) rig.core.on_undecodable("what happened", rig.now);
    if (way == 4) rig.core.on_watch_ended(of(Kind::silent), rig.now);
  };
  for (int way = 0; way < 5; ++way) {
    RestoreRig rig(paged());
    if (way == 0) rig.next_list();
    fail(rig, way);
    EXPECT_TRUE(rig.core.take_restore_failure()) << way;
    EXPECT_EQ(rig.next_list().resource_version, "0") << way;
    EXPECT_TRUE(rig.core.on_list_ended({.resource_version = "60"})->first) << way;
  }
}

TEST(ReflectorRestore, NoObjectsAreNoCopyAndAStartIsTheOnlyTime) {
  Rig empty;
  empty.core.restore("20", {});
  EXPECT_EQ(empty.next_list().resource_version, "0");
  Rig running;
  running.sync();
  running.core.restore("20", {object("z", "5")});
  EXPECT_EQ(running.next_watch().resource_version, "10");
}

}  // namespace
}  // namespace evenkeel::reflector_tests
