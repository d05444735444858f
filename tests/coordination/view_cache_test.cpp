// SPDX-License-Identifier: Apache-2.0
// The keys that a view reads again, and the completeness of views from the cache.
#include <chrono>
#include <memory>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include <evenkeel/coordination/ledger.hpp>
#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/testing/faulty_store.hpp>

namespace evenkeel::coordination {
namespace {

using namespace std::chrono_literals;

LedgerOptions options(const std::string& scope) {
  LedgerOptions options;
  options.domain = {.root = "/db", .actions = {"restart"}};
  options.identity = {scope, "uid-" + scope, "run-1"};
  options.transact.delay = 0s;
  options.clock = std::make_shared<ManualClock>();
  return options;
}

class ViewCacheTest : public ::testing::Test {
 protected:
  ViewCacheTest() {
    for (const char* scope : {"dc1", "dc2", "dc3", "dc4"}) {
      publish(scope, 50);
    }
  }

  void publish(const std::string& scope, int units) {
    Ledger ledger(store, options(scope));
    ASSERT_TRUE(ledger
                    .publish([units](const OwnState&) {
                      DesiredState desired;
                      for (int unit = 0; unit < units; ++unit)
                        desired.add("pendingForRestart", "log-" + std::to_string(unit), "log");
                      return desired;
                    })
                    .done());
  }
  std::size_t members() { return reader.view("restart").pending.size(); }
  std::size_t bytes_of_a_view() {
    const std::size_t before = counted.counts().read_bytes;
    members();
    return counted.counts().read_bytes - before;
  }

  const std::shared_ptr<MemoryStore> shared = std::make_shared<MemoryStore>();
  MemoryStore& store = *shared;
  testing::FaultyStore counted{shared};
  Ledger reader{counted, options("reader")};
};

TEST_F(ViewCacheTest, ReadsMembersOnce) {
  const std::size_t first = bytes_of_a_view();
  const std::size_t again = bytes_of_a_view();
  EXPECT_LT(again * 5, first) << first << " bytes at first, " << again << " again";
}

TEST_F(ViewCacheTest, ReadsTheScopeThatChangedAndNoOther) {
  const std::size_t first = bytes_of_a_view();
  publish("dc3", 51);
  const std::size_t then = bytes_of_a_view();
  EXPECT_LT(then * 2, first) << first << " bytes at first, " << then << " after one of four changed";
  EXPECT_EQ(members(), 201U);
}

TEST_F(ViewCacheTest, SeesScopesThatCameAndMembersThatWent) {
  EXPECT_EQ(members(), 200U);
  publish("dc2", 0);
  EXPECT_EQ(members(), 150U);
  publish("dc5", 3);
  EXPECT_EQ(members(), 153U);
  publish("dc2", 2);
  EXPECT_EQ(members(), 155U);
}

// The effect of a move: the guard of the old scope is erased, and that of the new one is written.
TEST_F(ViewCacheTest, ForgetsAScopeWhoseGuardIsGone) {
  EXPECT_EQ(members(), 200U);
  const Layout layout("/db");
  Commit commit;
  commit.range_erases.push_back(prefix_range(layout.scope_prefix("pendingForRestart", "dc4")));
  commit.erases.push_back(layout.guard("pendingForRestart", "dc4"));
  commit.puts.push_back({layout.member("pendingForRestart", "unicorn", "log-1"), R"({"kind":"log","at":1})"});
  commit.puts.push_back({layout.guard("pendingForRestart", "unicorn"), "{}"});
  ASSERT_TRUE(std::holds_alternative<Committed>(store.commit(commit)));
  EXPECT_EQ(members(), 151U);
}

// Whatever has changed since the last read: otherwise the targets of a claim would depend on it.
TEST_F(ViewCacheTest, LeavesOutAScopeWithoutAGuardAtEachRead) {
  store.commit({.puts = {{"/db/pendingForRestart/stray/log-1", "{}"}}});
  EXPECT_EQ(members(), 200U) << "at first";
  EXPECT_EQ(members(), 200U) << "from the cache";
  publish("dc1", 49);
  EXPECT_EQ(members(), 199U) << "one scope was read again";
  for (const char* scope : {"dc1", "dc2", "dc3"}) publish(scope, 48);
  EXPECT_EQ(members(), 194U) << "most were";
}

// Keys that this library does not write: layouts refuse an empty scope.
TEST_F(ViewCacheTest, SurvivesAGuardWithoutAScope) {
  store.commit({.puts = {{"/db/guard/pendingForRestart/", "{}"}}});
  EXPECT_EQ(members(), 200U);
  EXPECT_EQ(members(), 200U);
  EXPECT_NO_THROW(reader.summary("restart"));
}

// A store that was restored from a backup: a guard has a cached version, but other members.
TEST(ViewCacheRestored, ForgetsEverythingWhenVersionsGoBack) {
  const Layout layout("/db");
  const auto with = [&layout](const std::string& unit) {
    Commit commit;
    commit.puts.push_back({layout.member("pendingForRestart", "dc1", unit), "{}"});
    commit.puts.push_back({layout.guard("pendingForRestart", "dc1"), "{}"});
    return commit;
  };
  MemoryStore before;
  before.commit(with("log-1"));
  before.commit({.puts = {{"/db/later", ""}}});
  MemoryStore after;
  after.commit(with("log-2"));
  ViewCache cache;
  const auto read = [&](MemoryStore& store) {
    const auto snapshot = store.snapshot();
    const auto guards = snapshot->scan_all(prefix_range(layout.guard_prefix("pendingForRestart")));
    return cache.read(*snapshot, layout, "pendingForRestart", guards).at(0).key;
  };
  const std::string member_before = layout.member("pendingForRestart", "dc1", "log-1");
  EXPECT_EQ(read(before), member_before);
  EXPECT_EQ(read(before), member_before);
  EXPECT_EQ(read(after), layout.member("pendingForRestart", "dc1", "log-2"));
}

}  // namespace
}  // namespace evenkeel::coordination
