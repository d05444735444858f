// SPDX-License-Identifier: Apache-2.0
// The thread-safe queue, in virtual time: states, delays, the three forms of shutdown, and blocked workers.
#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/ratelimit/fast_slow.hpp>
#include <evenkeel/ratelimit/token_bucket.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using Queue = WorkQueue<std::string>;

// A claim can only be moved: a claim that is not held cannot be ended, and a held one cannot be forgotten.
static_assert(std::movable<Queue::Claim>);
static_assert(!std::copy_constructible<Queue::Claim>);
static_assert(!std::default_initializable<Queue::Claim>);

struct Harness {
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  Queue queue;

  explicit Harness(Readd readd = Readd::at_back) : queue({.readd = readd, .clock = clock}) {}
  Harness(Readd readd, AnyLimiter<std::string> limiter)
      : queue({.limiter = std::move(limiter), .readd = readd, .clock = clock}) {}

  /// Returns the key that a thread which calls get() now receives; "end" at the end of the queue. Ends the
  /// claim.
  std::future<std::string> get_in_thread(std::stop_token stop = {}) {
    return std::async(std::launch::async, [this, stop] {
      const auto claim = queue.get(stop);
      return claim ? claim->key() : "end";
    });
  }
  std::future<bool> drain_in_thread(std::stop_token stop = {}) {
    return std::async(std::launch::async, [this, stop] { return queue.shut_down_with_drain(stop); });
  }
  /// Returns true if a drain would have nothing to wait for; does not block.
  bool is_drained() {
    std::stop_source stopped;
    stopped.request_stop();
    return queue.shut_down_with_drain(stopped.get_token());
  }
  /// Takes all ready keys and ends them at once.
  std::vector<std::string> take_all() {
    std::vector<std::string> keys;
    while (auto claim = queue.try_get()) keys.push_back(claim->key());
    return keys;
  }
};

bool is_ready(const auto& future) {
  return future.wait_for(0s) == std::future_status::ready;
}

TEST(WorkQueue, CountsKeysOnce) {
  Harness harness;
  harness.queue.add("foo");
  EXPECT_EQ(harness.queue.size(), 1U);
  harness.queue.add("bar");
  EXPECT_EQ(harness.queue.size(), 2U);
  harness.queue.add("foo");
  EXPECT_EQ(harness.queue.size(), 2U);
}

TEST(WorkQueue, HandsOutAgainWhatWasAddedWhileHeld) {
  Harness harness;
  harness.queue.add("foo");
  auto claim = harness.queue.get();
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->key(), "foo");
  harness.queue.add(claim->key());
  claim->done();
  claim = harness.queue.get();
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->key(), "foo");
  claim->done();
  EXPECT_EQ(harness.queue.size(), 0U);
}

TEST(WorkQueue, AClaimEndsOnceHoweverOftenItIsEnded) {  // a key that is not held cannot be ended
  Harness harness;
  harness.queue.add("foo");
  {
    auto claim = harness.queue.get();
    auto moved = std::move(*claim);
    EXPECT_EQ(moved.key(), "foo");
    claim->done();  // moved from: no effect
    harness.queue.add("foo");
    EXPECT_FALSE(harness.queue.try_get());
    moved.done();
    auto second = harness.queue.get();
    ASSERT_TRUE(second);
    harness.queue.add("foo");
    moved.done();  // again: does not end the second claim
    EXPECT_FALSE(harness.queue.try_get());
    harness.queue.add("bar");
    auto third = harness.queue.get();
    *second = std::move(*third);  // ends the claim on foo
    EXPECT_EQ(second->key(), "bar");
    EXPECT_EQ(harness.queue.size(), 1U);
  }
  EXPECT_EQ(harness.take_all(), std::vector<std::string>{"foo"});
}

// Records the calls of a FifoStore.
class TracingStore {
 public:
  explicit TracingStore(std::shared_ptr<std::vector<std::string>> trace) : trace_(std::move(trace)) {}
  void push(QueueNode<std::string>& node) { fifo_.push(node); }
  QueueNode<std::string>& pop() { return static_cast<QueueNode<std::string>&>(fifo_.pop()); }
  std::size_t size() const { return fifo_.size(); }
  void touch(QueueNode<std::string>& node, std::uint64_t) { trace_->push_back(node.key()); }

 private:
  std::shared_ptr<std::vector<std::string>> trace_;
  FifoStore fifo_;
};

