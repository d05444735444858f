// SPDX-License-Identifier: Apache-2.0
// An overview as the blocks of the console's section: exact contents, and bounds for hostile ones.
#include "coordination/overview_section.hpp"

#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/coordination/deny_list.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/lease_lock.hpp>
#include <evenkeel/coordination/liveness.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/overview.hpp>

#include "coordination/bounded_snapshot.hpp"

namespace evenkeel::coordination::overview_section_tests {
namespace {

using namespace std::chrono_literals;

const Layout layout("/db");

class OverviewSection : public ::testing::Test {
 protected:
  void put(const std::string& key, const std::string& value) { store.commit({.puts = {{key, value}}}); }
  void add(const std::string& set, const std::string& scope, const std::string& unit) {
    put(layout.member(set, scope, unit), encode(MemberRecord{.at = seconds_of(clock->wall_now())}));
  }
  TransactOptions transact() const { return {.delay = {}, .clock = clock}; }
  Json blocks() {
    return detail::blocks_of(overviewer.take(*store.snapshot(), clock->now()), clock->wall_now());
  }
  /// Returns the content of a block; null if there is none.
  Json block(const std::string& title) {
    const Json all = blocks();
    for (const Json& one : all.as_array()) {
      if (one["title"] == Json(title)) return one["content"];
    }
    return {};
  }
  std::string titles() {
    std::string text;
    const Json all = blocks();
    for (const Json& one : all.as_array()) text += one["title"].as_string() + "; ";
    return text;
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  MemoryStore store;
  Overviewer overviewer{layout};
};

TEST_F(OverviewSection, OfAnEmptyStoreHasItsTables) {
  EXPECT_EQ(titles(), "Lock; Instances; Sets; Claims; Deny list; ");
  EXPECT_EQ(block("Lock").dump(), R"({"holder":"never taken"})");
  EXPECT_EQ(block("Claims").dump(),
            R"({"columns":["action","state","owner","epoch","targets","taken","note"],"rows":[]})");
}

TEST_F(OverviewSection, ShowsInstancesAndTheUnitsThatAreWaitedFor) {
  LivenessRegistry(store, layout, {"dc1", "uid-1", "run-1"}, {}, transact()).renew(Mode::global);
  LivenessRegistry(store, layout, {"dc2", "uid-2", "run-1"}, {}, transact()).renew(Mode::local);
  add("pendingForRestart", "dc1", "dc1-log-1");
  clock->advance(20s);
  add("pendingForRestart", "dc1", "dc1-log-2");
  add("readyForRestart", "dc1", "dc1-log-1");
  add("pendingForRemoval", "dc3", "dc3-log-1");
  clock->advance(10s);
  EXPECT_EQ(titles(), "Warnings; Lock; Instances; Sets; Claims; Deny list; ");
  EXPECT_EQ(block("Warnings").dump(),
            R"(["live instances are in different modes and do not all act in agreement"])");
  EXPECT_EQ(block("Instances").dump(),
            R"({"columns":["scope","presence","mode","instance","renewed","unchanged for"],"rows":[)"
            R"(["dc1","live","global","uid-1","30s ago","0s"],)"
            R"(["dc2","live","local","uid-2","30s ago","0s"],)"
            R"(["dc3","absent","","","",""]]})");
  EXPECT_EQ(block("Sets").dump(),
            R"({"columns":["scope","set","pending","ready","pending units","not ready","oldest"],"rows":[)"
            R"(["dc1","Restart",2,1,"dc1-log-1, dc1-log-2","dc1-log-2","30s ago"],)"
            R"(["dc3","Removal",1,"","dc3-log-1","","10s ago"]]})");
}

TEST_F(OverviewSection, ShowsSilenceAsThisProcessSawIt) {
  LivenessRegistry(store, layout, {"dc1", "uid-1", "run-1"}, {}, transact()).renew(Mode::global);
  blocks();
  clock->advance(61s);
  EXPECT_EQ(block("Instances")["rows"][0].dump(),
            R"(["dc1","silent 1m1s","global","uid-1","1m1s ago","1m1s"])");
}

TEST_F(OverviewSection, ShowsLockClaimsAndTheDenyList) {
  LeaseLock lock(store, layout, {"dc1", "uid-1", "run-1"}, {}, transact());
  ASSERT_TRUE(lock.take().is_held());
  DenyList(store, layout, "coordctl", transact()).apply({{"dc3"}}, "drill");
  put(layout.claim("restart"), encode(ClaimRecord{.epoch = 7,
                                                  .owner = {"dc2", "uid-2", "run-1"},
                                                  .timeout = 2min,
                                                  .targets = 48,
                                                  .at = seconds_of(clock->wall_now()),
                                                  .note = "killed"}));
  put("/db/arbiter/migrating/dc1", R"({"to":"unicorn"})");
  put("/db/arbiter/upgrades/7.3.1/dc1-log-1", "");
  blocks();
  clock->advance(65s);
  EXPECT_EQ(titles(), "Lock; Instances; Sets; Claims; Deny list; Moves of scopes; Upgrades; ");
  EXPECT_EQ(block("Lock").dump(),
            R"({"epoch":1,"expires when unchanged for":"10m0s","holder":"dc1","renewed":"1m5s ago",)"
            R"("taken":"1m5s ago","unchanged for":"1m5s"})");
  EXPECT_EQ(block("Claims")["rows"].dump(), R"([["restart","executing","dc2",7,48,"1m5s ago","killed"]])");
  EXPECT_EQ(block("Deny list")["rows"].dump(), R"([["dc3","coordctl","1m5s ago","drill"]])");
  EXPECT_EQ(block("Moves of scopes").dump(), R"({"columns":["from","to"],"rows":[["dc1","unicorn"]]})");
  EXPECT_EQ(block("Upgrades").dump(), R"({"columns":["to version","units"],"rows":[["7.3.1",1]]})");
  lock.release();
  EXPECT_EQ(block("Lock").dump(), R"({"epoch":1,"holder":"free"})");
}

TEST_F(OverviewSection, ShowsWhatCannotBeRead) {
  put("/db/arbiter/lock", "?");
  put("/db/processAddresses/dc1/dc1-log-1", "{}");
  EXPECT_EQ(block("Lock").dump(), R"({"holder":"cannot be read"})");
  EXPECT_EQ(block("Warnings")[0], Json("cannot be read: /db/processAddresses/dc1/dc1-log-1: expected array, "
                                       "found object"));
  for (int at = 0; at < 30; ++at) put("/db/processAddresses/dc1/log-" + std::to_string(at), "{}");
  EXPECT_EQ(block("Warnings").size(), 21U);
  EXPECT_EQ(block("Warnings")[20], Json("and 12 more"));
}

TEST_F(OverviewSection, CountsWhatItLeavesOut) {
  for (int scope = 0; scope < 150; ++scope) {
    for (int unit = 0; unit < 7; ++unit) {
      const std::string name = "dc" + std::to_string(1000 + scope);
      add("pendingForRestart", name, name + "-" + std::to_string(unit));
      add("readyForRestart", name, name + "-0");
    }
  }
  const Json sets = block("Sets");
  EXPECT_EQ(sets["rows"].size(), 100U);
  EXPECT_EQ(sets["more"], Json("and 50 more"));
  EXPECT_EQ(sets["rows"][0][4], Json("dc1000-0, dc1000-1, dc1000-2, dc1000-3, dc1000-4 and 2 more"));
  EXPECT_EQ(sets["rows"][0][5], Json("dc1000-1, dc1000-2, dc1000-3, dc1000-4, dc1000-5 and 1 more"));
  EXPECT_EQ(block("Instances")["more"], Json("and 50 more"));
}

TEST_F(OverviewSection, CutsOffLongTextsBetweenCharacters) {
  std::string name;
  while (name.size() < 3000) name += "\u20ac";
  DenyList(store, layout, name, transact()).apply({{name}}, name);
  add("pendingForRestart", name, name);
  std::string cut;
  while (cut.size() < 240) cut += "\u20ac";
  EXPECT_EQ(block("Deny list")["rows"][0][3], Json(cut + "\u2026"));
  EXPECT_EQ(block("Sets")["rows"][0][4], Json(cut.substr(0, 39) + "\u2026"));
  EXPECT_EQ(detail::shortened("abcd", 4), "abcd");
}

// Everything at once, as much as there may be of it, and each text long and full of markup.
TEST_F(OverviewSection, IsBoundedWhateverTheStoreHas) {
  const std::string markup(1000, '<');
  for (int at = 0; at < 110; ++at) {
    const std::string name = std::to_string(at) + markup;
    add("pendingFor" + name, name, name);
    DenyList(store, layout, name, transact()).apply({{name}}, markup);
    put(layout.claim(name),
        encode(ClaimRecord{.owner = {name, name, name}, .timeout = 2min, .note = markup}));
    put(layout.instance(name), encode(InstanceRecord{.instance = name, .incarnation = name}));
    put(layout.migrating(name), Json::object({{"to", name}}).dump());
    put(layout.upgrade(name, name), "");
    put(layout.facts(name, name), "{}");
  }
  EXPECT_LT(blocks().dump().size(), 1U << 20U);
}

TEST_F(OverviewSection, ReadsNoMoreThanItMay) {
  put("/db/instances/dc1", "12345");  // 22 bytes
  const std::unique_ptr<StoreSnapshot> inner = store.snapshot();
  EXPECT_NO_THROW(detail::BoundedSnapshot(*inner, 22).scan_all(prefix_range("/db/")));
  detail::BoundedSnapshot bounded(*inner, 43);
  EXPECT_EQ(bounded.version(), inner->version());
  EXPECT_EQ(bounded.get("/db/nothing"), std::nullopt);
  EXPECT_EQ(bounded.get("/db/instances/dc1")->value, "12345");
  try {
    bounded.scan_all(prefix_range("/db/"));
    ADD_FAILURE() << "read too much";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the store has more than 43 bytes of keys and values, which is too much for a section of "
                 "the console");
  }
}

}  // namespace
}  // namespace evenkeel::coordination::overview_section_tests
