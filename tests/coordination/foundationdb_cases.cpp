// SPDX-License-Identifier: Apache-2.0
#include "foundationdb_cases.hpp"

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#define FDB_API_VERSION 710
#include <foundationdb/fdb_c.h>

#include <evenkeel/coordination/store_url.hpp>

#include "../support/temporary_directory.hpp"
#include "foundationdb_network.hpp"

namespace evenkeel::tests {
namespace {

using namespace std::chrono_literals;
using coordination::Commit;
using coordination::CommitResult;
using coordination::FoundationDbStoreOptions;
using coordination::prefix_range;
using coordination::Version;

/// Runs a transaction of the C API.
void run_transaction(const std::string& file, const std::function<void(FDBTransaction*)>& body) {
  FDBDatabase* database = nullptr;
  FDBTransaction* transaction = nullptr;
  ASSERT_EQ(fdb_create_database(file.c_str(), &database), 0);
  ASSERT_EQ(fdb_database_create_transaction(database, &transaction), 0);
  body(transaction);
  FDBFuture* future = fdb_transaction_commit(transaction);
  EXPECT_EQ(fdb_future_block_until_ready(future), 0);
  EXPECT_EQ(fdb_future_get_error(future), 0);
  fdb_future_destroy(future);
  fdb_transaction_destroy(transaction);
  fdb_database_destroy(database);
}

const std::uint8_t* bytes(const std::string& text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

}  // namespace

void FoundationDbCases::SetUp() {
  const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
  file_ = GetParam().cluster_file(test.name());
  store_ = open();
  const CommitResult empty =
      store_->commit({.range_erases = {{"", ""}, prefix_range("\xff\x02/org"), prefix_range("\xff\x02/db")}});
  ASSERT_TRUE(committed(empty)) << describe(empty);
}

void FoundationDbCases::TearDown() {
  GetParam().lock(file_, false);
}

std::shared_ptr<coordination::FoundationDbStore> FoundationDbCases::open(
    FoundationDbStoreOptions options) const {
  options.cluster_file = file_;
  return std::make_shared<coordination::FoundationDbStore>(FdbNetworkEnvironment::network(),
                                                           std::move(options));
}

void FoundationDbCases::put_foreign(const std::string& key, const std::string& value) const {
  run_transaction(file_, [&](FDBTransaction* transaction) {
    fdb_transaction_set(transaction, bytes(key), static_cast<int>(key.size()), bytes(value),
                        static_cast<int>(value.size()));
  });
}

namespace {

// A process has one network, and one API version.
TEST_P(FoundationDbCases, TheNetworkStartsOnce) {
  EXPECT_THROW(coordination::FoundationDbNetwork(), coordination::StoreUnavailable);
}

TEST_P(FoundationDbCases, NeedsAClusterFileAndATimeout) {
  const auto open_file = [](const std::string& file) {
    return std::make_shared<coordination::FoundationDbStore>(FdbNetworkEnvironment::network(),
                                                             FoundationDbStoreOptions{.cluster_file = file});
  };
  const auto error_of = [](const std::function<void()>& call) -> std::string {
    try {
      call();
    } catch (const coordination::StoreUnavailable& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(error_of([&] { open_file("/nowhere/fdb.cluster"); }),
            "FoundationDB: cannot read the cluster file /nowhere/fdb.cluster");
  const TemporaryDirectory folder;
  const std::string other = folder.path / "other.cluster";
  std::ofstream(other) << "not a cluster file\n";
  EXPECT_EQ(error_of([store = open_file(other)] { store->snapshot(); }), "Connection string invalid");
  EXPECT_THROW(open({.timeout = 0ms}), std::invalid_argument);
  EXPECT_EQ(store_->name(), "foundationdb " + file_);
}

// Snapshots of decisions must be recent: five seconds.
TEST_P(FoundationDbCases, WhatIsOlderThanFiveSecondsIsNotDecidedUpon) {
  ASSERT_TRUE(committed(store_->commit({.puts = {{"/a", "1"}}})));
  const auto old = store_->snapshot();
  const auto entry = old->get("/a");
  ASSERT_TRUE(entry);
  GetParam().age(file_);
  EXPECT_THROW(old->get("/c"), coordination::SnapshotExpired) << "not read before, so not cached";
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
TEST_P(FoundationDbCases, ASnapshotOfNoVersionOfItsIsAConflict) {
  for (const Version version : {Version{0}, store_->snapshot()->version() + 1'000'000'000}) {
    const Commit wanted{.read_version = version, .read_ranges = {prefix_range("/")}, .puts = {{"/b", "1"}}};
    EXPECT_EQ(describe(store_->commit(wanted)), "conflict at /") << version;
  }
  EXPECT_EQ(value_of("/b"), "absent");
}

// The default prefix of FoundationDB's operator.
TEST_P(FoundationDbCases, KeysOfItsLayersAreTheUsersToo) {
  const std::string key = "\xff\x02/org.foundationdb.kubernetes-operator/global";
  EXPECT_TRUE(committed(store_->commit({.puts = {{key, "1"}, {"/a", "2"}}})));
  EXPECT_EQ(store_->snapshot()->get(key)->value, "1");
  EXPECT_EQ(store_->snapshot()->scan_all(prefix_range("\xff\x02/org")).size(), 1U);
  EXPECT_EQ(store_->snapshot()->scan_all({"", ""}).size(), 1U) << "a range without end stays among its kind";
}

TEST_P(FoundationDbCases, RefusesAllOtherKeysOfTheSystem) {
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

TEST_P(FoundationDbCases, OpensByAUrl) {
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
                                "...: after the cluster file only ?root=ROOT is allowed; the form is "
                                "fdb://CLUSTER_FILE[?root=ROOT]");
  }
}

TEST_P(FoundationDbCases, WithoutARootItHasNoWatch) {
  EXPECT_FALSE(store_->capabilities().watch);
  EXPECT_EQ(store_->watch(prefix_range("/"), [] {}), nullptr);
  EXPECT_TRUE(open({.root = "/db"})->capabilities().watch);
}

TEST_P(FoundationDbCases, TheKeyOfItsWatchLiesOutsideOfTheRoot) {
  const auto rooted = open({.root = "/db"});
  EXPECT_TRUE(committed(rooted->commit({.puts = {{"/db/a", "1"}}})));
  EXPECT_EQ(rooted->snapshot()->scan_all(prefix_range("/db/")).size(), 1U);
  EXPECT_EQ(value_of("/db#changes"), "");
}

TEST_P(FoundationDbCases, ALockedDatabaseIsUnavailableToAllButThoseWhoKnow) {
  GetParam().lock(file_, true);
  EXPECT_THROW(store_->snapshot(), coordination::StoreUnavailable);
  EXPECT_EQ(describe(store_->commit({.puts = {{"/a", "1"}}})), "unavailable: Database is locked");
  const auto aware = open({.lock_aware = true});
  EXPECT_TRUE(committed(aware->commit({.puts = {{"/a", "1"}}})));
  EXPECT_EQ(aware->snapshot()->get("/a")->value, "1");
}

TEST_P(FoundationDbCases, AValueOfAnotherProgramIsNoEntry) {
  put_foreign("/a", "short");
  EXPECT_THROW(store_->snapshot()->get("/a"), coordination::StoreUnavailable);
  EXPECT_THROW(store_->snapshot()->scan(prefix_range("/")), coordination::StoreUnavailable);
}

// One response of the database holds some 80 kB.
TEST_P(FoundationDbCases, WhatOneAnswerDoesNotHoldComesInPages) {
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