TEST(WorkQueue, TouchesTheStoreWhenAQueuedKeyIsAddedAgain) {
  const auto trace = std::make_shared<std::vector<std::string>>();
  WorkQueue<std::string, TracingStore> queue({.store = TracingStore(trace)});
  queue.add("bar");
  EXPECT_TRUE(trace->empty());
  queue.add("bar");
  EXPECT_EQ(*trace, std::vector<std::string>{"bar"});
  queue.get()->done();
  EXPECT_EQ(queue.size(), 0U);
}

TEST(WorkQueue, AWorkerGoesFromKeyToKey) {
  Harness harness;
  for (const char* key : {"a", "b"}) harness.queue.add(key);
  std::vector<std::string> ran;
  harness.queue.shut_down();
  for (auto claim = harness.queue.get(); claim; claim = harness.queue.get(std::move(*claim))) {
    ran.push_back(claim->key());
    EXPECT_EQ(harness.queue.counts().processing, 1U);
  }
  EXPECT_EQ(ran, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(harness.is_drained());
}

TEST(WorkQueue, GettingTheNextKeyReturnsTheSameOneIfItWasAddedAgain) {
  Harness harness;
  harness.queue.add("a");
  auto claim = harness.queue.get();
  harness.queue.add("a");
  EXPECT_FALSE(harness.queue.try_get());
  claim = harness.queue.get(std::move(*claim));
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->key(), "a");
  EXPECT_EQ(harness.queue.size(), 0U);
}

TEST(WorkQueue, GettingTheNextKeyEndsTheLastClaimInEveryCase) {
  Harness harness;
  Harness other;
  for (Harness* each : {&harness, &other}) each->queue.add("a");
  auto claim = harness.queue.get();
  auto foreign = other.queue.get();
  harness.queue.add("b");
  claim = harness.queue.get(std::move(*foreign));  // of another queue, but ended all the same
  EXPECT_EQ(claim->key(), "b");
  EXPECT_EQ(other.queue.counts().processing, 0U);

  std::stop_source stop;
  stop.request_stop();
  harness.queue.add("c");
  EXPECT_FALSE(harness.queue.get(std::move(*claim), stop.get_token()));
  EXPECT_EQ(harness.queue.counts().processing, 0U);
  EXPECT_EQ(harness.queue.size(), 1U) << "a stopped get takes nothing";
}

TEST(WorkQueueConcurrency, GoingOnWaitsForTheNextKeyWithoutHoldingTheLast) {
  Harness harness;
  harness.queue.add("a");
  auto next = std::async(std::launch::async, [&] {
    auto claim = harness.queue.get();
    claim = harness.queue.get(std::move(*claim));
    return claim ? claim->key() : "end";
  });
  harness.clock->wait_for_waiters(1);
  EXPECT_EQ(harness.queue.counts().processing, 0U);
  harness.queue.add("b");
  EXPECT_EQ(next.get(), "b");
}

TEST(WorkQueueConcurrency, AHeldKeyIsHandedToNoOtherWorker) {
  const auto trace = std::make_shared<std::vector<std::string>>();
  const auto clock = std::make_shared<ManualClock>();
  WorkQueue<std::string, TracingStore> queue({.store = TracingStore(trace), .clock = clock});
  queue.add("foo");
  auto first = queue.get();
  queue.add("foo");
  queue.add("foo");
  auto second = std::async(std::launch::async, [&] { return queue.get()->key(); });
  clock->wait_for_waiters(1);
  clock->advance(100ms);
  EXPECT_FALSE(is_ready(second));
  first->done();
  EXPECT_EQ(second.get(), "foo");
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_TRUE(trace->empty());
}

TEST(WorkQueue, ReleasesKeysWhileItLives) {
  WorkQueue<std::shared_ptr<int>> queue;
  auto key = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = key;
  queue.add(std::exchange(key, nullptr));
  queue.get()->done();
  EXPECT_TRUE(watched.expired());
}

TEST(WorkQueue, RunsWithTheRealClockIfGivenNone) {
  WorkQueue<int> queue;
  queue.add_after(1, 1ms);
  const auto claim = queue.get();  // takes a real millisecond
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->key(), 1);
}

TEST(WorkQueue, TakesStoreAndNameAsInTheReadme) {
  WorkQueue<std::string, TwoLaneStore> queue{{.name = "health"}};
  queue.add("default/slow", Lane::slow);
  queue.add("default/app", Lane::fast);
  EXPECT_EQ(queue.name(), "health");
  auto item = queue.get();
  EXPECT_EQ(item->key(), "default/app");
  EXPECT_EQ(item->priority().value, 0);
  EXPECT_EQ(queue.get()->priority().value, -100);
}

