// SPDX-License-Identifier: Apache-2.0
// Requests of one member of a ring, one at a time.
#include "sharding/shard_core.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace evenkeel::shard_core {
namespace {

using namespace std::chrono_literals;
using detail::ShardCore;
using detail::ShardTable;
using detail::SlotEntry;

/// Returns a Lease that names a division, or, as of an earlier version, none.
Json lease(const std::string& name, const std::string& holder, const std::string& version,
           const std::string& division = "") {
  Json json;
  json["metadata"]["name"] = name;
  json["metadata"]["uid"] = "uid-of-" + name;
  json["metadata"]["resourceVersion"] = version;
  if (!division.empty()) json["metadata"]["labels"][ShardTable::division_label] = division;
  json["spec"]["holderIdentity"] = holder;
  json["spec"]["leaseDurationSeconds"] = 15;
  return json;
}

Json table_lease(const ShardTable& table, const std::string& version, const std::string& division = "") {
  Json json = lease("ring", "ring-1", version, division);
  json["metadata"]["annotations"][ShardTable::annotation] = table.text();
  return json;
}

Json with_version(Json json, const std::string& version) {
  json["metadata"]["resourceVersion"] = version;
  return json;
}

detail::ShardCoreOptions options(const std::string& division) {
  return {.namespace_ = "apps",
          .ring = "ring",
          .member = "ring-2",
          .slots = 2,
          .division = division,
          .lease_duration = 15s,
          .retry_period = 2s};
}

TEST(ShardCore, GivesTheSlotsOfAMemberAwayOnlyWhenItsEndIsKnown) {
  ShardCore core(options("object"));
  TimePoint now{1h};
  std::optional<ShardCore::Request> request;
  const auto next = [&] { request = core.next_step(now, WallTime()).request; };
  next();
  ASSERT_EQ(request->ask, ShardCore::Ask::list);
  const ShardTable one_each{.slots = {{"ring-1", "", 1}, {"ring-2", "", 1}}};
  core.on_listed(request->id, {lease("ring-1", "ring-1", "5"), table_lease(one_each, "6")}, "6", now);
  next();
  ASSERT_FALSE(request);

  now += 15s;
  next();
  ASSERT_EQ(request->name, "ring");
  EXPECT_EQ(ShardTable::read(request->body).slots[0], (SlotEntry{"ring-1", "ring-2", 1})) << "it is asked";
  core.on_answered(request->id, with_version(request->body, "7"), now);
  next();
  ASSERT_EQ(request->name, "ring-1");
  EXPECT_EQ(request->body.at({"spec", "holderIdentity"}), Json(""));
  core.on_failure(request->id, now);
  next();
  ASSERT_FALSE(request) << "it may be renewed since, which the watch has not shown";

  now += 2s;
  next();
  ASSERT_EQ(request->ask, ShardCore::Ask::list);
  core.on_listed(request->id, {lease("ring-1", "", "8"), table_lease(*core.table(), "7")}, "8", now);
  next();
  ASSERT_EQ(request->name, "ring");
  EXPECT_EQ(ShardTable::read(request->body).slots[0], (SlotEntry{"ring-2", "", 2}));
}

TEST(ShardCore, MakesAnotherTableWhenOneThatCannotBeReadWasDeleted) {
  for (const bool is_seen : {true, false}) {
    ShardCore core(options("object"));
    TimePoint now{1h};
    std::optional<ShardCore::Request> request;
    const auto next = [&] { request = core.next_step(now, WallTime()).request; };
    Json broken = lease("ring", "ring-1", "6");
    broken["metadata"]["annotations"][ShardTable::annotation] = "?";
    next();
    core.on_listed(request->id, {broken}, "6", now);
    next();
    EXPECT_FALSE(request);
    EXPECT_NE(core.problem(), "");
    if (is_seen) {
      core.on_deleted(with_version(broken, "7"), now);
    } else {
      core.on_gap();
      next();
      core.on_listed(request->id, {}, "7", now);
    }
    EXPECT_EQ(core.problem(), "");
    now += 15s;
    next();
    ASSERT_TRUE(request) << is_seen;
    EXPECT_EQ(request->ask, ShardCore::Ask::create);
    EXPECT_EQ(request->name, "ring");
  }
}

// A webhook that refuses each write of the table, for instance.
TEST(ShardCore, PausesAfterManyRefusedWritesOfTheTable) {
  ShardCore core(options("object"));
  TimePoint now{1h};
  std::optional<ShardCore::Request> request;
  const auto next = [&] { request = core.next_step(now, WallTime()).request; };
  int writes = 0;
  for (next(); request; next()) {
    if (request->ask == ShardCore::Ask::list) {
      core.on_listed(request->id, {}, "6", now);
    } else {
      core.on_conflict(request->id, now);
      ASSERT_LE(++writes, 5);
    }
  }
  EXPECT_EQ(writes, 5);
  now += 2s;
  next();
  EXPECT_TRUE(request);
}

// ---- Members that never were

/// A member "ring-2" that holds both slots, whose driver is the test.
class ShardCoreGhosts : public ::testing::Test {
 protected:
  void begin(const std::vector<Json>& others) {
    next();
    std::vector<Json> all = others;
    all.push_back(table_lease({.slots = {{"ring-2", "", 1}, {"ring-2", "", 1}}}, "6"));
    core.on_listed(request->id, all, "20", now);
    next();
  }
  void next() { request = core.next_step(now, WallTime()).request; }
  static Json of_seconds(Json lease, int seconds, const char* renewed = "") {
    lease["spec"]["leaseDurationSeconds"] = seconds;
    lease["spec"]["renewTime"] = renewed;
    return lease;
  }

