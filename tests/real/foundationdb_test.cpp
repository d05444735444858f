// SPDX-License-Identifier: Apache-2.0
// FoundationDbStore on real clusters of one server and of three: the store suite, the cases that its unit
// tests run on a double, the simulation's histories, and servers that are killed or stand still while clients
// write and watch.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#define FDB_API_VERSION 710
#include <foundationdb/fdb_c.h>

#include <evenkeel/coordination/foundationdb_store.hpp>
#include <evenkeel/coordination/store_url.hpp>
#include <evenkeel/coordination/transact.hpp>

#include "../coordination/foundationdb_cases.hpp"
#include "../coordination/foundationdb_network.hpp"
#include "../coordination/history_replay.hpp"
#include "../coordination/store_suite.hpp"
#include "real_foundationdb.hpp"

namespace evenkeel::tests {
namespace {

using namespace std::chrono_literals;
using coordination::Commit;
using coordination::CommitResult;
using coordination::Committed;
using coordination::FoundationDbStore;
using coordination::FoundationDbStoreOptions;
using coordination::Store;
using coordination::Unknown;

/// The clusters of this program, which end before the network does.
class Clusters final : public ::testing::Environment {
 public:
  void TearDown() override {
    one().reset();
    three().reset();
  }
  static std::unique_ptr<RealFoundationDb>& one() {
    static std::unique_ptr<RealFoundationDb> cluster;
    return cluster;
  }
  static std::unique_ptr<RealFoundationDb>& three() {
    static std::unique_ptr<RealFoundationDb> cluster;
    return cluster;
  }
};
[[maybe_unused]] ::testing::Environment* const clusters = ::testing::AddGlobalTestEnvironment(new Clusters);

RealFoundationDb& one() {
  if (!Clusters::one()) Clusters::one() = std::make_unique<RealFoundationDb>(1);
  return *Clusters::one();
}
RealFoundationDb& three() {
  if (!Clusters::three()) Clusters::three() = std::make_unique<RealFoundationDb>(3);
  return *Clusters::three();
}

std::shared_ptr<FoundationDbStore> open(FoundationDbStoreOptions options) {
  return std::make_shared<FoundationDbStore>(FdbNetworkEnvironment::network(), std::move(options));
}

// ---- The suite ----

std::shared_ptr<Store> open_unreachable(const std::string&) {
  const std::string file = ::testing::TempDir() + "nobody-" + std::to_string(::getpid()) + ".cluster";
  std::ofstream(file) << "nobody:nobody@127.0.0.1:1\n";
  return open({.cluster_file = file, .timeout = 1s});
}

StoreProfile profile(std::string name, RealFoundationDb& (*cluster)()) {
  return {.name = std::move(name),
          .open = [cluster](const std::string& root) -> std::shared_ptr<Store> {
            return open({.cluster_file = cluster().cluster_file(), .root = root});
          },
          .open_unreachable = open_unreachable,
          .exact_conflicts = false};
}

const auto profiles = ::testing::Values(profile("OneServer", one), profile("ThreeServers", three));

struct ByName {
  template <class Info>
  std::string operator()(const Info& info) const {
    return info.param.name;
  }
};
INSTANTIATE_TEST_SUITE_P(FoundationDb, StoreSuite, profiles, ByName());
INSTANTIATE_TEST_SUITE_P(FoundationDb, StoreSuiteConcurrency, profiles, ByName());

// ---- The cases of the double ----

/// Waits until a snapshot of now is too old to be read from any server: until 20 reads in a row are refused.
/// Versions grow with commits; those here are of a key that no case reads.
void wait_for_age(const std::string& file) {
  const auto store = open({.cluster_file = file, .timeout = 1min});
  const auto old = store->snapshot();
  int times = 0;
  int refused = 0;
  await("a snapshot expires", [&] {
    store->commit({.puts = {{"age", ""}}});
    try {
      static_cast<void>(old->get("age" + std::to_string(++times)));  // a key that was read is cached
      refused = 0;
    } catch (const coordination::SnapshotExpired&) {
      ++refused;
    }
    return refused == 20;
  });
}

/// Writes the system key by which "fdbcli lock" locks the database, or removes it.
void set_locked(const std::string& file, bool locked) {
  const std::string key = "\xff/dbLocked";
  const std::string value(26, '1');  // a versionstamp and the id of the lock
  const auto bytes = [](const std::string& text) {
    return reinterpret_cast<const std::uint8_t*>(text.data());
  };
  FDBDatabase* database = nullptr;
  FDBTransaction* transaction = nullptr;
  ASSERT_EQ(fdb_create_database(file.c_str(), &database), 0);
  ASSERT_EQ(fdb_database_create_transaction(database, &transaction), 0);
  for (const FDBTransactionOption option : {FDB_TR_OPTION_ACCESS_SYSTEM_KEYS, FDB_TR_OPTION_LOCK_AWARE}) {
    ASSERT_EQ(fdb_transaction_set_option(transaction, option, nullptr, 0), 0);
  }
  if (locked) {
    fdb_transaction_set(transaction, bytes(key), static_cast<int>(key.size()), bytes(value),
                        static_cast<int>(value.size()));
  } else {
    fdb_transaction_clear(transaction, bytes(key), static_cast<int>(key.size()));
  }
  FDBFuture* future = fdb_transaction_commit(transaction);
  EXPECT_EQ(fdb_future_block_until_ready(future), 0);
  EXPECT_EQ(fdb_future_get_error(future), 0);
  fdb_future_destroy(future);
  fdb_transaction_destroy(transaction);
  fdb_database_destroy(database);
}

FoundationDbCluster cases_on(std::string name, RealFoundationDb& (*cluster)()) {
  return {.name = std::move(name),
          .cluster_file = [cluster](const std::string&) { return cluster().cluster_file(); },
          .age = wait_for_age,
          .lock = set_locked};
}
INSTANTIATE_TEST_SUITE_P(FoundationDb, FoundationDbCases,
                         ::testing::Values(cases_on("OneServer", one), cases_on("ThreeServers", three)),
                         ByName());

// ---- Histories ----

TEST(FoundationDbSimulation, HistoriesGoAsInMemory) {
  const std::string file = one().cluster_file();
  replay_histories([&](const std::string& root) { return open({.cluster_file = file, .root = root}); }, 6);
}

// ---- Servers that fail ----

/// Writers that each add to one counter with its old value as the condition.
class Load {
 public:
  Load(std::string cluster_file, std::string root, int writers) {
    for (int i = 0; i < writers; ++i) {
      const auto store = open({.cluster_file = cluster_file, .root = root, .timeout = 5s});
      threads_.emplace_back([this, store, key = root + "/counter"](const std::stop_token& stop) {
        while (!stop.stop_requested()) add_one(*store, key, stop);
      });
    }
  }

