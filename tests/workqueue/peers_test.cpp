// SPDX-License-Identifier: Apache-2.0
// Guarantees of kube-rs' scheduler and runner, checked on this queue in virtual time.
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

#include "simulation.hpp"

namespace evenkeel::peers_tests {
namespace {

using namespace std::chrono_literals;
using tests::KeyRun;
using tests::Simulation;
using Fifo = tests::Core<int, FifoStore>;
using Keys = std::vector<int>;

// A key that is due but may not run is dirty here; it may not run because it is held.

TEST(Scheduler, HoldsWhatIsDueUntilItMayRun) {
  Fifo queue;
  queue.add(1);
  auto* held = queue.pop();
  queue.add_at(1, 0s);
  EXPECT_EQ(queue.pop(), nullptr);
  EXPECT_EQ(queue->dirty(), 1U);
  queue.done(held);
  EXPECT_EQ(queue.drain(), Keys{1});
  EXPECT_EQ(queue->dirty(), 0U);
  EXPECT_EQ(queue.pop(), nullptr);
}

TEST(Scheduler, AskingAgainForWhatIsHeldBackRunsItOnce) {
  Fifo queue;
  queue.add(1);
  auto* held = queue.pop();
  queue.add_at(1, 0s);
  queue.add_at(1, 0s);
  queue.add_at(1, 5s);  // it is dirty: a later time is ignored
  queue.done(held);
  EXPECT_EQ(queue.drain(), Keys{1});
  queue.on_timeout(5s);
  EXPECT_EQ(queue.drain(), Keys{});
}

TEST(Scheduler, AKeyHeldBackDoesNotBlockOthers) {
  for (const Readd readd : {Readd::at_back, Readd::keep_place}) {
    Fifo queue(FifoStore(), readd);
    queue.add(1);
    auto* held = queue.pop();
    queue.add(1);
    queue.add(2);
    auto* next = queue.pop();
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(next->key(), 2);
    queue.done(held);
    queue.done(next);
  }
}

TEST(Scheduler, RunsEachWhenItWasAskedFor) {
  Fifo queue;
  queue.add_at(1, 1s);
  queue.add_at(2, 3s);
  queue.on_timeout(2s);
  EXPECT_EQ(queue.drain(), Keys{1});
  queue.on_timeout(4s);
  EXPECT_EQ(queue.drain(), Keys{2});
}

TEST(Scheduler, OfTwoTimesTheEarlierCountsWhicheverCameFirst) {
  const std::vector<std::pair<Duration, Duration>> cases{{1s, 3s}, {3s, 1s}};
  for (const auto& [first, second] : cases) {
    Fifo queue;
    queue.add_at(1, first);
    queue.add_at(1, second);
    queue.on_timeout(2s);
    EXPECT_EQ(queue.drain(), Keys{1});
    queue.on_timeout(4s);
    EXPECT_EQ(queue.drain(), Keys{});
  }
}

TEST(Scheduler, WhatRanMayBeScheduledAgain) {
  Fifo queue;
  queue.add_at(1, 1s);
  queue.on_timeout(2s);
  EXPECT_EQ(queue.drain(), Keys{1});
  queue.add_at(1, 3s, 2s);
  EXPECT_EQ(queue.drain(), Keys{});
  queue.on_timeout(3s);
  EXPECT_EQ(queue.drain(), Keys{1});
}

// kube-rs 3170f68f, 9f1261b1: there, a time far in the future crashed.
TEST(Scheduler, TimesAtTheEndOfTimeAreFine) {
  const auto clock = std::make_shared<ManualClock>();
  WorkQueue<int> queue({.clock = clock});
  clock->advance(1h);
  queue.add_after(1, Duration::max());
  EXPECT_EQ(queue.inspect(1).next_attempt, TimePoint::max());
  queue.add(1);
  EXPECT_TRUE(queue.try_get());
}

TEST(Runner, NeverRunsAKeyTwiceAtOnce) {
  Simulation<FifoStore> simulation(2, FifoStore(), Readd::at_back);
  simulation.work = [](const KeyRun&) { return Duration{1s}; };
  simulation.at(0s, [&] { simulation.queue().add("x"); });
  simulation.at(500ms, [&] { simulation.queue().add("x"); });
  EXPECT_EQ(simulation.run(1h), (std::vector<KeyRun>{{"x", 0s}, {"x", 1s}}));
}

// Before there are workers nothing runs; keys added by then run once each.
TEST(RunnerConcurrency, NothingRunsBeforeThereAreWorkersAndThenAllOnce) {
  const auto clock = std::make_shared<ManualClock>();
  WorkQueue<std::string> queue({.clock = clock});
  for (const char* key : {"a", "b", "a"}) queue.add(key);
  clock->advance(1h);
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.get()->key(), "a");
  EXPECT_EQ(queue.get()->key(), "b");
  auto got = std::async(std::launch::async, [&] { return queue.get()->key(); });
  clock->wait_for_waiters(1);
  queue.add("message 8");  // wakes the waiting worker
  EXPECT_EQ(got.get(), "message 8");
  WorkQueue<std::string> never({.clock = clock});
  never.add("a");
  never.shut_down_now();  // like a controller whose caches never sync: nothing runs
  EXPECT_FALSE(never.get());
}

TEST(Runner, RunsAsManyAtOnceAsThereAreWorkersAndLosesNothing) {
  Simulation<FifoStore> simulation(2, FifoStore(), Readd::at_back);
  simulation.work = [](const KeyRun&) { return Duration{3s}; };
  simulation.at(0s, [&] {
    for (const char* key : {"1", "2", "3"}) simulation.queue().add(key);
  });
  simulation.at(4s, [&] { simulation.queue().add("3"); });  // while it runs
  EXPECT_EQ(simulation.run(1h), (std::vector<KeyRun>{{"1", 0s}, {"2", 0s}, {"3", 3s}, {"3", 6s}}));

  WorkQueue<int> queue({.clock = std::make_shared<ManualClock>()});
  queue.add(3);
  auto held = queue.get();
  queue.add(3);
  queue.shut_down();  // the input ends with one key running and marked to run again
  held->done();
  EXPECT_EQ(queue.get()->key(), 3);
  EXPECT_FALSE(queue.get());
}

TEST(RunnerConcurrency, HandsOutAllAndStaysUntilAllHaveEnded) {
  const auto clock = std::make_shared<ManualClock>();
  WorkQueue<int> queue({.clock = clock});
  for (int key = 0; key < 100; ++key) queue.add(key);
  std::vector<WorkQueue<int>::Claim> held;
  for (int key = 0; key < 100; ++key) held.push_back(*queue.get());
  auto drained = std::async(std::launch::async, [&] { return queue.shut_down_with_drain(); });
  clock->wait_for_waiters(1);
  EXPECT_FALSE(queue.get());  // the end: there are no more
  for (int key = 0; key < 100; ++key) {
    EXPECT_EQ(drained.wait_for(0s), std::future_status::timeout);
    EXPECT_EQ(held[static_cast<std::size_t>(key)].key(), key);
    held[static_cast<std::size_t>(key)].done();
  }
  EXPECT_TRUE(drained.get());
}

}  // namespace
}  // namespace evenkeel::peers_tests
