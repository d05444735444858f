// SPDX-License-Identifier: Apache-2.0
// Conflicts, lost answers, concurrent writers, and random commits against a model.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <variant>

#include <evenkeel/coordination/transact.hpp>
#include <evenkeel/testing/faulty_store.hpp>

#include "store_suite.hpp"

namespace evenkeel::tests {

using coordination::Commit;
using coordination::CommitResult;
using coordination::Committed;
using coordination::Conflict;
using coordination::Entry;
using coordination::key_of;
using coordination::KeyRange;
using coordination::prefix_of;
using coordination::prefix_range;
using coordination::Store;
using coordination::StoreSnapshot;
using coordination::transact;
using coordination::Transacted;
using coordination::TransactOptions;
using coordination::Unknown;
using coordination::Version;
using testing::FaultyStore;
using testing::StoreFault;

namespace {

bool committed(const CommitResult& result) {
  return std::holds_alternative<Committed>(result);
}

std::string conflict_key(const CommitResult& result) {
  const auto* conflict = std::get_if<Conflict>(&result);
  return conflict == nullptr ? describe(result) : conflict->key;
}

/// Adds one to the number at `key`.
coordination::TransactBody increment(const std::string& key) {
  return [key](StoreSnapshot& snapshot) -> Commit {
    const auto entry = snapshot.get(key);
    return {.reads = {{key, entry ? entry->version : 0}},
            .puts = {{key, std::to_string(entry ? std::stoi(entry->value) + 1 : 1)}}};
  };
}

}  // namespace

TEST_P(StoreSuite, AKeyThatWasWrittenSinceIsAConflict) {
  const Version read = put("a", "1");
  const Version now = put("a", "1");
  EXPECT_EQ(conflict_key(commit({.reads = {{key("a"), read}}, .puts = {{key("b"), "1"}}})), key("a"));
  EXPECT_EQ(conflict_key(commit({.reads = {{key("a"), 0}}, .puts = {{key("b"), "1"}}})), key("a"));
  EXPECT_EQ(conflict_key(commit({.reads = {{key("b"), now}}, .puts = {{key("b"), "1"}}})), key("b"));
  EXPECT_EQ(contents(), "a=1");
  EXPECT_TRUE(committed(commit({.reads = {{key("a"), now}, {key("b"), 0}}, .puts = {{key("b"), "1"}}})));
}

TEST_P(StoreSuite, AKeyThatWentAndCameBackIsAConflict) {
  const Version read = put("a", "1");
  commit({.erases = {key("a")}});
  EXPECT_EQ(conflict_key(commit({.reads = {{key("a"), read}}, .puts = {{key("b"), "1"}}})), key("a"));
  EXPECT_TRUE(committed(commit({.reads = {{key("a"), 0}}, .puts = {{key("a"), "1"}}})));
  EXPECT_EQ(conflict_key(commit({.reads = {{key("a"), read}}, .puts = {{key("b"), "1"}}})), key("a"));
}

// 'all or nothing'
TEST_P(StoreSuite, AConflictAppliesNothing) {
  commit({.puts = {{key("a"), "1"}, {key("b"), "1"}, {key("c"), "1"}}});
  const auto result = commit({.reads = {{key("a"), 0}},
                              .puts = {{key("a"), "2"}, {key("d"), "2"}},
                              .erases = {key("b")},
                              .range_erases = {{key("c"), key("d")}}});
  EXPECT_EQ(conflict_key(result), key("a"));
  EXPECT_EQ(contents(), "a=1 b=1 c=1");
}

TEST_P(StoreSuite, WhatWasNotReadIsNoConflict) {
  const Version read = put("a", "1");
  put("b", "1");
  EXPECT_TRUE(committed(commit({.reads = {{key("a"), read}}, .puts = {{key("c"), "1"}}})));
}

TEST_P(StoreSuite, ACommitThatOnlyReadsChecks) {
  const Version read = put("a", "1");
  EXPECT_TRUE(committed(commit({.reads = {{key("a"), read}}})));
  EXPECT_EQ(store_->snapshot()->get(key("a"))->version, read);
  put("a", "2");
  EXPECT_EQ(conflict_key(commit({.reads = {{key("a"), read}}})), key("a"));
  const Version then = store_->snapshot()->version();
  const Commit range{.read_version = then, .read_ranges = {prefix_range(key(""))}};
  EXPECT_TRUE(committed(commit(range)));
  put("a", "3");
  EXPECT_EQ(committed(commit(range)), !sees_ranges());
}

/// The result of a commit with the read range `range` from before `change`.
CommitResult after(Store& store, const Commit& change, const KeyRange& range, const std::string& written) {
  const auto snapshot = store.snapshot();
  EXPECT_TRUE(committed(store.commit(change)));
  return store.commit(
      {.read_version = snapshot->version(), .read_ranges = {range}, .puts = {{written, "1"}}});
}

// 'current view': members that are added or changed between the snapshot and the claim. Erasures are detected
// by guards.
TEST_P(StoreSuite, ARangeThatChangedIsAConflict) {
  const std::string guards = prefix_of(root_, {"guard", "set"});
  for (Commit change :
       {Commit{.puts = {{key("a"), "1"}}}, Commit{.puts = {{key("a"), "2"}}}, Commit{.erases = {key("a")}}}) {
    change.puts.push_back({guards + "dc1", ""});
    const CommitResult result =
        after(*store_, change, prefix_range(guards), key_of(root_, {"arbiter", "claims", "restart"}));
    if (sees_ranges()) {
      EXPECT_EQ(conflict_key(result), guards);
    } else {
      EXPECT_TRUE(committed(result)) << "this one does not look at ranges";
    }
  }
}

TEST_P(StoreSuite, ARangeSeesWhatCameAndChanged) {
  const bool looks = sees_ranges();
  put("b", "1");
  const auto conflicts = [&](const Commit& change, const KeyRange& range) {
    const CommitResult result = after(*store_, change, range, key("z"));
    if (committed(result)) return false;
    EXPECT_EQ(conflict_key(result), range.begin);
    return true;
  };
  const KeyRange range{key("b"), key("d")};
  EXPECT_EQ(conflicts({.puts = {{key("c"), "1"}}}, range), looks) << "it came";
  EXPECT_EQ(conflicts({.puts = {{key("b"), "2"}}}, range), looks) << "it changed";
  EXPECT_FALSE(conflicts({.puts = {{key("d"), "1"}, {key("a"), "1"}}}, range)) << "outside";
  EXPECT_FALSE(conflicts({.puts = {{key("z"), "1"}}}, {key("x"), key("y")})) << "an empty one";
  EXPECT_EQ(conflicts({.puts = {{key("x"), "1"}}}, {key("x"), key("y")}), looks) << "no longer empty";
  if (GetParam().sees_bare_erases) {
    EXPECT_EQ(conflicts({.erases = {key("b")}}, range), looks) << "it went";
    EXPECT_FALSE(conflicts({.erases = {key("a")}}, range)) << "outside";
  }
}

// Write skew: each writer decides from a set to which the other one adds.
TEST_P(StoreSuite, TwoThatDecideUponTheSameSetDoNotBothGo) {
  const auto other = second_client();
  const auto mine = store_->snapshot();
  const auto theirs = other->snapshot();
  const auto decide = [&](Store& store, StoreSnapshot& snapshot, const char* unit) {
    return store.commit({.read_version = snapshot.version(),
                         .read_ranges = {prefix_range(key(""))},
                         .puts = {{key(unit), "1"}}});
  };
  EXPECT_TRUE(committed(decide(*store_, *mine, "mine")));
  const CommitResult second = decide(*other, *theirs, "theirs");
  if (sees_ranges()) {
    EXPECT_EQ(conflict_key(second), key(""));
  } else {
    EXPECT_TRUE(committed(second)) << "this one does not look at ranges";
  }
}

// 'one claim': of several instances that take a free lock, one gets it.
TEST_P(StoreSuite, OneOfTwoTakesWhatIsFree) {
  const std::string lock = key_of(root_, {"arbiter", "lock"});
  const auto other = second_client();
  EXPECT_TRUE(committed(store_->commit({.reads = {{lock, 0}}, .puts = {{lock, "mine"}}})));
  EXPECT_EQ(conflict_key(other->commit({.reads = {{lock, 0}}, .puts = {{lock, "theirs"}}})), lock);
  EXPECT_EQ(other->snapshot()->get(lock)->value, "mine");
}

// 'applied once': the answer is lost before or after the commit, or the commit is late.
TEST_P(StoreSuite, LostAnswersAreFoundOut) {
  const auto faulty = std::make_shared<FaultyStore>(store_);
  const std::string number = key("n");
  int expected = 0;
  for (const StoreFault fault : {StoreFault::unknown_applied, StoreFault::unknown_lost,
                                 StoreFault::unknown_late, StoreFault::conflict}) {
    faulty->script({fault, fault});
    const Transacted done =
        transact(*faulty, increment(number), {.token_key = key("token"), .delay = Duration::zero()});
    EXPECT_TRUE(done.committed()) << describe(done.outcome);
    EXPECT_TRUE(done.wrote);
    EXPECT_EQ(faulty->deliver(), 0u) << "what comes late is refused";
    EXPECT_EQ(store_->snapshot()->get(number)->value, std::to_string(++expected));
  }
}

TEST_P(StoreSuite, WritesNothingWhereNothingIsWanted) {
  const Version before = put("a", "1");
  const Transacted done =
      transact(*store_, [](StoreSnapshot&) { return Commit(); }, {.token_key = key("token")});
  EXPECT_TRUE(done.committed());
  EXPECT_FALSE(done.wrote);
  EXPECT_EQ(store_->snapshot()->get(key("a"))->version, before);
  EXPECT_EQ(contents(), "a=1") << "no token, either";
}

namespace {

/// A model of the store, from which the result of each commit follows.
class Model {
 public:
  struct Snapshot {
    std::size_t time = 0;
    std::map<std::string, Entry> entries = {};
  };

