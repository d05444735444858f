// SPDX-License-Identifier: Apache-2.0
// Two lanes: by argument and by policy, with a share for the slow one. The share is one hand-out in k while
// both lanes hold keys.
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

#include "simulation.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using tests::Core;
using Keys = std::vector<std::string>;

TEST(TwoLaneStore, ServesTheFastLaneFirstAndEachInOrder) {
  Core<std::string, TwoLaneStore> queue;
  queue.add("s1", Lane::slow);
  queue.add("f1", Lane::fast);
  queue.add("s2", Lane::slow);
  queue.add("f2");  // without a lane: fast
  EXPECT_EQ(queue->store().size(Lane::fast), 2U);
  EXPECT_EQ(queue->store().size(Lane::slow), 2U);
  EXPECT_EQ(queue.drain(), (Keys{"f1", "f2", "s1", "s2"}));
}

TEST(TwoLaneStore, AddingAsFastMovesAKeyToTheBackOfTheFastLane) {
  Core<std::string, TwoLaneStore> queue;
  for (const char* key : {"s1", "s2", "s3"}) queue.add(key, Lane::slow);
  queue.add("f1");
  queue.add("s2", Lane::fast);
  EXPECT_EQ(queue->ready(), 4U);
  queue.add("f2");
  EXPECT_EQ(queue.drain(), (Keys{"f1", "s2", "f2", "s1", "s3"}));
}

TEST(TwoLaneStore, AddingAsSlowNeverDemotes) {
  Core<std::string, TwoLaneStore> queue;
  queue.add("live");
  queue.add("other");
  queue.add("live", Lane::slow);
  queue.add("resynced", Lane::slow);
  queue.add("resynced", Lane::slow);
  EXPECT_EQ(queue.drain(), (Keys{"live", "other", "resynced"}));
}

TEST(TwoLaneStore, TheLaneOfTheNextRunIsThatOfAddsDuringProcessing) {
  for (const Readd readd : {Readd::at_back, Readd::keep_place}) {
    Core<std::string, TwoLaneStore> queue(TwoLaneStore(), readd);
    queue.add("key", Lane::slow);
    auto* held = queue.pop();
    queue.add("other", Lane::slow);
    queue.add("key", Lane::fast);
    queue.done(held);
    EXPECT_EQ(queue.drain(), (Keys{"key", "other"}));
    // The lane of one run does not carry over to the next.
    queue.add("key", Lane::fast);
    held = queue.pop();
    queue.add("other", Lane::fast);
    queue.add("key", Lane::slow);
    queue.done(held);
    EXPECT_EQ(queue.drain(), (Keys{"other", "key"}));
  }
}

TEST(TwoLaneStore, WithoutAShareTheSlowLaneStarves) {
  Core<int, TwoLaneStore> queue;
  queue.add(-1, Lane::slow);
  for (int i = 0; i < 1000; ++i) {
    queue.add(i, Lane::fast);
    auto* node = queue.pop();
    EXPECT_EQ(node->key(), i);
    queue.done(node);
  }
  EXPECT_EQ(queue.drain(), std::vector<int>{-1});
}

TEST(TwoLaneStore, AShareOfOneInKServesTheSlowLaneWithinKRuns) {
  for (const std::uint32_t share : {2U, 3U, 10U}) {
    Core<int, TwoLaneStore> queue(TwoLaneStore({.slow_share = share}));
    for (int i = 0; i < 5; ++i) queue.add(-1 - i, Lane::slow);
    std::vector<int> slow_at;
    for (int run = 1; slow_at.size() < 5; ++run) {
      queue.add(run, Lane::fast);
      auto* node = queue.pop();
      if (node->key() < 0) slow_at.push_back(run);
      queue.done(node);
    }
    for (std::size_t i = 0; i < slow_at.size(); ++i) {
      EXPECT_EQ(slow_at[i], static_cast<int>((i + 1) * share)) << share;
    }
  }
}

TEST(TwoLaneStore, RefusesAShareOfOne) {
  EXPECT_THROW(TwoLaneStore({.slow_share = 1}), std::invalid_argument);
}

TEST(PolicyLaneStore, IsAskedAtEveryAddAndMovesBothWays) {
  std::set<std::string> fast;
  const auto policy = [&fast](const std::string& key) {
    return fast.contains(key) ? Lane::fast : Lane::slow;
  };
  Core<std::string, PolicyLaneStore<std::string, decltype(policy)>> queue{
      PolicyLaneStore<std::string, decltype(policy)>(policy)};
  fast = {"a", "b"};
  for (const char* key : {"x", "a", "y", "b", "z"}) queue.add(key, Lane::fast);  // the lane is ignored
  fast = {"b", "y"};
  queue.add("y");  // slow to the back of fast
  queue.add("a");  // fast to the back of slow
  queue.add("z");  // stays
  EXPECT_EQ(queue->store().size(Lane::fast), 2U);
  EXPECT_EQ(queue.drain(), (Keys{"b", "y", "x", "z", "a"}));
}

TEST(TwoLaneStore, APriorityBelowZeroIsTheSlowLane) {
  Core<std::string, TwoLaneStore> queue;
  queue.add("barely slow", -1);
  queue.add("fast", 0);
  queue.add("urgent", 100);  // only two levels
  EXPECT_EQ(queue.drain(), (Keys{"fast", "urgent", "barely slow"}));
}