// ---- Shutting down ----

TEST(WorkQueue, ShutDownHandsOutWhatIsQueuedAndThenTheEnd) {
  Harness harness;
  harness.queue.add("a");
  harness.queue.add_after("delayed", 1s);
  harness.queue.shut_down();
  EXPECT_TRUE(harness.queue.is_shutting_down());
  harness.queue.add("refused");
  harness.queue.add_after("refused", 1s);
  harness.queue.add_rate_limited("refused");
  EXPECT_EQ(harness.queue.retries("refused"), 0U);
  EXPECT_EQ(harness.queue.get()->key(), "a");
  harness.clock->advance(1h);
  EXPECT_FALSE(harness.queue.get());
}

TEST(WorkQueue, ShutDownDoesNotWait) {
  Harness harness;
  harness.queue.add("foo");
  harness.queue.add("bar");
  const auto foo = harness.queue.get();
  const auto bar = harness.queue.get();
  harness.queue.shut_down();
  EXPECT_FALSE(harness.queue.get());
}

TEST(WorkQueue, ShutDownNowDropsWhatIsQueued) {
  Harness harness;
  harness.queue.add("foo");
  harness.queue.add("bar");
  harness.queue.add_after("baz", 1s);
  auto held = harness.queue.get();
  harness.queue.add("foo");
  harness.queue.shut_down_now();
  EXPECT_EQ(harness.queue.size(), 0U);
  EXPECT_FALSE(harness.queue.get());
  held->done();
  EXPECT_FALSE(harness.queue.get());
  harness.queue.add("refused");
  EXPECT_FALSE(harness.queue.get());
  EXPECT_TRUE(harness.queue.shut_down_with_drain());  // nothing is left to wait for
}

TEST(WorkQueue, ShutDownsMayBeRepeatedInAnyOrder) {
  Harness harness;
  harness.queue.add("foo");
  harness.queue.shut_down();
  harness.queue.shut_down();
  EXPECT_EQ(harness.queue.get()->key(), "foo");
  EXPECT_TRUE(harness.queue.shut_down_with_drain());
  harness.queue.shut_down_now();
  harness.queue.shut_down_now();
  harness.queue.shut_down();
  EXPECT_TRUE(harness.queue.shut_down_with_drain());
  EXPECT_FALSE(harness.queue.get());
}

TEST(WorkQueueConcurrency, DrainWaitsForWhatIsHeld) {
  Harness harness;
  harness.queue.add("foo");
  harness.queue.add("bar");
  auto foo = harness.queue.get();
  auto bar = harness.queue.get();
  auto drained = harness.drain_in_thread();
  harness.clock->wait_for_waiters(1);
  EXPECT_FALSE(harness.queue.get());
  foo->done();
  EXPECT_FALSE(harness.is_drained());
  bar->done();
  EXPECT_TRUE(harness.is_drained());
  EXPECT_TRUE(drained.get());
}

TEST(WorkQueueConcurrency, ShutDownReleasesADrainer) {
  for (const bool now : {false, true}) {
    Harness harness;
    harness.queue.add("foo");
    const auto foo = harness.queue.get();
    auto drained = harness.drain_in_thread();
    harness.clock->wait_for_waiters(1);
    if (now) {
      harness.queue.shut_down_now();
    } else {
      harness.queue.shut_down();
    }
    EXPECT_FALSE(drained.get());
  }
}

TEST(WorkQueueConcurrency, DrainWaitsForADirtyKey) {
  Harness harness;
  harness.queue.add("foo");
  auto foo = harness.queue.get();
  harness.queue.add("foo");
  auto drained = harness.drain_in_thread();
  harness.clock->wait_for_waiters(1);
  EXPECT_FALSE(harness.queue.get());
  foo->done();
  EXPECT_FALSE(harness.is_drained());  // it has to run again
  foo = harness.queue.get();
  ASSERT_TRUE(foo);
  EXPECT_EQ(foo->key(), "foo");
  EXPECT_FALSE(harness.is_drained());
  foo->done();
  EXPECT_FALSE(harness.queue.get());
  EXPECT_TRUE(drained.get());
}

