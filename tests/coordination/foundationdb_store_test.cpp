// SPDX-License-Identifier: Apache-2.0
// The FoundationDB store when commits are lost or late, which only the double of FoundationDB's C API can do
// on demand. foundationdb_cases.cpp has the cases that run on real clusters as well, and
// foundationdb_double_suite_test.cpp the tests of every store.
#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <evenkeel/coordination/transact.hpp>

#include "../support/await.hpp"
#include "foundationdb_double.hpp"

namespace evenkeel::tests {
namespace {

using namespace std::chrono_literals;
using coordination::Commit;
using coordination::CommitResult;
using coordination::Committed;
using coordination::Conflict;
using coordination::FoundationDbStore;
using coordination::FoundationDbStoreOptions;
using coordination::StoreSnapshot;
using coordination::TooLarge;
using coordination::transact;
using coordination::Transacted;
using coordination::Unavailable;
using coordination::Unknown;
using fdb_double::CommitFault;

class FoundationDbStoreTest : public ::testing::Test {
 protected:
  std::shared_ptr<FoundationDbStore> open(FoundationDbStoreOptions options = {}) const {
    options.cluster_file = file_;
    return open_foundationdb(std::move(options));
  }
  std::string value_of(const std::string& key) const {
    const auto entry = store_->snapshot()->get(key);
    return entry ? entry->value : "absent";
  }

  const std::string file_ = cluster_file(::testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::shared_ptr<FoundationDbStore> store_ = open();
  const std::shared_ptr<fdb_double::Cluster> cluster_ = fdb_double::cluster_of(file_);
};

/// Adds one to the number at /n.
Commit increment(StoreSnapshot& snapshot) {
  const auto entry = snapshot.get("/n");
  return {.reads = {{"/n", entry ? entry->version : 0}},
          .puts = {{"/n", std::to_string(entry ? std::stoi(entry->value) + 1 : 1)}}};
}

// 'applied once': commit_unknown_result, whether the commit was applied or not.
TEST_F(FoundationDbStoreTest, UnknownIsNoFailureAndNoSuccess) {
  cluster_->script({CommitFault::unknown_applied, CommitFault::unknown_lost});
  EXPECT_TRUE(std::holds_alternative<Unknown>(store_->commit({.puts = {{"/a", "1"}}})));
  EXPECT_EQ(value_of("/a"), "1");
  EXPECT_TRUE(std::holds_alternative<Unknown>(store_->commit({.puts = {{"/a", "2"}}})));
  EXPECT_EQ(value_of("/a"), "1");
}

TEST_F(FoundationDbStoreTest, TransactFindsOutWhatBecameOfIt) {
  for (const auto& faults :
       std::vector<std::vector<CommitFault>>{{CommitFault::unknown_applied},
                                             {CommitFault::unknown_lost},
                                             {CommitFault::unknown_lost, CommitFault::unknown_applied},
                                             {CommitFault::conflict, CommitFault::unknown_applied}}) {
    const std::string before = value_of("/n");
    cluster_->script(faults);
    const Transacted done = transact(*store_, increment, {.token_key = "/token", .delay = 0ms});
    EXPECT_TRUE(done.committed()) << describe(done.outcome);
    EXPECT_EQ(value_of("/n"), std::to_string(before == "absent" ? 1 : std::stoi(before) + 1));
  }
}

// A transaction that timed out is not covered by commit_unknown_result: it may be applied much later.
TEST_F(FoundationDbStoreTest, WhatTimedOutMayBeAppliedYet) {
  const auto hasty = open({.timeout = 20ms});
  cluster_->script({CommitFault::held});
  const CommitResult result = hasty->commit({.puts = {{"/a", "1"}}});
  EXPECT_EQ(describe(result), "unknown: Operation aborted because the transaction timed out");
  EXPECT_EQ(value_of("/a"), "absent");
  EXPECT_EQ(cluster_->deliver(), 1U);
  EXPECT_EQ(value_of("/a"), "1");
}

// 'applied once': the late commit and the new one have read the same token, so one of them is refused.
TEST_F(FoundationDbStoreTest, WhatIsLateIsRefusedAfterTheNextRun) {
  const auto hasty = open({.timeout = 20ms});
  cluster_->script({CommitFault::held});
  const Transacted done = transact(*hasty, increment, {.token_key = "/token", .delay = 0ms});
  EXPECT_TRUE(done.committed()) << describe(done.outcome);
  EXPECT_EQ(cluster_->held(), 1U);
  EXPECT_EQ(cluster_->deliver(), 0U);
  EXPECT_EQ(value_of("/n"), "1");
}

TEST_F(FoundationDbStoreTest, AStopInTheMiddleOfACommitLeavesItUnknown) {
  cluster_->script({CommitFault::held});
  std::stop_source stop;
  CommitResult result = Committed{};
  {
    const std::jthread committing([&] {
      result = store_->commit({.puts = {{"/a", "1"}}}, stop.get_token());
    });
    await("the commit is on its way", [this] { return cluster_->held() == 1; });
    stop.request_stop();
  }
  EXPECT_EQ(describe(result), "unknown: Operation aborted because the transaction was cancelled");
  EXPECT_EQ(cluster_->deliver(), 1U);
}

// 'no answer, no action'
TEST_F(FoundationDbStoreTest, AStopEndsWhatNobodyAnswers) {
  const auto lonely = open_foundationdb({.cluster_file = cluster_file("lonely", false), .timeout = 60s});
  std::stop_source stop;
  std::atomic<bool> asked = false;
  std::jthread reading([&] {
    asked = true;
    EXPECT_THROW(lonely->snapshot(stop.get_token()), Cancelled);
  });
  std::jthread committing([&] {
    const auto result = lonely->commit({.reads = {{"/a", 0}}, .puts = {{"/a", "1"}}}, stop.get_token());
    EXPECT_TRUE(std::holds_alternative<Unavailable>(result)) << describe(result);
  });
  await("a read has begun", [&] { return asked.load(); });
  stop.request_stop();
}

TEST_F(FoundationDbStoreTest, AConflictThatOnlyTheDatabaseSawNamesTheFirstCondition) {
  cluster_->script({CommitFault::conflict});
  const CommitResult result = store_->commit({.reads = {{"/a", 0}, {"/b", 0}}, .puts = {{"/c", "1"}}});
  ASSERT_TRUE(std::holds_alternative<Conflict>(result)) << describe(result);
  EXPECT_EQ(std::get<Conflict>(result).key, "/a");
  EXPECT_EQ(value_of("/c"), "absent");
}

TEST_F(FoundationDbStoreTest, WhatTheDatabaseFindsTooLargeIsTooLarge) {
  cluster_->set_size_limit(100);
  const CommitResult result = store_->commit({.puts = {{"/a", std::string(100, 'x')}}});
  ASSERT_TRUE(std::holds_alternative<TooLarge>(result)) << describe(result);
  EXPECT_EQ(std::get<TooLarge>(result).limit, "commit_bytes");
  EXPECT_EQ(value_of("/a"), "absent");
}

}  // namespace
}  // namespace evenkeel::tests