  int committed() const { return committed_; }
  int unknown() const { return unknown_; }
  void end() { threads_.clear(); }

 private:
  void add_one(Store& store, const std::string& key, const std::stop_token& stop) {
    try {
      const auto snapshot = store.snapshot(stop);
      const auto entry = snapshot->get(key);
      const int old = entry ? std::stoi(entry->value) : 0;
      const CommitResult result = store.commit({.read_version = snapshot->version(),
                                                .reads = {{key, entry ? entry->version : 0}},
                                                .puts = {{key, std::to_string(old + 1)}}},
                                               stop);
      if (std::holds_alternative<Committed>(result)) ++committed_;
      if (std::holds_alternative<Unknown>(result)) ++unknown_;
    } catch (const Error&) {
      // Unavailable: nothing was written.
    }
  }

  std::atomic<int> committed_ = 0;
  std::atomic<int> unknown_ = 0;
  std::vector<std::jthread> threads_;
};

class FoundationDbFailures : public ::testing::Test {
 protected:
  /// Others use the cluster as well.
  void TearDown() override { three().wait_until_settled(); }

  /// Does `harm` under load, waits for 20 commits after it, and compares the counter with the results.
  template <class Harm, class Repair>
  void survives(const std::string& root, Harm harm, Repair repair) {
    const std::string file = three().cluster_file();
    Load load(file, root, 3);
    const auto wait_for_commits = [&](int more) {
      const int wanted = load.committed() + more;
      await("commits of the load", [&] { return load.committed() >= wanted; });
    };
    wait_for_commits(20);
    harm();
    wait_for_commits(20);
    repair();
    wait_for_commits(20);
    load.end();
    three().wait_until_available();
    const auto entry = open({.cluster_file = file})->snapshot()->get(root + "/counter");
    ASSERT_TRUE(entry);
    EXPECT_GE(std::stoi(entry->value), load.committed());
    EXPECT_LE(std::stoi(entry->value), load.committed() + load.unknown());
    std::printf("%d committed, %d unknown, the counter is %s\n", load.committed(), load.unknown(),
                entry->value.c_str());
  }
};

TEST_F(FoundationDbFailures, AKilledServerLosesNoCommit) {
  for (std::size_t server = 0; server < three().servers(); ++server) {
    SCOPED_TRACE(server);
    survives(
        "/killed" + std::to_string(server), [&] { three().kill(server); }, [&] { three().start(server); });
  }
}

// A watch that lost its database is set again, and gives a hint for what was changed after that.
TEST(FoundationDbWatch, IsRetriedAfterTheServerWentAway) {
  RealFoundationDb cluster(1);
  const auto store = open({.cluster_file = cluster.cluster_file(), .root = "/watched", .timeout = 5s});
  std::atomic<int> hints = 0;
  const auto watch = store->watch(coordination::prefix_range("/watched/"), [&hints] { ++hints; });
  const auto hint_after_a_commit = [&](const std::string& value) {
    const int before = hints;
    await("a hint of " + value, [&] {
      store->commit({.puts = {{"/watched/a", value}}});
      return hints > before;
    });
  };
  hint_after_a_commit("1");
  cluster.kill(0);
  EXPECT_FALSE(std::holds_alternative<Committed>(store->commit({.puts = {{"/watched/a", "2"}}})));
  cluster.start(0);
  cluster.wait_until_available();
  hint_after_a_commit("3");
}

TEST_F(FoundationDbFailures, AServerThatStandsStillLosesNoCommit) {
  for (std::size_t server = 0; server < three().servers(); ++server) {
    SCOPED_TRACE(server);
    survives(
        "/stopped" + std::to_string(server), [&] { three().stop(server); }, [&] { three().go_on(server); });
  }
}

}  // namespace
}  // namespace evenkeel::tests