TEST(WorkQueueConcurrency, DrainWaitsForQueuedKeysAndAllDrainersReturn) {
  Harness harness;
  harness.queue.add("held");
  harness.queue.add("queued");
  auto held = harness.queue.get();
  harness.queue.add("held");
  auto first = harness.drain_in_thread();
  auto second = harness.drain_in_thread();
  harness.clock->wait_for_waiters(2);
  held->done();
  EXPECT_FALSE(harness.is_drained());  // nothing is held, two keys are queued
  EXPECT_EQ(harness.take_all(), (std::vector<std::string>{"queued", "held"}));
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(second.get());
}

TEST(WorkQueueConcurrency, AStopEndsADrainAndAGet) {
  Harness harness;
  harness.queue.add("foo");
  const auto foo = harness.queue.get();
  std::stop_source stop;
  auto got = harness.get_in_thread(stop.get_token());
  harness.clock->wait_for_waiters(1);
  stop.request_stop();
  EXPECT_EQ(got.get(), "end");
  std::stop_source stop_drain;
  auto drained = harness.drain_in_thread(stop_drain.get_token());
  harness.clock->wait_for_waiters(1);
  stop_drain.request_stop();
  EXPECT_FALSE(drained.get());
}

TEST(WorkQueue, AStoppedGetTakesNothing) {
  Harness harness;
  harness.queue.add("foo");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(harness.queue.get(stop.get_token()));
  EXPECT_EQ(harness.queue.size(), 1U);
}

TEST(WorkQueueConcurrency, EveryShutDownReleasesAllBlockedWorkers) {
  for (const int form : {0, 1, 2}) {
    Harness harness;
    harness.queue.add_after("later", 1h);  // makes one of them the timekeeper
    std::vector<std::future<std::string>> workers;
    for (int i = 0; i < 4; ++i) workers.push_back(harness.get_in_thread());
    harness.clock->wait_for_waiters(4);
    if (form == 0) harness.queue.shut_down();
    if (form == 1) harness.queue.shut_down_now();
    if (form == 2) {
      EXPECT_TRUE(harness.queue.shut_down_with_drain());
    }
    for (auto& worker : workers) EXPECT_EQ(worker.get(), "end");
  }
}

// ---- Delays ----

TEST(WorkQueue, ADelayedKeyIsReadyWhenItsTimeHasCome) {
  Harness harness;
  harness.queue.add_after("foo", 50ms);
  EXPECT_EQ(harness.queue.size(), 0U);
  harness.clock->advance(60ms);
  EXPECT_EQ(harness.queue.size(), 1U);
  EXPECT_EQ(harness.take_all(), std::vector<std::string>{"foo"});
  harness.clock->advance(10s);
  EXPECT_EQ(harness.queue.size(), 0U);
}

TEST(WorkQueue, DelaysOfOneKeyAreMerged) {
  Harness harness;
  harness.queue.add_after("foo", 50ms);
  harness.queue.add_after("foo", 70ms);
  harness.clock->advance(60ms);
  EXPECT_EQ(harness.take_all().size(), 1U);
  harness.clock->advance(20ms);
  EXPECT_EQ(harness.queue.size(), 0U);
  harness.queue.add_after("foo", 50ms);
  harness.queue.add_after("foo", 30ms);
  EXPECT_EQ(harness.queue.size(), 0U);
  harness.clock->advance(40ms);
  EXPECT_EQ(harness.take_all().size(), 1U);
  harness.clock->advance(20ms);
  EXPECT_EQ(harness.queue.size(), 0U);
}

TEST(WorkQueue, AnAddDropsADelay) {
  Harness harness;
  harness.queue.add_after("x", 5h);
  harness.queue.add("x");
  EXPECT_EQ(harness.take_all().size(), 1U);
  harness.clock->advance(5h);
  EXPECT_EQ(harness.queue.size(), 0U);
}

TEST(WorkQueue, AnAddUnlessWaitingLeavesADelayAlone) {
  Harness harness;
  EXPECT_TRUE(harness.queue.add_unless_waiting("x"));
  EXPECT_TRUE(harness.queue.add_unless_waiting("x"));  // already queued
  auto held = harness.queue.get();
  EXPECT_TRUE(harness.queue.add_unless_waiting("x"));  // runs once more
  held->done();
  held = harness.queue.get();
  harness.queue.add_after("x", 1s);
  EXPECT_FALSE(harness.queue.add_unless_waiting("x"));  // held, and waits
  held->done();
  EXPECT_EQ(harness.queue.size(), 0U);
  EXPECT_FALSE(harness.queue.add_unless_waiting("x"));
  harness.clock->advance(1s - 1ns);
  EXPECT_FALSE(harness.queue.add_unless_waiting("x"));
  harness.clock->advance(1ns);
  EXPECT_TRUE(harness.queue.add_unless_waiting("x"));  // the delay is over, though this is the first access
  EXPECT_EQ(harness.take_all(), std::vector<std::string>{"x"});
  harness.queue.shut_down();
  EXPECT_FALSE(harness.queue.add_unless_waiting("x"));
}

