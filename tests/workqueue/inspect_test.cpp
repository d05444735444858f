// SPDX-License-Identifier: Apache-2.0
// Introspection of a queue's keys, one at a time and all together.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/workqueue/key_order.hpp>
#include <evenkeel/workqueue/request_queue.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

#include "simulation.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

class InspectTest : public testing::Test {
 protected:
  InspectTest()
      : queue({.name = "test", .limiter = exponential(1s, 1h), .clock = clock}),
        unnamed({.limiter = exponential(1s, 1h), .clock = clock}) {}

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  WorkQueue<std::string, TwoLaneStore> queue;
  WorkQueue<std::string, TwoLaneStore> unnamed;
};

// Regression: the call did not return.
TEST_F(InspectTest, RefusesASliceOfNothing) {
  queue.add("x");
  try {
    (void)queue.inspect_all({.slice = 0});
    FAIL() << "it was accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "InspectOptions: slice must be at least 1");
  }
}

TEST_F(InspectTest, ReturnsTheStateOfAKey) {
  EXPECT_EQ(queue.inspect("x").state, KeyState::absent);
  EXPECT_EQ(queue.inspect("x").key, "x");
  queue.add_after("x", 1s, -7);
  auto info = queue.inspect("x");
  EXPECT_EQ(info.state, KeyState::waiting);
  EXPECT_EQ(info.next_attempt, TimePoint{1s});
  EXPECT_EQ(info.priority, -7);
  EXPECT_EQ(info.lane, "");
  EXPECT_FALSE(info.dirty_since);
  clock->advance(3s);
  info = queue.inspect("x");  // first access since its delay ended
  EXPECT_EQ(info.state, KeyState::queued);
  EXPECT_EQ(info.lane, "slow");
  EXPECT_FALSE(info.next_attempt);
  EXPECT_EQ(info.dirty_since, TimePoint{1s});
  EXPECT_FALSE(info.held_since);
  auto held = queue.get();
  info = queue.inspect("x");
  EXPECT_EQ(info.state, KeyState::processing);
  EXPECT_EQ(info.held_since, TimePoint{3s});
  EXPECT_FALSE(info.dirty_since);
  EXPECT_EQ(info.priority, -7);
  queue.add_after("x", 1s);
  info = queue.inspect("x");
  EXPECT_EQ(info.state, KeyState::processing);
  EXPECT_EQ(info.next_attempt, TimePoint{4s});
  queue.add("x");
  info = queue.inspect("x");
  EXPECT_EQ(info.state, KeyState::processing_and_dirty);
  EXPECT_EQ(info.dirty_since, TimePoint{3s});
  held->done();
  EXPECT_EQ(queue.inspect("x").state, KeyState::queued);
  queue.get()->done();
  EXPECT_EQ(queue.inspect("x").state, KeyState::absent);
}

TEST_F(InspectTest, ReturnsAttemptsAndPlaces) {
  queue.add_rate_limited("x");
  queue.add_rate_limited("x");
  EXPECT_EQ(queue.inspect("x").attempts, 2U);
  EXPECT_EQ(queue.inspect("x").next_attempt, TimePoint{1s});  // the earlier of the two
  queue.add("a");
  queue.add("b");
  queue.add("c");
  EXPECT_LT(queue.inspect("a").place, queue.inspect("b").place);
  EXPECT_EQ(queue.inspect("a").adds_since, 2U);
  EXPECT_EQ(queue.inspect("c").adds_since, 0U);
  queue.forget("x");
  EXPECT_EQ(queue.inspect("x").attempts, 0U);
  queue.shut_down_now();
  EXPECT_EQ(queue.inspect("a").state, KeyState::absent);
}

TEST_F(InspectTest, ReturnsTimesOnlyWithMetrics) {
  unnamed.add("x");
  EXPECT_FALSE(unnamed.inspect("x").dirty_since);
  const auto held = unnamed.get();
  EXPECT_FALSE(unnamed.inspect("x").held_since);
  EXPECT_EQ(unnamed.inspect("x").state, KeyState::processing);
}

TEST_F(InspectTest, CountsKeysByState) {
  queue.add("held");
  const auto held = queue.get();
  queue.add("held");
  queue.add("queued");
  queue.add_after("waiting", 1h);
  queue.add_after("due", 1s);
  clock->advance(1s);
  EXPECT_EQ(queue.counts(), (QueueCounts{.ready = 2, .waiting = 1, .processing = 1, .dirty = 3}));
}