  Snapshot snapshot() const { return {changes_.size(), entries_}; }

  bool accepts(const Commit& commit, const Snapshot& read) const {
    for (const Commit::ReadKey& one : commit.reads) {
      const auto found = entries_.find(one.key);
      if ((found == entries_.end() ? 0 : found->second.version) != one.version) return false;
    }
    for (std::size_t time = read.time; time < changes_.size(); ++time) {
      for (const std::string& key : changes_[time]) {
        const auto in = [&key](const KeyRange& range) { return range.contains(key); };
        if (std::ranges::any_of(commit.read_ranges, in)) return false;
      }
    }
    return true;
  }

  /// Returns true if something that was read has been written since, whatever its present value.
  bool touched(const Commit& commit, const Snapshot& read) const {
    std::vector<KeyRange> ranges = commit.read_ranges;
    for (const Commit::ReadKey& one : commit.reads) ranges.push_back({one.key, one.key + '\0'});
    for (std::size_t time = read.time; time < writes_.size(); ++time) {
      for (const KeyRange& written : writes_[time]) {
        const auto overlaps = [&](const KeyRange& range) {
          return range.begin < written.end && written.begin < range.end;
        };
        if (std::ranges::any_of(ranges, overlaps)) return true;
      }
    }
    return false;
  }

