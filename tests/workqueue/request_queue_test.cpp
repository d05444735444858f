// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/workqueue/request_queue.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> take_all(RequestQueue& queue) {
  std::vector<std::string> keys;
  while (auto claim = queue.try_get()) keys.push_back(claim->key().str());
  return keys;
}

class RequestQueueTest : public testing::Test {
 protected:
  RequestKey key(const std::string& name) { return table.intern("", "ns", name); }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  KeyTable table;
};

TEST_F(RequestQueueTest, ServesLiveChangesBeforeResyncsByDefault) {
  RequestQueue queue({.clock = clock});
  queue.add(key("listed"), Lane::slow);
  queue.add(key("live"));
  queue.add(key("listed again"), Lane::slow);
  queue.add(key("listed again"));
  EXPECT_EQ(queue.size(), 3U);
  EXPECT_EQ(take_all(queue), (std::vector<std::string>{"ns/live", "ns/listed again", "ns/listed"}));
}

TEST_F(RequestQueueTest, KeepsThePlaceOfAKeyAddedWhileHeldByDefault) {
  RequestQueue queue({.clock = clock});
  queue.add(key("a"));
  auto held = queue.get();
  queue.add(key("a"));
  queue.add(key("b"));
  held->done();
  EXPECT_EQ(take_all(queue), (std::vector<std::string>{"ns/a", "ns/b"}));
}

TEST_F(RequestQueueTest, BacksOffByTheDefaultLadder) {
  RequestQueue queue({.clock = clock});
  queue.add_rate_limited(key("a"));
  EXPECT_EQ(queue.retries(key("a")), 1U);
  clock->advance(5ms - 1ns);
  EXPECT_EQ(queue.size(), 0U);
  clock->advance(1ns);
  EXPECT_EQ(take_all(queue).size(), 1U);
  queue.forget(key("a"));
  EXPECT_EQ(queue.retries(key("a")), 0U);
}

TEST_F(RequestQueueTest, TakesAnyStoreAndLimiter) {
  RequestQueue queue({.name = "demo",
                      .store = FifoStore(),
                      .limiter = exponential(1s, 1min),
                      .readd = Readd::at_back,
                      .clock = clock});
  EXPECT_EQ(queue.name(), "demo");
  queue.add(key("slow"), Lane::slow);
  queue.add(key("fast"), Lane::fast);
  auto held = queue.get();
  EXPECT_EQ(held->key().name(), "slow");
  queue.add(key("slow"));
  held.reset();
  EXPECT_EQ(take_all(queue), (std::vector<std::string>{"ns/fast", "ns/slow"}));
  queue.add_rate_limited(key("a"));
  queue.add_after(key("b"), 999ms);
  clock->advance(1s);
  EXPECT_EQ(take_all(queue), (std::vector<std::string>{"ns/b", "ns/a"}));
}

TEST_F(RequestQueueTest, HoldsOnToAKeyAsLongAsItHasToRun) {
  RequestQueue queue({.clock = clock});
  queue.add(key("gone"));
  EXPECT_EQ(table.size(), 1U);
  queue.get()->done();
  EXPECT_EQ(table.size(), 0U);
  queue.add_after(key("later"), 1h);
  EXPECT_EQ(table.size(), 1U);
  queue.shut_down();
  EXPECT_EQ(table.size(), 0U);
}

TEST_F(RequestQueueTest, AQueuedKeyIsAddedForNothingButAMoreUrgentOneIsNot) {
  RequestQueue queue({.clock = clock});
  const RequestKey a = key("a");
  const RequestKey b = key("b");
  queue.add(a, Lane::slow);
  queue.add(b, Lane::slow);
  queue.add(b, Lane::slow);
  queue.add(b, -101);
  EXPECT_EQ(queue.size(), 2U);
  queue.add(b, Lane::fast);  // higher priority: moves
  auto held = queue.get();
  EXPECT_EQ(held->key(), b);
  EXPECT_EQ(held->priority().value, 0);
  queue.add(b, Lane::slow);  // handed out: has to run again, as slow
  queue.add(b, Lane::slow);
  held->done();
  EXPECT_EQ(take_all(queue), (std::vector<std::string>{"ns/a", "ns/b"}));
  EXPECT_EQ(take_all(queue), std::vector<std::string>{});
}