  ShardCore core{options("object")};
  TimePoint now{1h};
  std::optional<ShardCore::Request> request = {};
};

TEST_F(ShardCoreGhosts, AMemberIsGivenNothingBeforeARenewal) {
  begin({lease("ring-3", "ring-3", "5")});
  EXPECT_FALSE(request);
  EXPECT_EQ(core.eligible(now), (std::set<std::string>{"ring-2"}));
  now += 2s;
  core.on_lease(of_seconds(lease("ring-3", "ring-3", "21"), 15, "renewed"), now);
  next();
  ASSERT_TRUE(request);
  EXPECT_EQ(ShardTable::read(request->body).slots[1], (SlotEntry{"ring-2", "ring-3", 1}));
}

TEST_F(ShardCoreGhosts, AChangeOfALabelIsNoRenewal) {
  begin({lease("ring-3", "ring-3", "5")});
  Json labelled = lease("ring-3", "ring-3", "21");
  labelled["metadata"]["labels"]["a"] = "b";
  core.on_lease(labelled, now);
  next();
  EXPECT_FALSE(request);
}

TEST_F(ShardCoreGhosts, OnesThatComeFirstByNameDelayNothing) {
  std::vector<Json> ghosts;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "aaa-" + std::to_string(i);
    ghosts.push_back(of_seconds(lease(name, name, "5"), INT32_MAX));
  }
  ghosts.push_back(lease("ring-9", "ring-9", "5"));
  begin(ghosts);
  core.on_lease(of_seconds(lease("ring-9", "ring-9", "21"), 15, "renewed"), now);
  next();
  ASSERT_TRUE(request) << "it is the first of those that renew";
  EXPECT_EQ(ShardTable::read(request->body).slots[1], (SlotEntry{"ring-2", "ring-9", 1}));
  core.on_answered(request->id, with_version(request->body, "22"), now);
  now += 15s;  // ring-9 has crashed
  for (next(); request && request->name != "ring-9"; next())
    core.on_answered(request->id, with_version(request->body, "23"), now);
  ASSERT_TRUE(request) << "its Lease is taken without a delay";
}

TEST_F(ShardCoreGhosts, OneThatRenewsALeaseOfYearsIsGivenNothingAndReportedOnce) {
  begin({of_seconds(lease("ring-3", "ring-3", "5"), 301)});
  for (int renewal = 0; renewal < 3; ++renewal) {
    now += 2s;
    core.on_lease(of_seconds(lease("ring-3", "ring-3", std::to_string(21 + renewal)), 301,
                             renewal % 2 == 0 ? "a" : "b"),
                  now);
    next();
    EXPECT_FALSE(request);
  }
  EXPECT_EQ(core.take_warnings(), (std::vector<ShardCore::Warning>{{"ring-3", 301s, 300s}}));
}