  void apply(const Commit& wanted, Version version) {
    const Commit commit = normalise(wanted);
    std::vector<std::string> changed;
    std::vector<KeyRange> written = commit.range_erases;
    for (const std::string& key : commit.erases) written.push_back({key, key + '\0'});
    for (const Commit::Put& put : commit.puts) written.push_back({put.key, put.key + '\0'});
    writes_.push_back(std::move(written));
    std::erase_if(entries_, [&](const auto& entry) {
      const auto in = [&entry](const KeyRange& range) { return range.contains(entry.first); };
      const bool erased = std::ranges::any_of(commit.range_erases, in) ||
                          std::ranges::find(commit.erases, entry.first) != commit.erases.end();
      if (erased) changed.push_back(entry.first);
      return erased;
    });
    for (const Commit::Put& put : commit.puts) {
      entries_[put.key] = {put.key, put.value, version};
      changed.push_back(put.key);
    }
    changes_.push_back(std::move(changed));
  }

  std::vector<Entry> all() const {
    std::vector<Entry> out;
    for (const auto& [key, entry] : entries_) out.push_back(entry);
    return out;
  }

 private:
  std::map<std::string, Entry> entries_;
  std::vector<std::vector<std::string>> changes_;  // Keys that were added, changed or erased.
  std::vector<std::vector<KeyRange>> writes_;      // Ranges that the commits wrote, with effect or without.
};

Version newest_version(const std::vector<Entry>& entries) {
  Version newest = 0;
  for (const Entry& entry : entries) newest = std::max(newest, entry.version);
  return newest;
}

/// A commit of some of eight keys that depends on a snapshot.
class RandomCommits {
 public:
  RandomCommits(std::uint64_t seed, std::string prefix, bool ranges, bool guarded)
      : random_(seed), prefix_(std::move(prefix)), ranges_(ranges), guarded_(guarded) {}

  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

  Commit next(const Model::Snapshot& read) {
    Commit commit;
    for (std::size_t i = below(3); i > 0; --i) {
      const std::string key = any_key();
      const auto found = read.entries.find(key);
      commit.reads.push_back({key, found == read.entries.end() ? 0 : found->second.version});
    }
    if (ranges_ && below(3) == 0)
      commit.read_ranges.push_back(guarded_ ? prefix_range(prefix_) : any_range());
    for (std::size_t i = below(3); i > 0; --i)
      commit.puts.push_back({any_key(), std::to_string(below(1000))});
    if (below(3) == 0) commit.erases.push_back(any_key());
    if (below(6) == 0) commit.range_erases.push_back(any_range());
    if (guarded_ || !commit.writes()) commit.puts.push_back({prefix_ + "guard", ""});
    return commit;
  }

