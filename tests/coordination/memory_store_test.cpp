// SPDX-License-Identifier: Apache-2.0
// Tests of features that only the memory store has; store_suite.cpp has those of every store.
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/memory_store.hpp>

namespace evenkeel::coordination {
namespace {

std::vector<std::string> texts(const std::vector<Entry>& entries) {
  std::vector<std::string> out;
  for (const Entry& entry : entries) {
    out.push_back(entry.key + "=" + entry.value + "@" + std::to_string(entry.version));
  }
  return out;
}
using Texts = std::vector<std::string>;

TEST(MemoryStore, ShowsEveryVersionUntilItIsCompacted) {
  MemoryStore store;
  store.commit({.puts = {{"a", "1"}, {"b", "1"}}});
  store.commit({.puts = {{"a", "2"}}, .erases = {"b"}});
  store.commit({.erases = {"a"}});
  const auto at = [&store](Version version) {
    return texts(store.snapshot_at(version)->scan_all(prefix_range("")));
  };
  EXPECT_EQ(at(0), Texts());
  EXPECT_EQ(at(1), (Texts{"a=1@1", "b=1@1"}));
  EXPECT_EQ(at(2), Texts{"a=2@2"});
  EXPECT_EQ(at(3), Texts());
  store.compact(2);
  EXPECT_THROW(at(1), SnapshotExpired);
  EXPECT_EQ(at(2), Texts{"a=2@2"});
  EXPECT_THROW(store.snapshot_at(4), std::invalid_argument);
}

TEST(MemoryStore, MeetsAConflictWhereItHasForgotten) {
  MemoryStore store;
  store.commit({.puts = {{"a", "1"}}});
  store.commit({.erases = {"a"}});
  store.compact(2);
  const Commit old{.read_version = 1, .read_ranges = {prefix_range("a")}, .puts = {{"b", "1"}}};
  EXPECT_EQ(describe(store.commit(old)), "conflict at a");
}

TEST(MemoryStore, DoesNotKeepWhatItDoesNotPromise) {
  const auto shard_of = [](std::string_view key) { return std::string(key.substr(0, 1)); };
  MemoryStore store({.capabilities = {.multi_key_atomic = false,
                                      .range_conflict = false,
                                      .snapshot_scan = false,
                                      .watch = false},
                     .shard_of = shard_of});
  const auto snapshot = store.snapshot();
  EXPECT_EQ(describe(store.commit({.puts = {{"a1", "1"}, {"a2", "1"}}})), "committed at 1");
  EXPECT_TRUE(snapshot->get("a1")) << "it sees what is latest";
  EXPECT_EQ(describe(store.commit({.read_ranges = {prefix_range("a")}, .puts = {{"b", "1"}}})),
            "committed at 2");
  EXPECT_THROW(store.commit({.puts = {{"a", "1"}, {"b", "1"}}}), std::invalid_argument);
  EXPECT_EQ(store.watch(prefix_range("a"), [] {}), nullptr);
  EXPECT_THROW(MemoryStore({.capabilities = {.multi_key_atomic = false}}), std::invalid_argument);
}

TEST(MemoryStore, AnswersScansPageByPage) {
  MemoryStore store({.page_entries = 2});
  store.commit({.puts = {{"a", ""}, {"b", ""}, {"c", ""}}});
  const auto snapshot = store.snapshot();
  const ScanPage first = snapshot->scan(prefix_range(""), 10);
  EXPECT_EQ(texts(first.entries), (Texts{"a=@1", "b=@1"}));
  EXPECT_EQ(first.next, "c");
  EXPECT_EQ(snapshot->scan(prefix_range(""), 1).next, "b");
  EXPECT_EQ(snapshot->scan_all(prefix_range("")).size(), 3u);
}

TEST(MemoryStore, SnapshotsAndWatchesOutliveIt) {
  auto store = std::make_unique<MemoryStore>();
  store->commit({.puts = {{"a", "1"}}});
  const auto snapshot = store->snapshot();
  const auto watch = store->watch(prefix_range(""), [] {});
  store.reset();
  EXPECT_EQ(snapshot->get("a")->value, "1");
}

TEST(StoreLimits, NameWhatIsBroken) {
  const Commit commit = normalise({.reads = {{"key", 1}}, .puts = {{"key", "value"}}, .erases = {"gone"}});
  const auto broken = [&commit](const Limits& limits) {
    const auto found = broken_limit(limits, commit);
    return found ? describe(*found) : "fits";
  };
  EXPECT_EQ(broken({}), "fits");
  EXPECT_EQ(broken({.operations = 2, .conditions = 1, .commit_bytes = 15, .key_bytes = 4, .value_bytes = 5}),
            "fits");
  EXPECT_EQ(broken({.operations = 1}), "too large: 2 operations, allowed are 1");
  EXPECT_EQ(broken({.commit_bytes = 14}), "too large: 15 commit_bytes, allowed are 14");
  EXPECT_EQ(broken({.key_bytes = 3}), "too large: 4 key_bytes, allowed are 3");
  EXPECT_EQ(broken({.operations = 1, .value_bytes = 4}), "too large: 5 value_bytes, allowed are 4");
}

TEST(StoreResults, AreTextsForPeople) {
  EXPECT_EQ(describe(Conflict{"\xff\x02/lock"}), "conflict at \\xff\\x02/lock");
  EXPECT_EQ(describe(Unknown{"timeout"}), "unknown: timeout");
  EXPECT_EQ(describe(Unavailable{"refused"}), "unavailable: refused");
}

}  // namespace
}  // namespace evenkeel::coordination