TEST_F(ShardCoreGhosts, MembersOfDifferentDurationsAgreeAboutTheLongest) {
  ShardCore patient({.namespace_ = "apps",
                     .ring = "ring",
                     .member = "ring-3",
                     .slots = 2,
                     .lease_duration = 301s,
                     .retry_period = 2s});
  request = patient.next_step(now, WallTime()).request;
  patient.on_listed(
      request->id,
      {lease("ring-2", "ring-2", "5"), table_lease({.slots = {{"ring-2", "", 1}, {"ring-2", "", 1}}}, "6")},
      "20", now);
  request = patient.next_step(now, WallTime()).request;
  EXPECT_FALSE(request) << "it would be given nothing by the other, and asks for nothing";
  EXPECT_EQ(patient.eligible(now), (std::set<std::string>{"ring-2"}));
  EXPECT_EQ(patient.take_warnings(), (std::vector<ShardCore::Warning>{{"ring-3", 301s, 300s}}));
}

TEST_F(ShardCoreGhosts, ItsSlotsAreFencedAfterTheDurationOfItsOwnLease) {
  const ShardTable table{.slots = {{"ring-3", "", 1}, {"ring-2", "", 1}}};
  next();
  core.on_listed(request->id, {of_seconds(lease("ring-3", "ring-3", "5"), 600), table_lease(table, "6")},
                 "20", now);
  next();
  ASSERT_TRUE(request);
  EXPECT_EQ(ShardTable::read(request->body).slots[0], (SlotEntry{"ring-3", "ring-2", 1})) << "it is asked";
  core.on_answered(request->id, with_version(request->body, "21"), now);
  now += 600s - 1ns;
  next();
  EXPECT_FALSE(request) << "it may run, whatever the others think of its Lease";
  now += 1ns;
  next();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->name, "ring-3");
}

/// A member "ring-2" by namespace, whose driver is the test.
class ShardCoreDivision : public ::testing::Test {
 protected:
  void begin(const std::vector<Json>& leases) {
    next();
    ASSERT_EQ(request->ask, ShardCore::Ask::list);
    core.on_listed(request->id, leases, "20", now);
    next();
  }
  void next() { request = core.next_step(now, WallTime()).request; }
  /// Answers the request, as the server that stores it, and returns the table in it.
  ShardTable stored(const std::string& version) {
    const Json body = with_version(request->body, version);
    core.on_answered(request->id, body, now);
    next();
    return ShardTable::read(body);
  }

  ShardCore core{options("namespace")};
  TimePoint now{1h};
  std::optional<ShardCore::Request> request = {};
  const ShardTable by_object{.slots = {{"ring-1", "", 1}, {"ring-1", "", 5}}};
};

TEST_F(ShardCoreDivision, RunsNothingInARingOfAnotherDivisionAndSaysSo) {
  begin({lease("ring-1", "ring-1", "5", "object"), table_lease(by_object, "6", "object")});
  EXPECT_FALSE(request);
  EXPECT_TRUE(core.take_changes().empty());
  EXPECT_EQ(core.problem(),
            "Lease apps/ring: label sharding.evenkeel.dev/division: the ring divides its keys by object, "
            "this replica by namespace; it runs none until all replicas that divide by object have stopped: "
            "give all replicas the same ShardOptions::by and label, or stop those");
  now += 14s;
  next();
  EXPECT_FALSE(request);
  core.leave();
  next();
  EXPECT_TRUE(core.has_left());
}

TEST_F(ShardCoreDivision, CountsATableOfAnEarlierVersionAsOneByObject) {
  begin({lease("ring-1", "ring-1", "5"), table_lease(by_object, "6")});
  EXPECT_FALSE(request);
  EXPECT_NE(core.problem(), "");
}

TEST_F(ShardCoreDivision, DividesAnewWhenTheLastHolderHasEnded) {
  begin({lease("ring-1", "ring-1", "5", "object"), table_lease(by_object, "6", "object")});
  now += 15s;
  next();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->name, "ring-1") << "its Lease is taken from it";
  core.on_answered(request->id, lease("ring-1", "", "7", "object"), now);
  next();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->name, "ring");
  const ShardTable divided{.slots = {{"ring-2", "", 6}, {"ring-2", "", 6}}, .division = "namespace"};
  EXPECT_EQ(stored("8"), divided) << "in generations that no slot had";
  EXPECT_EQ(core.problem(), "");
  EXPECT_EQ(core.take_changes().size(), 2U);
}