TEST_F(InspectTest, ListsAllKeysInTheOrderOfTheirTurns) {
  queue.add("first held");
  queue.add("second held");
  const auto first = queue.get();
  clock->advance(1s);
  const auto second = queue.get();
  queue.add("first held", Lane::slow);
  queue.add("slow", Lane::slow);
  queue.add("fast");
  queue.add("raised", Lane::slow);
  queue.add("raised", Lane::fast);
  queue.add_after("late", 2h);
  queue.add_after("early", 1h);
  auto keys = queue.inspect_all();
  sort_by_turn(keys);
  std::vector<std::string> order;
  for (const auto& info : keys) order.push_back(info.key);
  EXPECT_EQ(order, (std::vector<std::string>{"first held", "second held", "fast", "raised", "slow", "early",
                                             "late"}));
  EXPECT_EQ(keys[0].state, KeyState::processing_and_dirty);
  EXPECT_EQ(keys[3].lane, "fast");
  EXPECT_TRUE(unnamed.inspect_all().empty());
}

TEST(InspectRequests, ListsTheKeysOfOneQueueOnly) {
  const auto clock = std::make_shared<ManualClock>();
  KeyTable table;
  RequestQueue one({.name = "one", .clock = clock});
  RequestQueue two({.clock = clock});
  std::vector<RequestKey> idle;
  for (int i = 0; i < 3000; ++i) {
    const RequestKey key = table.intern("", "ns", std::to_string(i));
    (i % 2 == 0 ? one : two).add(key, i);
    if (i % 3 == 0) idle.push_back(key);
  }
  two.shut_down_now();
  auto keys = one.inspect_all({.slice = 10});
  ASSERT_EQ(keys.size(), 1500U);
  EXPECT_TRUE(two.inspect_all().empty());
  EXPECT_EQ(one.inspect(idle[0]).state, KeyState::queued);
  EXPECT_EQ(one.inspect(idle[1]).state, KeyState::absent);  // it is odd
  EXPECT_EQ(one.inspect(RequestKey()).state, KeyState::absent);
  EXPECT_EQ(one.counts().ready, 1500U);
}

// Keys come and go between the parts: a key that stays throughout is seen exactly once, any other at most
// once.
TEST(InspectSome, SeesEachKeyOnceWhileTheTableGrows) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  tests::Core<int, FifoStore> core;
  std::map<int, int> seen;
  int next_key = 0;
  for (; next_key < 100; ++next_key) core.add(next_key);
  constexpr int stay = 50;  // 50 to 99 stay until the end
  int parts = 0;
  for (std::optional<std::uint64_t> position = 0; position; ++parts) {
    position =
        core->inspect_some(*position, 1 + random() % 20, [&](const KeyInfo<int>& info) { ++seen[info.key]; });
    for (int i = 0; i < 40; ++i) core.add(next_key++);
    if (parts < stay) core.done(core.pop());  // the oldest
  }
  EXPECT_GT(parts, 10);
  EXPECT_GT(next_key, 500);  // the table grew several times
  for (int key = stay; key < 100; ++key) EXPECT_EQ(seen[key], 1) << key;
  for (const auto& [key, times] : seen) EXPECT_LE(times, 1) << key;
}

TEST(InspectConcurrency, AQueueAtWorkCanBeLookedAt) {
  KeyTable table;
  RequestQueue queue({.name = "busy"});
  std::vector<RequestKey> keys;
  for (int i = 0; i < 200; ++i) keys.push_back(table.intern("", "ns", std::to_string(i)));
  const RequestKey stays = table.intern("", "ns", "stays");
  queue.add_after(stays, 24h);
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 20'000; ++i) {
        queue.add(keys[random() % keys.size()], static_cast<std::int32_t>(random() % 3));
        if (i % 7 == 0) queue.add(table.intern("", "passing", std::to_string(i)));
      }
    });
    threads.emplace_back([&] {
      while (auto claim = queue.get()) continue;
    });
  }
  for (int round = 0; round < 50; ++round) {
    auto all = queue.inspect_all({.slice = 16});
    EXPECT_EQ(std::count_if(all.begin(), all.end(), [&](const auto& info) { return info.key == stays; }), 1);
    sort_by_turn(all);
    const QueueCounts counts = queue.counts();
    EXPECT_LE(counts.ready, counts.dirty);
    EXPECT_EQ(counts.waiting, 1U);
    for (const LabelledDepth& at : queue.metrics().depth) EXPECT_LE(at.depth, 30'000U);
    EXPECT_EQ(queue.inspect(stays).state, KeyState::waiting);
  }
  threads[0].join();
  threads[2].join();
  queue.shut_down();
}

}  // namespace
}  // namespace evenkeel