TEST(TwoLaneQueue, ASlowKeyIsServedAndThenTheEndReported) {
  WorkQueue<std::string, TwoLaneStore> queue;
  queue.add("1", Lane::slow);
  EXPECT_EQ(queue.size(), 1U);
  auto claim = queue.get();
  EXPECT_EQ(claim->key(), "1");
  claim->done();
  queue.shut_down();
  EXPECT_TRUE(queue.is_shutting_down());
  EXPECT_FALSE(queue.get());
}

// Fast keys without end, and as many slow ones.
TEST(TwoLaneQueue, NoSlowKeyIsServedAsLongAsThereAreFastOnes) {
  WorkQueue<std::string, TwoLaneStore> queue;
  for (int i = 0; i < 3; ++i) queue.add("fast-" + std::to_string(i));
  for (int i = 3; i < 5000; ++i) {
    queue.add("fast-" + std::to_string(i));
    queue.add("slow-" + std::to_string(i), Lane::slow);
    ASSERT_EQ(queue.get()->key(), "fast-" + std::to_string(i - 3));
  }
  EXPECT_EQ(queue.size(), 3U + 4997U);
  for (int i = 4997; i < 5000; ++i) EXPECT_EQ(queue.get()->key(), "fast-" + std::to_string(i));
  EXPECT_EQ(queue.get()->key(), "slow-3");
}

TEST(TwoLaneQueueConcurrency, ResyncedKeysAreAllServedWhenNothingElseIsThere) {
  WorkQueue<std::string, TwoLaneStore> queue;
  std::set<std::string> served;
  auto worker = std::async(std::launch::async, [&] {
    while (auto claim = queue.get()) served.insert(claim->key());
  });
  for (const char* key : {"ns/a", "ns/b", "ns/c"}) queue.add(key, Lane::slow);
  EXPECT_TRUE(queue.shut_down_with_drain());
  worker.get();
  EXPECT_EQ(served, (std::set<std::string>{"ns/a", "ns/b", "ns/c"}));
}

TEST(TwoLaneQueue, MovingBetweenLanesChangesNoSize) {
  WorkQueue<std::string, TwoLaneStore> queue({.name = "lanes"});
  const auto lanes = [&queue] { return queue.metrics().lanes; };
  using Depths = std::vector<LabelledDepth>;
  for (const char* key : {"a", "b", "c"}) queue.add(key, Lane::slow);
  EXPECT_EQ(lanes(), (Depths{{"fast", 0}, {"slow", 3}}));
  queue.add("b");
  EXPECT_EQ(lanes(), (Depths{{"fast", 1}, {"slow", 2}}));
  EXPECT_EQ(queue.size(), 3U);
  EXPECT_EQ(queue.get()->key(), "b");
  EXPECT_EQ(lanes(), (Depths{{"fast", 0}, {"slow", 2}}));
  while (queue.try_get()) continue;
  EXPECT_EQ(lanes(), (Depths{{"fast", 0}, {"slow", 0}}));
}

TEST(TwoLaneStore, TheShareIsOfHandOutsWhileBothLanesHoldKeys) {
  Core<std::string, TwoLaneStore> queue(TwoLaneStore({.slow_share = 3}));
  for (const char* key : {"f1", "f2", "f3"}) queue.add(key);
  EXPECT_EQ(queue.pop()->key(), "f1");
  EXPECT_EQ(queue.pop()->key(), "f2");  // no slow key waited: these do not count
  queue.add("s1", Lane::slow);
  queue.add("s2", Lane::slow);
  for (const char* key : {"f4", "f5", "f6"}) queue.add(key);
  EXPECT_EQ(queue.drain(), (Keys{"f3", "f4", "s1", "f5", "f6", "s2"}));
}

TEST(TwoLaneStore, AKeyThatIsHeldWhenItsTurnComesCostsTheSlowLaneNothing) {
  Core<std::string, TwoLaneStore> queue(TwoLaneStore({.slow_share = 2}), Readd::keep_place);
  queue.add("s0", Lane::slow);
  auto* held = queue.pop();
  queue.add("s0", Lane::slow);
  for (const char* key : {"f1", "f2", "f3", "f4"}) queue.add(key);
  queue.add("s1", Lane::slow);
  EXPECT_EQ(queue.pop()->key(), "f1");
  EXPECT_EQ(queue.pop()->key(), "s1");  // s0 is skipped, and its turn goes to the next
  queue.done(held);
  EXPECT_EQ(queue.drain(), (Keys{"f2", "s0", "f3", "f4"}));
}

TEST(PolicyLaneStore, AKeyAddedWhileHeldGoesWhereThePolicySaysWhenItIsDone) {
  for (const Readd readd : {Readd::at_back, Readd::keep_place}) {
    bool fast = false;
    const auto policy = [&fast](const std::string&) { return fast ? Lane::fast : Lane::slow; };
    Core<std::string, PolicyLaneStore<std::string, decltype(policy)>> queue(
        PolicyLaneStore<std::string, decltype(policy)>(policy), readd);
    queue.add("key");
    auto* held = queue.pop();
    queue.add("other");
    queue.add("key");
    fast = true;
    queue.add("key");
    queue.done(held);
    EXPECT_EQ(queue.drain(), (Keys{"key", "other"}));
  }
}

}  // namespace
}  // namespace evenkeel