TEST(WorkQueue, DelaysThatAreNotPositiveOrEndlessAreFine) {
  Harness harness;
  harness.queue.add_after("now", 0s);
  harness.queue.add_after("before", -1h);
  harness.queue.add_after("never", Duration::max());
  harness.clock->advance(std::chrono::hours{24 * 365 * 100});
  EXPECT_EQ(harness.take_all(), (std::vector<std::string>{"now", "before"}));
}

TEST(WorkQueue, DelayedKeysComeByTimeThenByInsertion) {
  Harness harness;
  harness.queue.add_after("foo", 1s);
  harness.queue.add_after("bar", 200ms);
  harness.queue.add_after("baz", 1s);
  harness.clock->advance(1s);
  harness.queue.add("last");
  EXPECT_EQ(harness.take_all(), (std::vector<std::string>{"bar", "foo", "baz", "last"}));
}

TEST(WorkQueueConcurrency, ABlockedWorkerGetsADelayedKeyExactlyInTime) {
  Harness harness(Readd::at_back, fast_slow(500ms, 500ms, 0));
  harness.queue.add_rate_limited("foo");
  auto got = harness.get_in_thread();
  harness.clock->wait_for_waiters(1);
  harness.clock->advance(500ms - 1ns);
  EXPECT_FALSE(is_ready(got));
  harness.clock->wait_for_waiters(1);
  harness.clock->advance(1ns);
  EXPECT_EQ(got.get(), "foo");
}

TEST(WorkQueueConcurrency, TheTimekeeperDoesNotMissAnEarlierDelay) {
  Harness harness;
  harness.queue.add_after("late", 1h);
  auto got = harness.get_in_thread();
  harness.clock->wait_for_waiters(1);
  harness.queue.add_after("early", 1s);
  harness.clock->wait_for_deadline(TimePoint{1s});  // the worker was notified, and waits again
  harness.clock->advance(1s);
  EXPECT_EQ(got.get(), "early");
}

TEST(WorkQueueConcurrency, AnotherWorkerKeepsTheTimeWhenTheFirstHasWork) {
  Harness harness;
  harness.queue.add_after("one", 1s);
  harness.queue.add_after("two", 2s);
  harness.queue.add_after("three", 3s);
  std::vector<std::future<std::string>> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(harness.get_in_thread());
  harness.clock->wait_for_waiters(3);
  for (const Duration due : {1s, 2s, 3s}) {
    harness.clock->wait_for_deadline(TimePoint{due});  // one of the remaining workers is the timekeeper
    harness.clock->advance(1s);
  }
  std::vector<std::string> keys;
  for (auto& worker : workers) keys.push_back(worker.get());
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(keys, (std::vector<std::string>{"one", "three", "two"}));
}

TEST(WorkQueueConcurrency, OneAddedKeyWakesAWorkerThatKeepsTheTime) {
  Harness harness;
  harness.queue.add_after("later", 1h);
  auto got = harness.get_in_thread();
  harness.clock->wait_for_waiters(1);
  harness.queue.add("now");
  EXPECT_EQ(got.get(), "now");
}

// ---- Rate limits ----

TEST(WorkQueue, RateLimitedAddsAreCountedPerKey) {
  Harness harness(Readd::at_back, exponential(1ms, 1s));
  const auto delay_of_add = [&](const std::string& key) {
    harness.queue.add_rate_limited(key);
    Duration waited{};
    while (harness.queue.size() == 0) {
      harness.clock->advance(1ms);
      waited += 1ms;
    }
    harness.take_all();
    return waited;
  };
  EXPECT_EQ(delay_of_add("one"), 1ms);
  EXPECT_EQ(delay_of_add("one"), 2ms);
  EXPECT_EQ(harness.queue.retries("one"), 2U);
  EXPECT_EQ(delay_of_add("two"), 1ms);
  EXPECT_EQ(delay_of_add("two"), 2ms);
  harness.queue.forget("one");
  EXPECT_EQ(harness.queue.retries("one"), 0U);
  EXPECT_EQ(delay_of_add("one"), 1ms);
}