TEST_F(ShardCoreDivision, WaitsForAMemberOfTheTablesDivisionThatHoldsNothing) {
  const ShardTable empty{.slots = {{"", "", 1}, {"", "", 5}}};
  for (const std::string& division : {std::string("object"), std::string()}) {
    ShardCore fresh(options("namespace"));
    const auto step = [&] { return fresh.next_step(now, WallTime()).request; };
    const auto list = step();
    ASSERT_TRUE(list);
    fresh.on_listed(list->id, {lease("ring-1", "ring-1", "5", division), table_lease(empty, "6", "object")},
                    "20", now);
    EXPECT_FALSE(step());
    fresh.on_lease(lease("ring-1", "", "21", division), now);
    const auto takes = step();
    ASSERT_TRUE(takes);
    EXPECT_EQ(ShardTable::read(takes->body).division, "namespace");
  }
}

TEST_F(ShardCoreDivision, DividesAnewInTheOrderOfThoseThatWait) {
  const ShardTable empty{.slots = {{"", "", 1}, {"", "", 5}}};
  next();
  core.on_listed(request->id,
                 {lease("ring-1", "ring-1", "5", "namespace"), table_lease(empty, "6", "object")}, "20", now);
  Json renewed = lease("ring-1", "ring-1", "21", "namespace");
  renewed["spec"]["renewTime"] = "later";
  core.on_lease(renewed, now);
  next();
  EXPECT_FALSE(request) << "ring-1 comes first";
  now += 2s;
  next();
  ASSERT_TRUE(request);
  const ShardTable divided{.slots = {{"ring-1", "", 6}, {"ring-2", "", 6}}, .division = "namespace"};
  EXPECT_EQ(stored("22"), divided);
}

TEST_F(ShardCoreDivision, GivesNothingToAMemberOfAnotherDivision) {
  const ShardTable own{.slots = {{"ring-2", "", 1}, {"ring-2", "", 1}}, .division = "namespace"};
  begin({lease("ring-1", "ring-1", "5", "object"), table_lease(own, "6", "namespace")});
  EXPECT_FALSE(request);
  EXPECT_EQ(core.problem(), "");
  EXPECT_EQ(core.take_changes().size(), 2U);
}

TEST_F(ShardCoreDivision, GivesBackAtOnceWhatAnEarlierVersionGave) {
  const ShardTable given{.slots = {{"ring-1", "ring-2", 1}, {"ring-2", "", 6}}};
  begin({lease("ring-1", "ring-1", "5"), table_lease(given, "6")});
  EXPECT_TRUE(core.take_changes().empty()) << "nothing runs";
  ASSERT_TRUE(request);
  const ShardTable back{.slots = {{"ring-1", "ring-2", 1}, {"", "", 6}}, .leaving = {"ring-2"}};
  EXPECT_EQ(stored("7"), back);
  EXPECT_FALSE(request) << "the rest is for ring-1 to do";
}

/// Lists Leases to a member of a ring by ranges, and returns the table that it writes then; empty: none.
std::optional<ShardTable> table_written(const ShardTable& before, const Json& other) {
  detail::ShardCoreOptions own = options("namespace-range");
  own.hashes = {1000, 3000};
  ShardCore core(own);
  TimePoint now{1h};
  auto request = core.next_step(now, WallTime()).request;
  const Json table = table_lease(before, "7", "namespace-range");
  core.on_listed(request->id, {table, other}, "10", now);
  request = core.next_step(now, WallTime()).request;
  now += 3s;  // another member's turn has passed
  if (!request) request = core.next_step(now, WallTime()).request;
  if (!request || request->name != "ring") return std::nullopt;
  return ShardTable::read(request->body);
}

TEST(ShardCore, FitsTheRangesAnewWhenNobodyHasASlot) {
  const ShardTable before{.slots = {{"ring-1", "", 4}, {"ring-1", "", 6}},
                          .division = "namespace-range",
                          .ranges = detail::SlotRanges({0, 5})};
  const auto after = table_written(before, lease("ring-1", "", "6", "namespace-range"));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->ranges, detail::SlotRanges({0, 2000}));
  for (const SlotEntry& slot : after->slots) EXPECT_EQ(slot, (SlotEntry{"ring-2", "", 7}));
}

TEST(ShardCore, LeavesTheRangesWhileASlotHasAHolder) {
  const ShardTable before{.slots = {{"ring-1", "", 4}, {"", "", 6}},
                          .division = "namespace-range",
                          .ranges = detail::SlotRanges({0, 5})};
  const auto after = table_written(before, lease("ring-1", "ring-1", "6", "namespace-range"));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->ranges, before.ranges);
  EXPECT_EQ(after->slots[1], (SlotEntry{"ring-2", "", 7}));
}

}  // namespace
}  // namespace evenkeel::shard_core
