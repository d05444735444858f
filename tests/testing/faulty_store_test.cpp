// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/transact.hpp>
#include <evenkeel/testing/faulty_store.hpp>

namespace evenkeel::testing {
namespace {

using coordination::Commit;
using coordination::MemoryStore;
using coordination::StoreSnapshot;

struct FaultyStoreTest : ::testing::Test {
  std::string put(const std::string& key) { return describe(store.commit({.puts = {{key, "1"}}})); }
  bool has(const std::string& key) const { return memory->snapshot()->get(key).has_value(); }

  const std::shared_ptr<MemoryStore> memory = std::make_shared<MemoryStore>();
  FaultyStore store{memory};
};

TEST_F(FaultyStoreTest, FollowsItsScriptAndThenWorks) {
  store.script(
      {StoreFault::conflict, StoreFault::unknown_applied, StoreFault::unknown_lost, StoreFault::unavailable});
  EXPECT_EQ(put("a"), "conflict at ");
  EXPECT_EQ(put("b"), "unknown: injected: the answer was lost");
  EXPECT_EQ(put("c"), "unknown: injected: the request was lost");
  EXPECT_EQ(put("d"), "unavailable: injected");
  EXPECT_EQ(put("e"), "committed at 2");
  EXPECT_EQ(memory->snapshot()->scan_all(coordination::prefix_range("")).size(), 2u);
  EXPECT_TRUE(has("b"));
}

TEST_F(FaultyStoreTest, DeliversLateCommitsWhoseConditionsHold) {
  store.script({StoreFault::unknown_late, StoreFault::unknown_late});
  store.commit({.reads = {{"a", 0}}, .puts = {{"a", "late"}}});
  store.commit({.puts = {{"b", "late"}}});
  EXPECT_EQ(put("a"), "committed at 1");
  EXPECT_EQ(store.undelivered(), 2u);
  EXPECT_EQ(store.deliver(), 1u);
  EXPECT_EQ(memory->snapshot()->get("a")->value, "1");
  EXPECT_TRUE(has("b"));
}

TEST_F(FaultyStoreTest, IsCutOffAndComesBack) {
  const auto snapshot = store.snapshot();
  store.set_cut(true);
  EXPECT_THROW(store.snapshot(), coordination::StoreUnavailable);
  EXPECT_THROW(snapshot->get("a"), coordination::StoreUnavailable);
  EXPECT_EQ(put("a"), "unavailable: injected");
  store.set_cut(false);
  EXPECT_EQ(put("a"), "committed at 1");
  EXPECT_FALSE(snapshot->get("a")) << "it is of before";
}

TEST_F(FaultyStoreTest, CountsWhatPasses) {
  store.commit({.puts = {{"key", "value"}}});
  store.commit({.reads = {{"key", 7}}, .puts = {{"key", "value"}}});
  store.snapshot()->scan_all(coordination::prefix_range("k"));
  store.snapshot()->get("key");
  const StoreCounts counts = store.counts();
  EXPECT_EQ(counts.snapshots, 2u);
  EXPECT_EQ(counts.reads, 2u);
  EXPECT_EQ(counts.commits, 2u);
  EXPECT_EQ(counts.committed, 1u);
  EXPECT_EQ(counts.conflicts, 1u);
  EXPECT_EQ(counts.written_bytes, 16u);
  EXPECT_EQ(counts.read_bytes, 16u);
}

TEST_F(FaultyStoreTest, RefusesRatesThatAreNone) {
  EXPECT_THROW(store.set_rates({.conflict = 1.1}, 1), std::invalid_argument);
  EXPECT_THROW(store.set_rates({.conflict = 0.6, .unavailable = 0.6}, 1), std::invalid_argument);
  EXPECT_THROW(FaultyStore(nullptr), std::invalid_argument);
}

/// Returns the results of a sequence of calls with a seed.
std::vector<std::string> outcomes(std::uint64_t seed) {
  FaultyStore store(std::make_shared<MemoryStore>());
  store.set_rates({.conflict = 0.2, .unknown_applied = 0.2, .unknown_late = 0.2, .unavailable = 0.2}, seed);
  std::vector<std::string> seen;
  for (int i = 0; i < 50; ++i) seen.push_back(describe(store.commit({.puts = {{"a", std::to_string(i)}}})));
  return seen;
}

TEST(FaultyStoreSeed, DecidesEverything) {
  EXPECT_EQ(outcomes(1), outcomes(1));
  EXPECT_NE(outcomes(1), outcomes(2));
}

// 'applied once': whatever the responses, each transaction that reports success was applied once, and one
// whose outcome is unknown at most once.
TEST(FaultyStoreSeed, TransactionsAreAppliedAtMostOnce) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto memory = std::make_shared<MemoryStore>();
    FaultyStore store(memory);
    store.set_rates({.conflict = 0.1,
                     .unknown_applied = 0.15,
                     .unknown_lost = 0.15,
                     .unknown_late = 0.15,
                     .unavailable = 0.05,
                     .snapshot_unavailable = 0.02,
                     .snapshot_expired = 0.02},
                    seed);
    int sure = 0;
    int unsure = 0;
    for (int i = 0; i < 20; ++i) {
      const auto increment = [](StoreSnapshot& snapshot) -> Commit {
        const auto entry = snapshot.get("/n");
        return {.reads = {{"/n", entry ? entry->version : 0}},
                .puts = {{"/n", std::to_string(entry ? std::stoi(entry->value) + 1 : 1)}}};
      };
      const auto done = transact(
          store, increment, {.token_key = "/token", .token = std::to_string(i), .delay = Duration::zero()});
      sure += done.committed() ? 1 : 0;
      unsure += std::holds_alternative<coordination::Unknown>(done.outcome) ? 1 : 0;
    }
    store.deliver();
    const auto entry = memory->snapshot()->get("/n");
    const int applied = entry ? std::stoi(entry->value) : 0;
    EXPECT_GE(applied, sure) << "seed " << seed;
    EXPECT_LE(applied, sure + unsure) << "seed " << seed;
    EXPECT_GT(sure, 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace evenkeel::testing
