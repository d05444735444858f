// SPDX-License-Identifier: Apache-2.0
// The text of coordctl show, including the warning about mixed modes.
#include <chrono>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/coordination/deny_list.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/overview.hpp>

namespace evenkeel::coordination::overview_tests {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

const Layout layout("/db");

class OverviewTest : public ::testing::Test {
 protected:
  void put(const std::string& key, const std::string& value) { store.commit({.puts = {{key, value}}}); }
  void add(const std::string& set, const std::string& scope, const std::string& unit) {
    put(layout.member(set, scope, unit),
        encode(MemberRecord{.kind = "log", .at = seconds_of(clock->wall_now())}));
  }
  void fill() {
    LivenessRegistry one(store, layout, {"dc1", "uid-1", "run-1"}, {}, transact());
    LivenessRegistry two(store, layout, {"dc2", "uid-2", "run-1"}, {}, transact());
    one.renew(Mode::global);
    two.renew(Mode::local);
    add("pendingForRestart", "dc1", "dc1-log-1");
    clock->advance(seconds{20});
    add("pendingForRestart", "dc1", "dc1-log-2");
    add("readyForRestart", "dc1", "dc1-log-1");
    add("pendingForRemoval", "dc2", "dc2-log-1");
    put("/db/processAddresses/dc2/dc2-log-1", "[]");
  }
  TransactOptions transact() const { return {.delay = {}, .clock = clock}; }
  Overview take() { return overviewer.take(*store.snapshot(), clock->now()); }
  std::string text() { return text_of(take(), clock->wall_now()); }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  MemoryStore store;
  Overviewer overviewer{layout};
};

TEST_F(OverviewTest, CountsMembersByScopeAndSet) {
  fill();
  const Overview overview = take();
  EXPECT_THAT(overview.sets,
              ::testing::ElementsAre("pendingForRemoval", "pendingForRestart", "readyForRestart"));
  EXPECT_EQ(overview.scopes.at("dc1").at("pendingForRestart").members, 2U);
  const auto& pending = overview.scopes.at("dc1").at("pendingForRestart");
  EXPECT_EQ(pending.newest_at - pending.oldest_at, 20);
  EXPECT_EQ(overview.members("pendingForRestart"), 2U);
  EXPECT_EQ(overview.members("readyForRestart"), 1U);
}

TEST_F(OverviewTest, IsATableForPeople) {
  fill();
  clock->advance(seconds{10});
  EXPECT_EQ(text(),
            "SCOPE  MODE    PRESENCE  RENEWED  Removal  Restart  OLDEST\n"
            "dc1    global  live      30s      0        1/2      30s\n"
            "dc2    local   live      30s      1        0/0      10s\n"
            "all                               1        1/2\n"
            "\n"
            "lock     never taken\n"
            "warning  live instances are in different modes and do not all act in agreement\n");
}

TEST_F(OverviewTest, SaysWhoHoldsWhatAndWhoMayNot) {
  LeaseLock lock(store, layout, {"dc1", "uid-1", "run-1"}, {}, transact());
  ASSERT_TRUE(lock.take().is_held());
  DenyList(store, layout, "coordctl", transact()).apply({{"dc3"}}, "drill");
  put("/db/arbiter/claims/restart", encode(ClaimRecord{.epoch = 7,
                                                       .owner = {"dc2", "uid-2", "run-1"},
                                                       .timeout = std::chrono::minutes{2},
                                                       .targets = 48,
                                                       .at = seconds_of(clock->wall_now()),
                                                       .note = "killed"}));
  put("/db/arbiter/migrating/dc1", R"({"to":"unicorn"})");
  put("/db/arbiter/upgrades/7.3.1/dc1-log-1", "");
  clock->advance(seconds{65});
  EXPECT_THAT(text(),
              HasSubstr("lock     dc1 since 1m5s, epoch 1, renewed 1m5s ago, expires when silent for 10m0s\n"
                        "claim    restart: executing by dc2, epoch 7, 48 targets, 1m5s ago: killed\n"
                        "denied   dc3 by coordctl, 1m5s ago: drill\n"
                        "moving   dc1 to unicorn\n"
                        "upgrade  to 7.3.1: 1 units registered\n"));
  lock.release();
  EXPECT_THAT(text(), HasSubstr("lock     free, epoch 1\n"));
}

TEST_F(OverviewTest, SilenceIsWhatThisProcessSaw) {
  fill();
  take();
  clock->advance(seconds{61});
  EXPECT_THAT(text(), HasSubstr("silent 1m1s"));
}

TEST_F(OverviewTest, ShowsWhatCannotBeRead) {
  put("/db/pendingForRestart/dc1/dc1-log-1", "[");
  put("/db/arbiter/lock", "?");
  put("/db/instances/dc1", "?");
  put("/db/processAddresses/dc1/dc1-log-1", "{}");
  put("/db/arbiter/claims/restart", "?");
  put("/db/arbiter/targets/restart/dc1", R"({"x":{}})");
  put("/db/arbiter/denyList/dc9", "by hand");
  const Overview overview = take();
  EXPECT_EQ(overview.scopes.at("dc1").at("pendingForRestart").members, 1U) << "it counts all the same";
  EXPECT_EQ(overview.unreadable.size(), 6U) << "each key once; what is denied needs no value";
  EXPECT_THAT(text(), HasSubstr("unreadable  /db/arbiter/lock: parse error"));
  EXPECT_THAT(text(), HasSubstr("unreadable  /db/instances/dc1: parse error"));
  EXPECT_THAT(text(), HasSubstr("unreadable  /db/processAddresses/dc1/dc1-log-1: expected array"));
  EXPECT_THAT(text(), HasSubstr("unreadable  /db/arbiter/targets/restart/dc1: \"x\" is not an epoch"));
  EXPECT_THAT(text(), HasSubstr("lock        cannot be read\n"));
  EXPECT_THAT(text(), HasSubstr("denied      dc9: by hand\n"));
  EXPECT_THAT(text(), HasSubstr("dc1    -     absent"));
}

TEST_F(OverviewTest, IsJsonForPrograms) {
  fill();
  const Json json = json_of(take());
  EXPECT_EQ(json.at({"scopes", "dc1", "pendingForRestart", "members"}), Json(2));
  EXPECT_EQ(json["instances"][0]["scope"], Json("dc1"));
  EXPECT_EQ(json["instances"][0]["mode"], Json("global"));
  EXPECT_EQ(json["denyList"], Json::array());
}

// Records are what other instances and people wrote.
TEST_F(OverviewTest, ItsTextHasNothingThatATerminalObeys) {
  fill();
  const std::string hostile =
      "\x1b[2J\x1b]0;OWNED\x07"
      "eve\nFORGED LINE \u202e\u009b";
  DenyList list(store, layout, hostile, transact());
  list.apply({{.scope = "dc1"}}, hostile);
  put(layout.member("pendingForRestart", hostile, "unit"), "no record " + hostile);
  put("/db/arbiter/denyList/" + hostile, "by hand");
  const std::string shown = text();
  EXPECT_THAT(shown, HasSubstr(R"(  dc1 by \x1b[2J\x1b]0;OWNED\x07eve\nFORGED LINE \u202e\u009b, )"));
  for (const char* raw : {"\x1b", "\x07", "\nFORGED", "\u202e", "\u009b"})
    EXPECT_EQ(shown.find(raw), std::string::npos) << shown;
  EXPECT_EQ(json_of(take()).dump(2).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::coordination::overview_tests