TEST_F(RequestQueueTest, AnAddOfAWaitingOrFiredKeyCounts) {
  RequestQueue queue({.clock = clock});
  const RequestKey a = key("a");
  queue.add(a);
  queue.get()->done();
  queue.add_after(a, 1h);
  queue.add(a);
  EXPECT_EQ(take_all(queue).size(), 1U);
  queue.add_after(a, 1s);
  clock->advance(1s);
  EXPECT_EQ(queue.size(), 1U);
  queue.add(a);
  EXPECT_EQ(take_all(queue).size(), 1U);
  clock->advance(1h);
  EXPECT_EQ(queue.size(), 0U);
}

TEST_F(RequestQueueTest, AnAddUnlessWaitingCountsAsQueuedOnlyIfItIs) {
  RequestQueue queue({.clock = clock});
  const RequestKey a = key("a");
  EXPECT_TRUE(queue.add_unless_waiting(a));
  EXPECT_TRUE(queue.add_unless_waiting(a));  // detected without the lock
  queue.get()->done();
  queue.add_after(a, 1s);
  EXPECT_FALSE(queue.add_unless_waiting(a));
  EXPECT_EQ(queue.size(), 0U);
  queue.add(a);
  EXPECT_TRUE(queue.add_unless_waiting(a));
  auto held = queue.get();
  queue.add(a);
  queue.shut_down_now();
  EXPECT_FALSE(queue.add_unless_waiting(a));  // its second run was cancelled
}

TEST_F(RequestQueueTest, NotifiesItsStoreOfEveryAddIfRequested) {
  bool fast = false;
  const auto policy = [&fast](const RequestKey&) { return fast ? Lane::fast : Lane::slow; };
  RequestQueue queue({.store = PolicyLaneStore<RequestKey, decltype(policy)>(policy), .clock = clock});
  const RequestKey a = key("a");
  queue.add(key("b"));
  queue.add(a);
  fast = true;
  queue.add(a);
  EXPECT_EQ(take_all(queue), (std::vector<std::string>{"ns/a", "ns/b"}));
}

TEST_F(RequestQueueTest, SeveralQueuesServeOneKeyEachForItself) {
  auto one = std::make_unique<RequestQueue>(RequestQueueOptions{.clock = clock});
  RequestQueue two({.clock = clock});
  const RequestKey a = key("a");
  one->add(a);
  two.add(a);
  two.add(a);
  auto held = one->get();
  EXPECT_EQ(take_all(two).size(), 1U);
  held.reset();
  EXPECT_EQ(one->size(), 0U);
  // Queues come and go while a handle keeps the key alive: they leave nothing attached to it.
  for (int round = 0; round < 100; ++round) {
    one->add(a);
    one->add_after(key("later"), 1h);
    if (round % 2 == 0) one->shut_down_now();
    one = std::make_unique<RequestQueue>(RequestQueueOptions{.clock = clock});
    EXPECT_EQ(one->size(), 0U);
    one->add(a);
    EXPECT_EQ(take_all(*one).size(), 1U);
  }
  EXPECT_EQ(table.size(), 1U);
}

TEST_F(RequestQueueTest, RefusesKeysThatNameNothingOrAreOfAnotherTable) {
  RequestQueue queue({.clock = clock});
  EXPECT_THROW(queue.add(RequestKey()), std::invalid_argument);
  KeyTable other;
  queue.add(key("a"));
  EXPECT_THROW(queue.add(other.intern("", "ns", "a")), std::invalid_argument);
  EXPECT_THROW(queue.add_after(other.intern("", "ns", "b"), 1s), std::invalid_argument);
  EXPECT_EQ(take_all(queue).size(), 1U);
  queue.add(other.intern("", "ns", "a"));  // all other keys are done
  EXPECT_EQ(take_all(queue).size(), 1U);
}

TEST_F(RequestQueueTest, ShutsDownInThreeForms) {
  RequestQueue one({.clock = clock});
  one.add(key("a"));
  one.shut_down();
  EXPECT_TRUE(one.is_shutting_down());
  EXPECT_TRUE(one.get());
  EXPECT_FALSE(one.get());
  RequestQueue two({.clock = clock});
  two.add(key("a"));
  two.shut_down_now();
  EXPECT_FALSE(two.get());
  RequestQueue three({.clock = clock});
  EXPECT_TRUE(three.shut_down_with_drain());
  EXPECT_FALSE(three.get());
}

}  // namespace
}  // namespace evenkeel
