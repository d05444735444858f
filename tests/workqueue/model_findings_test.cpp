// SPDX-License-Identifier: Apache-2.0
// Bugs that the model check found in the queue, each reduced to the few operations that show it.
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/workqueue/any_store.hpp>
#include <evenkeel/workqueue/request_queue.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

#include "simulation.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using StringCore = tests::Core<std::string, AnyStore<std::string>>;

// Returns the next key, which stays held.
std::string pop(StringCore& queue) {
  const auto* node = queue.pop();
  return node == nullptr ? "" : node->key();
}

TEST(QueueCore, TheTurnOfAHeldKeyCostsTheSlowLaneNothing) {
  StringCore queue(TwoLaneStore({.slow_share = 2}), Readd::keep_place);
  queue.add("held", Lane::slow);
  EXPECT_EQ(pop(queue), "held");
  queue.add("held", Lane::slow);  // it keeps a place that it cannot use yet
  for (const char* key : {"fast 1", "fast 2", "fast 3"}) queue.add(key);
  queue.add("slow", Lane::slow);
  EXPECT_EQ(pop(queue), "fast 1");
  EXPECT_EQ(pop(queue), "slow");  // one in two; the turn of the held key did not count
  EXPECT_EQ(pop(queue), "fast 2");
}

TEST(QueueCore, ARaiseWhileHeldMovesToTheEndEvenAfterAnEarlyPop) {
  for (const bool somebody_looks : {false, true}) {
    StringCore queue(TwoLaneStore(), Readd::keep_place);
    queue.add("held");
    auto* held = queue.pop();
    queue.add("held", Lane::slow);
    queue.add("other", Lane::slow);
    if (somebody_looks) {
      EXPECT_EQ(pop(queue), "other");  // the turn of the held key came before, and was lost
    }
    queue.add("fast");
    queue.add("held", Lane::fast);
    queue.done(held);
    EXPECT_EQ(pop(queue), "fast") << somebody_looks;
    EXPECT_EQ(pop(queue), "held") << somebody_looks;
  }
}

TEST(RequestQueue, RefusesToAddUnlessWaitingOnceItIsShutDown) {
  KeyTable table;
  const RequestKey key = table.intern("", "ns", "key");
  for (const bool now : {false, true}) {
    RequestQueue queue;
    EXPECT_TRUE(queue.add_unless_waiting(key));
    const auto claim = queue.try_get();
    EXPECT_TRUE(queue.add_unless_waiting(key));
    now ? queue.shut_down_now() : queue.shut_down();
    EXPECT_FALSE(queue.add_unless_waiting(key)) << now;
  }
}

TEST(QueueCore, AKeyThatOnlyItsIntervalHoldsBackDoesNotWaitForADelay) {
  StringCore queue(FifoStore(), {.min_interval = 10ns});
  queue.add("key", {}, 0ns);
  auto* run = queue.pop(0ns);
  queue.done(run, 0ns);
  queue.add_at("key", 5ns, 1ns);
  EXPECT_EQ(queue.add_unless_waiting("key", {}, 4ns), nullptr);
  EXPECT_NE(queue.add_unless_waiting("key", {}, 5ns), nullptr);  // over, though it starts at 10 ns
  queue.on_timeout(9ns);
  EXPECT_EQ(queue.pop(9ns), nullptr);
  queue.on_timeout(10ns);
  EXPECT_NE(queue.pop(10ns), nullptr);
}

TEST(QueueCore, ADelayWithoutEndIsADelayAlsoWhereKeysArePaced) {
  StringCore queue(FifoStore(), {.min_interval = 1ns});
  queue.add_at("key", Duration::max());
  EXPECT_EQ(queue.add_unless_waiting("key"), nullptr);
}

TEST(QueueCore, TheEndHandsOutWhatOnlyItsIntervalHeldBack) {
  StringCore queue(FifoStore(), {.min_interval = 10ns});
  queue.add("key", {}, 0ns);
  auto* run = queue.pop(0ns);
  queue.add_at("key", 2ns, 1ns);  // without the interval it would run at 2 ns
  queue->discard_waiting(TimePoint{3ns});
  queue.done(run, 3ns);
  EXPECT_EQ(pop(queue), "key");
}

TEST(QueueCore, TheEndHandsOutDueKeysWithoutAPrecedingCall) {
  StringCore queue{FifoStore()};
  queue.add_at("due", 2ns);
  queue.add_at("not due", 4ns);
  queue->discard_waiting(TimePoint{3ns});
  EXPECT_EQ(pop(queue), "due");
  EXPECT_EQ(pop(queue), "");
}

TEST(WorkQueue, HandsOutDueKeysAfterAShutDownWithoutAPrecedingCall) {
  const auto clock = std::make_shared<ManualClock>();
  WorkQueue<std::string> queue({.clock = clock});
  queue.add_after("due", 2ns);
  clock->advance(2ns);
  queue.shut_down();
  EXPECT_TRUE(queue.get());
  EXPECT_FALSE(queue.get());
}

}  // namespace
}  // namespace evenkeel