TEST(WorkQueue, ReturnsTheDelayOfTheLimiter) {
  Harness harness(Readd::at_back, exponential(1ms, 1s));
  EXPECT_EQ(harness.queue.add_rate_limited("x"), 1ms);
  EXPECT_EQ(harness.queue.add_rate_limited("x"), 2ms);
  harness.queue.shut_down();
  EXPECT_EQ(harness.queue.add_rate_limited("x"), 0ms);
  EXPECT_EQ(harness.queue.retries("x"), 2U);
}

TEST(WorkQueue, ADelayOfNothingMakesAKeyReadyAtOnce) {
  Harness harness(Readd::at_back, fast_slow(0s, 0s, 0));
  harness.queue.add_rate_limited("2");
  EXPECT_EQ(harness.queue.size(), 1U);
  EXPECT_EQ(harness.queue.retries("2"), 1U);
}

TEST(WorkQueue, OnlyWhatIsDueIsHandedOutBeforeTheEnd) {
  Harness harness;
  harness.queue.add_after("a", 1min);
  harness.queue.add_after("b", 1min);
  harness.queue.add_after("c", 50ms);
  EXPECT_EQ(harness.queue.size(), 0U);
  harness.clock->advance(550ms);
  EXPECT_EQ(harness.queue.size(), 1U);
  harness.queue.shut_down();
  harness.clock->advance(1min);
  EXPECT_EQ(harness.queue.get()->key(), "c");
  EXPECT_FALSE(harness.queue.get());
}

TEST(WorkQueueConcurrency, AHeldKeyAddedAsSlowRunsOnceItIsDone) {
  const auto clock = std::make_shared<ManualClock>();
  WorkQueue<std::string, TwoLaneStore> queue({.clock = clock});
  queue.add("1");
  auto first = queue.get();
  queue.add("1", Lane::slow);
  auto second = std::async(std::launch::async, [&] { return queue.get()->key(); });
  clock->wait_for_waiters(1);
  EXPECT_FALSE(is_ready(second));
  first->done();
  EXPECT_EQ(second.get(), "1");
  queue.shut_down();
  EXPECT_FALSE(queue.get());
}

TEST(WorkQueue, RetriesAreRightAtOnce) {
  Harness harness;
  for (int i = 0; i < 100; ++i) {
    harness.queue.add_rate_limited("x");
    EXPECT_EQ(harness.queue.retries("x"), 1U);
    harness.queue.forget("x");
    EXPECT_EQ(harness.queue.retries("x"), 0U);
  }
}

TEST(WorkQueue, AWaitingKeyIsChargedOnlyIfTheOptionIsSet) {
  for (const bool charge : {true, false}) {
    WorkQueue<std::string> queue(
        {.limiter = exponential(1s, 1h), .charge_waiting = charge, .clock = std::make_shared<ManualClock>()});
    queue.add_rate_limited("x");
    queue.add_rate_limited("x");
    EXPECT_EQ(queue.retries("x"), charge ? 2U : 1U);
  }
}

TEST(WorkQueue, TheBucketRunsOnTheInjectedClock) {
  Harness harness(Readd::at_back, token_bucket(1, 10min, 1));
  harness.queue.add_rate_limited("a");
  harness.queue.add_rate_limited("b");
  EXPECT_EQ(harness.take_all(), std::vector<std::string>{"a"});
  harness.clock->advance(10min - 1ns);
  EXPECT_EQ(harness.queue.size(), 0U);
  harness.clock->advance(1ns);
  EXPECT_EQ(harness.take_all(), std::vector<std::string>{"b"});
}

TEST(WorkQueue, ReturnsWhenTheNextKeyIsDue) {
  Harness harness;
  EXPECT_FALSE(harness.queue.next_due());
  harness.queue.add_after("a", 5s);
  harness.queue.add_after("b", 3s);
  EXPECT_EQ(harness.queue.next_due(), harness.clock->now() + 3s);
  harness.clock->advance(4s);
  EXPECT_EQ(harness.queue.next_due(), harness.clock->now());
  const auto claim = harness.queue.try_get();
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->key(), "b");
  harness.queue.add("b");
  EXPECT_EQ(harness.queue.next_due(), harness.clock->now() + 1s) << "what somebody holds does not count";
}

}  // namespace
}  // namespace evenkeel
