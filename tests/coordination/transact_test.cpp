// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/coordination/memory_store.hpp>
#include <evenkeel/coordination/transact.hpp>

namespace evenkeel::coordination {
namespace {

using namespace std::chrono_literals;

/// A memory store whose next commits have the results that the test sets.
class ScriptedStore final : public Store {
 public:
  using Step = std::function<CommitResult(MemoryStore&, const Commit&)>;

  std::string name() const override { return "scripted"; }
  Capabilities capabilities() const override { return memory.capabilities(); }
  Limits limits() const override { return memory.limits(); }
  std::unique_ptr<StoreSnapshot> snapshot(std::stop_token stop) override {
    if (unreachable > 0 && unreachable-- > 0) throw StoreUnavailable("nobody answers");
    return memory.snapshot(std::move(stop));
  }
  CommitResult commit(const Commit& commit, std::stop_token) override {
    if (next < steps.size()) return steps[next++](memory, commit);
    return memory.commit(commit);
  }

  MemoryStore memory;
  std::vector<Step> steps = {};
  std::size_t next = 0;
  int unreachable = 0;
};

CommitResult applied_but_lost(MemoryStore& memory, const Commit& commit) {
  memory.commit(commit);
  return Unknown{"cut"};
}
CommitResult never_applied(MemoryStore&, const Commit&) {
  return Unknown{"cut"};
}

std::string read(Store& store, const std::string& key) {
  const auto entry = store.snapshot()->get(key);
  return entry ? entry->value : "absent";
}

/// Adds one to the number at /n.
Commit increment(StoreSnapshot& snapshot) {
  const auto entry = snapshot.get("/n");
  const int now = entry ? std::stoi(entry->value) : 0;
  return {.reads = {{"/n", entry ? entry->version : 0}}, .puts = {{"/n", std::to_string(now + 1)}}};
}

TransactOptions options() {
  return {.token_key = "/token", .token = "t", .delay = Duration::zero()};
}

TEST(Transact, CommitsOnceAndLeavesItsToken) {
  MemoryStore store;
  const Transacted done = transact(store, increment, options());
  EXPECT_EQ(describe(done.outcome), "committed at 1");
  EXPECT_TRUE(done.wrote);
  EXPECT_EQ(done.runs, 1u);
  EXPECT_EQ(read(store, "/n"), "1");
  EXPECT_EQ(read(store, "/token"), "t#0");
}

// 'no idle writes'
TEST(Transact, WritesNothingWhereNothingIsWanted) {
  MemoryStore store;
  const Transacted done = transact(
      store, [](StoreSnapshot&) { return Commit(); }, options());
  EXPECT_TRUE(done.committed());
  EXPECT_FALSE(done.wrote);
  EXPECT_EQ(store.version(), 0u);
}

TEST(Transact, RunsAgainAfterAConflict) {
  ScriptedStore store;
  store.steps = {[](MemoryStore& memory, const Commit& commit) {
    memory.commit({.puts = {{"/n", "10"}}});
    return memory.commit(commit);
  }};
  const Transacted done = transact(store, increment, options());
  EXPECT_TRUE(done.committed());
  EXPECT_EQ(done.run, 1u);
  EXPECT_EQ(done.conflicts, 1u);
  EXPECT_EQ(read(store, "/n"), "11");
}

// The results that the body keeps for each run are found even if the last run had nothing to write.
TEST(Transact, NamesTheRunThatHadNothingToWrite) {
  ScriptedStore store;
  store.steps = {[](MemoryStore&, const Commit&) { return Conflict{"/n"}; }};
  int runs = 0;
  const auto once = [&](StoreSnapshot& snapshot) { return runs++ == 0 ? increment(snapshot) : Commit{}; };
  const Transacted done = transact(store, once, options());
  EXPECT_TRUE(done.committed());
  EXPECT_FALSE(done.wrote);
  EXPECT_EQ(done.run, 1u);
}

TEST(Transact, EndsInAConflictThatDoesNotEnd) {
  ScriptedStore store;
  store.steps.assign(100, [](MemoryStore&, const Commit&) { return Conflict{"/n"}; });
  TransactOptions few = options();
  few.max_runs = 3;
  const Transacted done = transact(store, increment, few);
  EXPECT_EQ(describe(done.outcome), "conflict at /n");
  EXPECT_EQ(done.runs, 3u);
  EXPECT_EQ(done.conflicts, 3u);
}

// 'applied once'
TEST(Transact, FindsTheTokenOfACommitWhoseAnswerWasLost) {
  ScriptedStore store;
  store.steps = {applied_but_lost};
  const Transacted done = transact(store, increment, options());
  EXPECT_EQ(describe(done.outcome), "committed at 1");
  EXPECT_TRUE(done.wrote);
  EXPECT_EQ(done.run, 0u);
  EXPECT_EQ(done.runs, 1u);
  EXPECT_EQ(done.unknowns, 1u);
  EXPECT_EQ(read(store, "/n"), "1");
}

TEST(Transact, RunsAgainIfTheLostCommitWasNotApplied) {
  ScriptedStore store;
  store.steps = {never_applied};
  const Transacted done = transact(store, increment, options());
  EXPECT_EQ(done.run, 1u);
  EXPECT_EQ(read(store, "/n"), "1");
  EXPECT_EQ(read(store, "/token"), "t#1");
}

// The lost commit is still in flight when the body runs again, and arrives before or after the second one.
TEST(Transact, AppliesOneOfTwoThatAreOnTheirWay) {
  for (const bool late_first : {true, false}) {
    ScriptedStore store;
    Commit late;
    const auto hold = [&late](MemoryStore&, const Commit& commit) {
      late = commit;
      return Unknown{"slow"};
    };
    const auto meet = [&late, late_first](MemoryStore& memory, const Commit& commit) {
      if (late_first) memory.commit(late);
      return memory.commit(commit);
    };
    store.steps = {hold, meet};
    const Transacted done = transact(store, increment, options());
    if (!late_first) store.memory.commit(late);
    EXPECT_TRUE(done.committed());
    EXPECT_EQ(done.run, late_first ? 0u : 1u);
    EXPECT_EQ(read(store, "/n"), "1");
  }
}

TEST(Transact, ShutsOutALostCommitWhenNothingIsWantedAnyMore) {
  ScriptedStore store;
  Commit late;
  store.steps = {[&late](MemoryStore&, const Commit& commit) {
    late = commit;
    return Unknown{"slow"};
  }};
  int runs = 0;
  const auto wanted_once = [&runs](StoreSnapshot& snapshot) {
    return runs++ == 0 ? increment(snapshot) : Commit();
  };
  const Transacted done = transact(store, wanted_once, options());
  EXPECT_TRUE(done.committed());
  EXPECT_FALSE(done.wrote);
  EXPECT_EQ(describe(store.memory.commit(late)), "conflict at /token");
  EXPECT_EQ(read(store, "/n"), "absent");
}

TEST(Transact, LooksOnceMoreAfterItsLastRun) {
  ScriptedStore store;
  store.steps = {never_applied, applied_but_lost};
  TransactOptions few = options();
  few.max_runs = 2;
  const Transacted done = transact(store, increment, few);
  EXPECT_TRUE(done.committed());
  EXPECT_EQ(done.run, 1u);
  EXPECT_EQ(done.unknowns, 2u);
}

TEST(Transact, StaysUnknownWhereTheTruthCannotBeFound) {
  ScriptedStore store;
  store.steps = {[&store](MemoryStore& memory, const Commit& commit) {
    store.unreachable = 1000;
    return applied_but_lost(memory, commit);
  }};
  const Transacted done = transact(store, increment, options());
  EXPECT_EQ(describe(done.outcome), "unknown: an answer was lost; then: unavailable: nobody answers");
}

TEST(Transact, WaitsOutAnOutageWhileACommitIsUnknown) {
  ScriptedStore store;
  store.steps = {[&store](MemoryStore& memory, const Commit& commit) {
    store.unreachable = 3;
    return applied_but_lost(memory, commit);
  }};
  const Transacted done = transact(store, increment, options());
  EXPECT_TRUE(done.committed());
  EXPECT_EQ(read(store, "/n"), "1");
}

// 'no answer, no action': a store that cannot be read is not an empty store.
TEST(Transact, EndsAtOnceIfTheStoreIsUnavailable) {
  ScriptedStore store;
  store.unreachable = 1;
  const Transacted done = transact(store, increment, options());
  EXPECT_EQ(describe(done.outcome), "unavailable: nobody answers");
  EXPECT_EQ(done.runs, 0u);
  store.steps = {[](MemoryStore&, const Commit&) { return Unavailable{"refused"}; }};
  EXPECT_EQ(describe(transact(store, increment, options()).outcome), "unavailable: refused");
}

TEST(Transact, DoesNotRepeatWhatIsTooLarge) {
  MemoryStore store({.limits = {.operations = 1}});
  const Transacted done = transact(store, increment, options());
  EXPECT_EQ(describe(done.outcome), "too large: 2 operations, allowed are 1");
  EXPECT_EQ(done.runs, 1u);
}

TEST(Transact, TakesANewSnapshotIfOneExpires) {
  MemoryStore store;
  store.commit({.puts = {{"/n", "1"}}});
  int runs = 0;
  const auto body = [&](StoreSnapshot& snapshot) {
    if (runs++ == 0) {
      store.commit({.puts = {{"/other", "1"}}});
      store.compact(store.version());
    }
    return increment(snapshot);
  };
  EXPECT_TRUE(transact(store, body, options()).committed());
  EXPECT_EQ(runs, 2);
}

TEST(Transact, ChoosesTokensThatDiffer) {
  MemoryStore store;
  TransactOptions random = options();
  random.token.clear();
  transact(store, increment, random);
  const std::string first = read(store, "/token");
  transact(store, increment, random);
  EXPECT_NE(read(store, "/token"), first);
}

TEST(Transact, RefusesBadOptions) {
  MemoryStore store;
  EXPECT_THROW(transact(store, increment, {}), std::invalid_argument);
  EXPECT_THROW(transact(store, increment, {.token_key = "/t", .max_runs = 0}), std::invalid_argument);
  EXPECT_THROW(transact(store, increment, {.token_key = "/t", .delay = -1ns}), std::invalid_argument);
}

TEST(Transact, IsStopped) {
  ScriptedStore store;
  std::stop_source stop;
  store.steps = {[&stop](MemoryStore& memory, const Commit& commit) {
    stop.request_stop();
    return applied_but_lost(memory, commit);
  }};
  EXPECT_EQ(describe(transact(store, increment, options(), stop.get_token()).outcome),
            "unknown: an answer was lost; then: unavailable: stopped");
  EXPECT_EQ(describe(transact(store, increment, options(), stop.get_token()).outcome),
            "unavailable: stopped");
}

TEST(TransactConcurrency, DelaysGrowAndPassByTheClock) {
  ScriptedStore store;
  store.steps.assign(5, never_applied);
  const auto clock = std::make_shared<ManualClock>();
  TransactOptions slow = options();
  slow.delay = 100ms;
  slow.max_delay = 200ms;
  slow.max_runs = 4;
  slow.clock = clock;
  Transacted done;
  std::jthread runner([&] { done = transact(store, increment, slow); });
  // +-50 % of 100, 200, 200, 200 ms.
  for (const auto& [least, most] : {std::pair(50ms, 150ms), {100ms, 300ms}, {100ms, 300ms}, {100ms, 300ms}}) {
    clock->wait_for_waiters(1);
    const TimePoint before = clock->now();
    const TimePoint after = clock->advance_to_next();
    EXPECT_GE(after - before, least);
    EXPECT_LE(after - before, most);
  }
  runner.join();
  EXPECT_EQ(describe(done.outcome), "unknown: cut");
}

TEST(TransactConcurrency, WritersDoNotLoseEachOther) {
  MemoryStore store;
  constexpr int writers = 4;
  constexpr int each = 50;
  {
    std::vector<std::jthread> threads;
    for (int writer = 0; writer < writers; ++writer) {
      threads.emplace_back([&store, writer] {
        for (int i = 0; i < each; ++i) {
          const TransactOptions mine{
              .token_key = "/token" + std::to_string(writer), .max_runs = 1000, .delay = Duration::zero()};
          EXPECT_TRUE(transact(store, increment, mine).committed());
        }
      });
    }
  }
  EXPECT_EQ(read(store, "/n"), std::to_string(writers * each));
}

}  // namespace
}  // namespace evenkeel::coordination