 private:
  std::string any_key() { return prefix_ + static_cast<char>('a' + below(8)); }
  KeyRange any_range() {
    std::string begin = any_key();
    std::string end = any_key();
    if (end < begin) std::swap(begin, end);
    return {std::move(begin), std::move(end)};
  }

  std::mt19937_64 random_;
  const std::string prefix_;
  const bool ranges_;
  const bool guarded_;
};

}  // namespace

TEST_P(StoreSuite, RandomCommitsDoWhatAModelDoes) {
  const std::uint64_t seed = 20261122;
  RandomCommits random(seed, key(""), store_->capabilities().range_conflict, !GetParam().sees_bare_erases);
  const std::vector<std::shared_ptr<Store>> clients = {store_, second_client()};
  Model model;
  struct Kept {
    Version version;
    Model::Snapshot model;
  };
  std::vector<Kept> kept;
  int conflicts = 0;
  for (int step = 0; step < GetParam().random_steps; ++step) {
    const auto where = [&] { return "seed " + std::to_string(seed) + ", step " + std::to_string(step); };
    if (kept.empty() || random.below(3) == 0) {
      if (kept.size() > 3) kept.erase(kept.begin());
      kept.push_back({clients[random.below(2)]->snapshot()->version(), model.snapshot()});
    }
    const Kept& read = kept[random.below(kept.size())];
    Commit wanted = random.next(read.model);
    wanted.read_version = read.version;
    CommitResult result = clients[random.below(2)]->commit(wanted);
    if (std::holds_alternative<Unknown>(result)) {
      // It is decided by now. A commit that was not applied, or had no effect, has left all as it was.
      const std::vector<Entry> now = store_->snapshot()->scan_all(prefix_range(key("")));
      if (now == model.all()) continue;
      result = Committed{.version = newest_version(now)};
    }
    const bool may_refuse = !GetParam().exact_conflicts && model.touched(wanted, read.model);
    if (model.accepts(wanted, read.model) && !(may_refuse && std::holds_alternative<Conflict>(result))) {
      ASSERT_TRUE(committed(result)) << where() << ": " << describe(result);
      model.apply(wanted, std::get<Committed>(result).version);
    } else {
      ASSERT_TRUE(std::holds_alternative<Conflict>(result)) << where() << ": " << describe(result);
      ++conflicts;
    }
    ASSERT_EQ(clients[random.below(2)]->snapshot()->scan_all(prefix_range(key(""))), model.all()) << where();
  }
  EXPECT_GT(conflicts, GetParam().random_steps / 10);
  EXPECT_LT(conflicts, GetParam().random_steps * 9 / 10);
}

TEST_P(StoreSuiteConcurrency, WritersDoNotLoseEachOther) {
  constexpr int writers = 4;
  constexpr int each = 10;
  const std::string number = key("n");
  std::atomic<unsigned> conflicts = 0;
  {
    std::vector<std::jthread> threads;
    for (int writer = 0; writer < writers; ++writer) {
      threads.emplace_back([&, writer] {
        const auto client = second_client();
        const TransactOptions mine{.token_key = key("token" + std::to_string(writer)),
                                   .max_runs = 1000,
                                   .delay = std::chrono::milliseconds{1}};
        for (int i = 0; i < each; ++i) {
          const Transacted done = transact(*client, increment(number), mine);
          EXPECT_TRUE(done.committed()) << describe(done.outcome);
          conflicts += done.conflicts;
        }
      });
    }
  }
  EXPECT_EQ(store_->snapshot()->get(number)->value, std::to_string(writers * each));
  RecordProperty("conflicts", static_cast<int>(conflicts));
}

TEST_P(StoreSuiteConcurrency, ReadersNeverSeeHalfACommit) {
  constexpr int rounds = 30;
  const auto write = [this](int round) {
    return commit({.puts = {{key("a"), std::to_string(round)}, {key("b"), std::to_string(round)}}});
  };
  ASSERT_TRUE(committed(write(0)));
  std::atomic<bool> done = false;
  std::jthread writer([&] {
    for (int round = 1; round <= rounds; ++round) EXPECT_TRUE(committed(write(round)));
    done = true;
  });
  const auto reader = second_client();
  while (!done) {
    // A single response of the store is consistent everywhere.
    const auto seen = reader->snapshot()->scan_all(prefix_range(key("")));
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0].value, seen[1].value);
  }
}

}  // namespace evenkeel::tests
