// SPDX-License-Identifier: Apache-2.0
// Features of the FoundationDB store: its errors, its five seconds, its system keys. They run on the double
// of its C API; foundationdb_double_suite_test.cpp has the tests of every store.
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#define FDB_API_VERSION 710
#include <foundationdb/fdb_c.h>

#include <evenkeel/coordination/store_url.hpp>
#include <evenkeel/coordination/transact.hpp>

#include "../support/eventually.hpp"
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
using coordination::prefix_range;
using coordination::StoreSnapshot;
using coordination::TooLarge;
using coordination::transact;
using coordination::Transacted;
using coordination::Unavailable;
using coordination::Unknown;
using coordination::Version;
using fdb_double::CommitFault;

bool committed(const CommitResult& result) {
  return std::holds_alternative<Committed>(result);
}

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
  /// Writes a value that this store did not write, as another program would.
  void put_foreign(const std::string& key, const std::string& value) const;

  const std::string file_ = cluster_file(::testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::shared_ptr<FoundationDbStore> store_ = open();
  const std::shared_ptr<fdb_double::Cluster> cluster_ = fdb_double::cluster_of(file_);
};

void FoundationDbStoreTest::put_foreign(const std::string& key, const std::string& value) const {
  FDBDatabase* database = nullptr;
  FDBTransaction* transaction = nullptr;
  ASSERT_EQ(fdb_create_database(file_.c_str(), &database), 0);
  ASSERT_EQ(fdb_database_create_transaction(database, &transaction), 0);
  const auto bytes = [](const std::string& text) {
    return reinterpret_cast<const std::uint8_t*>(text.data());
  };
  fdb_transaction_set(transaction, bytes(key), static_cast<int>(key.size()), bytes(value),
                      static_cast<int>(value.size()));
  FDBFuture* future = fdb_transaction_commit(transaction);
  EXPECT_EQ(fdb_future_block_until_ready(future), 0);
  EXPECT_EQ(fdb_future_get_error(future), 0);
  fdb_future_destroy(future);
  fdb_transaction_destroy(transaction);
  fdb_database_destroy(database);
}

/// Adds one to the number at /n.
Commit increment(StoreSnapshot& snapshot) {
  const auto entry = snapshot.get("/n");
  return {.reads = {{"/n", entry ? entry->version : 0}},
          .puts = {{"/n", std::to_string(entry ? std::stoi(entry->value) + 1 : 1)}}};
}

// A process has one network, and one API version.
TEST_F(FoundationDbStoreTest, TheNetworkStartsOnce) {
  EXPECT_THROW(coordination::FoundationDbNetwork(), coordination::StoreUnavailable);
}

TEST_F(FoundationDbStoreTest, NeedsAClusterFileAndATimeout) {
  EXPECT_THROW(open_foundationdb({.cluster_file = "/nowhere/fdb.cluster"}), coordination::StoreUnavailable);
  EXPECT_THROW(open({.timeout = 0ms}), std::invalid_argument);
  EXPECT_EQ(store_->name(), "foundationdb " + file_);
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
  EXPECT_EQ(describe(result), "unknown: transaction_timed_out");
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
    eventually("the commit is on its way", [this] { return cluster_->held() == 1; });
    stop.request_stop();
  }
  EXPECT_EQ(describe(result), "unknown: transaction_cancelled");
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
  eventually("a read has begun", [&] { return asked.load(); });
  stop.request_stop();
}

TEST_F(FoundationDbStoreTest, AConflictThatOnlyTheDatabaseSawNamesTheFirstCondition) {
  cluster_->script({CommitFault::conflict});
  const CommitResult result = store_->commit({.reads = {{"/a", 0}, {"/b", 0}}, .puts = {{"/c", "1"}}});
  ASSERT_TRUE(std::holds_alternative<Conflict>(result)) << describe(result);
  EXPECT_EQ(std::get<Conflict>(result).key, "/a");
  EXPECT_EQ(value_of("/c"), "absent");
}

// Snapshots of decisions must be recent: five seconds.
TEST_F(FoundationDbStoreTest, WhatIsOlderThanFiveSecondsIsNotDecidedUpon) {
  ASSERT_TRUE(committed(store_->commit({.puts = {{"/a", "1"}}})));
  const auto old = store_->snapshot();
  const auto entry = old->get("/a");
  ASSERT_TRUE(entry);
  cluster_->advance(5'000'001);
  EXPECT_THROW(old->get("/a"), coordination::SnapshotExpired);
  EXPECT_THROW(old->scan(prefix_range("/")), coordination::SnapshotExpired);
  const Commit on_range{
      .read_version = old->version(), .read_ranges = {prefix_range("/")}, .puts = {{"/b", "1"}}};
  EXPECT_EQ(describe(store_->commit(on_range)), "conflict at /");
  // A condition on an unchanged key does not need a recent snapshot.
  const Commit on_key{
      .read_version = old->version(), .reads = {{"/a", entry->version}}, .puts = {{"/b", "1"}}};
  EXPECT_TRUE(committed(store_->commit(on_key)));
}

// A version that this database has not reached, as after a restore, or 0, is not a snapshot of this database.
TEST_F(FoundationDbStoreTest, ASnapshotOfNoVersionOfItsIsAConflict) {
  for (const Version version : {Version{0}, store_->snapshot()->version() + 1'000'000'000}) {
    const Commit wanted{.read_version = version, .read_ranges = {prefix_range("/")}, .puts = {{"/b", "1"}}};
    EXPECT_EQ(describe(store_->commit(wanted)), "conflict at /") << version;
  }
  EXPECT_EQ(value_of("/b"), "absent");
}

TEST_F(FoundationDbStoreTest, WhatTheDatabaseFindsTooLargeIsTooLarge) {
  cluster_->set_size_limit(100);
  const CommitResult result = store_->commit({.puts = {{"/a", std::string(100, 'x')}}});
  ASSERT_TRUE(std::holds_alternative<TooLarge>(result)) << describe(result);
  EXPECT_EQ(std::get<TooLarge>(result).limit, "commit_bytes");
  EXPECT_EQ(value_of("/a"), "absent");
}

// The default prefix of FoundationDB's operator.
TEST_F(FoundationDbStoreTest, KeysOfItsLayersAreTheUsersToo) {
  const std::string key = "\xff\x02/org.foundationdb.kubernetes-operator/global";
  EXPECT_TRUE(committed(store_->commit({.puts = {{key, "1"}, {"/a", "2"}}})));
  EXPECT_EQ(store_->snapshot()->get(key)->value, "1");
  EXPECT_EQ(store_->snapshot()->scan_all({"\xff\x02", ""}).size(), 1U);
  EXPECT_EQ(store_->snapshot()->scan_all({"", ""}).size(), 1U) << "a range without end stays among its kind";
}

TEST_F(FoundationDbStoreTest, RefusesAllOtherKeysOfTheSystem) {
  for (const char* key : {"\xff", "\xff/conf/x", "\xff\x01", "\xff\x03", "\xff\xff/status/json"}) {
    EXPECT_THROW(store_->snapshot()->get(key), std::invalid_argument) << key;
    EXPECT_THROW(store_->commit({.puts = {{key, "1"}}}), std::invalid_argument) << key;
    EXPECT_THROW(store_->commit({.erases = {key}}), std::invalid_argument) << key;
    EXPECT_THROW(store_->commit({.reads = {{key, 0}}}), std::invalid_argument) << key;
  }
  EXPECT_THROW(store_->commit({.range_erases = {{"a", "\xff\x01"}}}), std::invalid_argument);
  EXPECT_THROW(store_->commit({.range_erases = {{"\xff\x02", "\xff\x04"}}}), std::invalid_argument);
  EXPECT_THROW(store_->snapshot()->scan({"\xff/conf", ""}), std::invalid_argument);
}

TEST_F(FoundationDbStoreTest, OpensByAUrl) {
  const auto opened = [](const std::string& url, const std::string& root) {
    return coordination::open_store(url,
                                    {.root = root, .schemes = {FdbNetworkEnvironment::network().scheme()}});
  };
  EXPECT_EQ(opened("fdb://" + file_, "")->name(), "foundationdb " + file_);
  EXPECT_FALSE(opened("fdb://" + file_, "")->capabilities().watch);
  EXPECT_TRUE(opened("fdb://" + file_, "/db")->capabilities().watch);
  const auto of_layers = opened("fdb://" + file_ + "?root=%FF%02/db", "/db");
  EXPECT_TRUE(committed(of_layers->commit({.puts = {{"\xff\x02/db/a", "1"}}})));
  EXPECT_EQ(value_of("\xff\x02/db#changes"), "");
  EXPECT_EQ(value_of("/db#changes"), "absent");
  try {
    opened("fdb://" + file_ + "?reed=/db", "");
    ADD_FAILURE();
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(error.what(), "fdb://" + file_ +
                                "?reed=/db: after the cluster file only ?root=ROOT is allowed; the form is "
                                "fdb://CLUSTER_FILE[?root=ROOT]");
  }
}

TEST_F(FoundationDbStoreTest, WithoutARootItHasNoWatch) {
  EXPECT_FALSE(store_->capabilities().watch);
  EXPECT_EQ(store_->watch(prefix_range("/"), [] {}), nullptr);
  EXPECT_TRUE(open({.root = "/db"})->capabilities().watch);
}

TEST_F(FoundationDbStoreTest, TheKeyOfItsWatchLiesOutsideOfTheRoot) {
  const auto rooted = open({.root = "/db"});
  EXPECT_TRUE(committed(rooted->commit({.puts = {{"/db/a", "1"}}})));
  EXPECT_EQ(rooted->snapshot()->scan_all(prefix_range("/db/")).size(), 1U);
  EXPECT_EQ(value_of("/db#changes"), "");
}

TEST_F(FoundationDbStoreTest, ALockedDatabaseIsUnavailableToAllButThoseWhoKnow) {
  cluster_->set_locked(true);
  EXPECT_THROW(store_->snapshot(), coordination::StoreUnavailable);
  EXPECT_EQ(describe(store_->commit({.puts = {{"/a", "1"}}})), "unavailable: database_locked");
  const auto aware = open({.lock_aware = true});
  EXPECT_TRUE(committed(aware->commit({.puts = {{"/a", "1"}}})));
  EXPECT_EQ(aware->snapshot()->get("/a")->value, "1");
}

TEST_F(FoundationDbStoreTest, AValueOfAnotherProgramIsNoEntry) {
  put_foreign("/a", "short");
  EXPECT_THROW(store_->snapshot()->get("/a"), coordination::StoreUnavailable);
  EXPECT_THROW(store_->snapshot()->scan(prefix_range("/")), coordination::StoreUnavailable);
}

// One response of the database holds some 80 kB.
TEST_F(FoundationDbStoreTest, WhatOneAnswerDoesNotHoldComesInPages) {
  constexpr int entries = 300;
  Commit wanted;
  for (int i = 0; i < entries; ++i) wanted.puts.push_back({"/" + std::to_string(i), std::string(1000, 'x')});
  ASSERT_TRUE(committed(store_->commit(wanted)));
  const auto snapshot = store_->snapshot();
  const auto page = snapshot->scan(prefix_range("/"));
  EXPECT_LT(page.entries.size(), 100U);
  EXPECT_EQ(page.next, page.entries.back().key + '\0');
  EXPECT_EQ(snapshot->scan_all(prefix_range("/")).size(), static_cast<std::size_t>(entries));
}

}  // namespace
}  // namespace evenkeel::tests
