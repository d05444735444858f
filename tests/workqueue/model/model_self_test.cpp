// SPDX-License-Identifier: Apache-2.0
// Tests of the model check: it must find faulty queues, and report them in a few lines.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "../simulation.hpp"
#include "explore.hpp"

namespace evenkeel::model {
namespace {

using namespace std::chrono_literals;

using StringCore = CoreSubject<std::string>;

Settings two_lanes(Random& random) {
  Settings settings = random_settings(random);
  settings.kind = Kind::core_of_strings;
  settings.store = StoreKind::two_lane;
  return settings;
}

// Finds the bug of `make`, and has it shrunk to at most `most` operations.
void expect_found(const MakeSubject& make, std::size_t most) {
  const Explored explored = explore(7, 200'000, make, two_lanes);
  ASSERT_TRUE(explored.failure) << "not found in " << explored.operations << " operations";
  EXPECT_LE(explored.failure->shrunk.sequence.size(), most) << explored.failure->report;
  const Explored again = explore(explored.failure->seed, 1, make, two_lanes);
  ASSERT_TRUE(again.failure) << "the seed " << explored.failure->seed << " does not bring it back";
  EXPECT_EQ(again.failure->report, explored.failure->report);
}

template <class Wrong>
MakeSubject of() {
  return [](const Settings& settings, const SlowKeys& slow) {
    return std::make_unique<Wrong>(settings, make_store<std::string>(settings, slow));
  };
}

TEST(QueueModelCheck, FindsNothingWhereNothingIsWrong) {
  const Explored explored = explore(7, 20'000, make_subject, two_lanes);
  EXPECT_FALSE(explored.failure) << explored.failure->report;
  EXPECT_GE(explored.operations, 20'000U);
}

// A queued key that becomes urgent stays in the slow lane.
struct WithoutTouch : TwoLaneStore {
  using TwoLaneStore::TwoLaneStore;
  void touch(QueueItem& /*item*/, std::uint64_t /*place*/) {}
};

TEST(QueueModelCheck, FindsAStoreThatForgetsToTouch) {
  expect_found(
      [](const Settings& settings, const SlowKeys&) {
        return std::make_unique<CoreSubject<std::string, WithoutTouch>>(
            settings, WithoutTouch({.slow_share = settings.slow_share}));
      },
      4);
}

// A key is put before the two that were added before it.
struct JumpsAhead : TwoLaneStore {
  using TwoLaneStore::TwoLaneStore;
  void push(QueueItem& item) {
    item.set_place(item.place() < 3 ? 3 - item.place() : item.place() - 3);
    TwoLaneStore::push(item);
  }
};

TEST(QueueModelCheck, FindsAStoreThatMixesUpPlaces) {
  expect_found(
      [](const Settings& settings, const SlowKeys&) {
        return std::make_unique<CoreSubject<std::string, JumpsAhead>>(
            settings, JumpsAhead({.slow_share = settings.slow_share}));
      },
      8);
}

struct LosesAddsWhileProcessing : StringCore {
  using StringCore::StringCore;
  void add(std::size_t key, std::int32_t priority) override {
    Observation seen;
    observe(seen);
    if (seen.keys[key].processing != 1) StringCore::add(key, priority);
  }
};

TEST(QueueModelCheck, FindsALostAdd) {
  expect_found(of<LosesAddsWhileProcessing>(), 3);
}

// Two holders, as after a done() of a key that is not held.
struct LetsGoAtOnce : StringCore {
  using StringCore::StringCore;
  std::optional<Handed> get() override {
    const auto handed = StringCore::get();
    if (handed) StringCore::done(handed->key);
    return handed;
  }
  void done(std::size_t /*key*/) override {}
};

TEST(QueueModelCheck, FindsTwoHolders) {
  expect_found(of<LetsGoAtOnce>(), 2);
}

// The delayed run follows the one that an add brought forward, as in client-go.
struct KeepsTheDelay : StringCore {
  using StringCore::StringCore;
  void add(std::size_t key, std::int32_t priority) override {
    Observation seen;
    observe(seen);
    StringCore::add(key, priority);
    if (seen.keys[key].waiting == 1) late_.emplace(key);
  }
  std::optional<Handed> get() override {
    const auto handed = StringCore::get();
    if (handed && handed->key == late_) StringCore::add_after(*std::exchange(late_, std::nullopt), 5, 0);
    return handed;
  }

 private:
  std::optional<std::size_t> late_;
};

TEST(QueueModelCheck, FindsADelayThatOutlivesItsAdd) {
  expect_found(of<KeepsTheDelay>(), 3);
}

struct EarlyByOne : StringCore {
  using StringCore::StringCore;
  void add_after(std::size_t key, Nanos delay, std::int32_t priority) override {
    StringCore::add_after(key, delay - 1, priority);
  }
};

TEST(QueueModelCheck, FindsADelayThatEndsTooEarly) {
  expect_found(of<EarlyByOne>(), 1);
}

struct ForgetsPriorities : StringCore {
  using StringCore::StringCore;
  void add(std::size_t key, std::int32_t priority) override {
    Observation seen;
    observe(seen);
    StringCore::add(key, seen.keys[key].waiting == 1 && priority < 0 ? 0 : priority);
  }
};

TEST(QueueModelCheck, FindsAPriorityThatIsWrongInOneState) {
  expect_found(of<ForgetsPriorities>(), 4);
}

struct ChargesTwice : StringCore {
  using StringCore::StringCore;
  Nanos add_rate_limited(std::size_t key, std::int32_t priority) override {
    const Nanos delay = StringCore::add_rate_limited(key, priority);
    if (delay > 50) static_cast<void>(StringCore::add_rate_limited(key, priority));
    return delay;
  }
};

TEST(QueueModelCheck, FindsALimiterThatIsChargedTwice) {
  expect_found(of<ChargesTwice>(), 10);
}

struct HandsOutAfterTheEnd : StringCore {
  using StringCore::StringCore;
  bool shut_down(Form form) override {
    return StringCore::shut_down(form == Form::shut_down_now ? Form::shut_down : form);
  }
};

TEST(QueueModelCheck, FindsAShutDownThatDropsNothing) {
  expect_found(of<HandsOutAfterTheEnd>(), 2);
}

TEST(QueueModelCheck, KeepsItsPromisesApart) {
  Promises promises;
  promises.added_for_good(1);
  EXPECT_TRUE(promises.is_owed(1));
  EXPECT_EQ(promises.handed_out(1), std::nullopt);
  EXPECT_FALSE(promises.is_owed(1));
  EXPECT_EQ(promises.handed_out(1), "handed out while it is held");
  promises.done(1);
  EXPECT_EQ(promises.handed_out(1), "handed out again without an add");
  promises.added(1);
  EXPECT_EQ(promises.handed_out(1), std::nullopt);
  EXPECT_FALSE(promises.is_owed(1));
}

// The printed text of a failure, and below the same lines as the body of a test.
TEST(QueueModelPrinter, WritesACaseOfTheCoreAsTheBodyOfATest) {
  const Case printed{.settings = {.store = StoreKind::policy_lane, .slow_share = 2},
                     .sequence = {{.action = Action::call_slow, .key = 1},
                                  {.action = Action::add, .key = 1, .priority = 5},
                                  {.action = Action::add_after, .key = 0, .time = 3},
                                  {.action = Action::add_unless_waiting, .key = 0},
                                  {.action = Action::advance, .time = 3},
                                  {.action = Action::get},
                                  {.action = Action::done, .key = 0},
                                  {.action = Action::shut_down_now},
                                  {.action = Action::get}}};
  const Difference difference{.what = "ready", .queue = "1", .expected = "0"};
  EXPECT_EQ(Printer(printed).print(difference), R"(std::set<std::string> slow;
const auto policy = [&](const std::string& key) { return slow.contains(key) ? Lane::slow : Lane::fast; };
tests::Core<std::string, AnyStore<std::string>> queue(PolicyLaneStore<std::string, decltype(policy)>(policy, {.slow_share = 2}), Readd::at_back);
slow.insert("b/1");
queue.add("b/1", 5, 0ns);
queue.add_at("a/0", 3ns, 0ns, 0);
EXPECT_EQ(queue.add_unless_waiting("a/0", 0, 0ns), nullptr);
queue.on_timeout(3ns);
auto* run1 = queue.pop();
ASSERT_TRUE(run1);
EXPECT_EQ(run1->key(), "a/0");
EXPECT_EQ(run1->priority(), 0);
queue.done(run1);
queue->discard_waiting(TimePoint{3ns});
queue->discard();
EXPECT_EQ(queue.pop(), nullptr);
// ready: the queue says 1, the reference 0
EXPECT_EQ(queue->ready(), 0U);
)");
}

TEST(QueueModelPrinter, WhatItWritesOfACoreCompilesAndHolds) {
  std::set<std::string> slow;
  const auto policy = [&](const std::string& key) { return slow.contains(key) ? Lane::slow : Lane::fast; };
  tests::Core<std::string, AnyStore<std::string>> queue(
      PolicyLaneStore<std::string, decltype(policy)>(policy, {.slow_share = 2}), Readd::at_back);
  slow.insert("b/1");
  queue.add("b/1", 5, 0ns);
  queue.add_at("a/0", 3ns, 0ns, 0);
  EXPECT_EQ(queue.add_unless_waiting("a/0", 0, 0ns), nullptr);
  queue.on_timeout(3ns);
  auto* run1 = queue.pop();
  ASSERT_TRUE(run1);
  EXPECT_EQ(run1->key(), "a/0");
  EXPECT_EQ(run1->priority(), 0);
  queue.done(run1);
  queue->discard_waiting(TimePoint{3ns});
  queue->discard();
  EXPECT_EQ(queue.pop(), nullptr);
  // ready: the queue says 1, the reference 0
  EXPECT_EQ(queue->ready(), 0U);
}

TEST(QueueModelPrinter, WritesACaseOfARequestQueueAsTheBodyOfATest) {
  const Case printed{.settings = {.kind = Kind::request_queue, .readd = Readd::keep_place},
                     .sequence = {{.action = Action::add_rate_limited, .key = 2, .priority = -1},
                                  {.action = Action::add, .key = 1},
                                  {.action = Action::get},
                                  {.action = Action::forget, .key = 1},
                                  {.action = Action::advance, .time = 1},
                                  {.action = Action::done, .key = 1},
                                  {.action = Action::drain}}};
  const Difference difference{.what = "retries", .queue = "0", .expected = "1", .key = 2};
  EXPECT_EQ(Printer(printed).print(difference), R"(KeyTable table;
const auto clock = std::make_shared<ManualClock>();
RequestQueue queue({.store = FifoStore(), .limiter = exponential(1ns, 100ns), .readd = Readd::keep_place, .charge_waiting = true, .clock = clock});
EXPECT_EQ(queue.add_rate_limited(table.intern("", "c", "2"), -1), 1ns);
queue.add(table.intern("", "b", "1"), 0);
auto run1 = queue.try_get();
ASSERT_TRUE(run1);
EXPECT_EQ(run1->key(), table.intern("", "b", "1"));
EXPECT_EQ(run1->priority().value, 0);
queue.forget(table.intern("", "b", "1"));
clock->advance(1ns);
EXPECT_EQ(queue.size(), 1U);
run1->done();
{
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(queue.shut_down_with_drain(stop.get_token()), false);
}
// retries of c/2: the queue says 0, the reference 1
EXPECT_EQ(queue.retries(table.intern("", "c", "2")), 1U);
)");
}

TEST(QueueModelPrinter, WhatItWritesOfARequestQueueCompilesAndHolds) {
  KeyTable table;
  const auto clock = std::make_shared<ManualClock>();
  RequestQueue queue({.store = FifoStore(),
                      .limiter = exponential(1ns, 100ns),
                      .readd = Readd::keep_place,
                      .charge_waiting = true,
                      .clock = clock});
  EXPECT_EQ(queue.add_rate_limited(table.intern("", "c", "2"), -1), 1ns);
  queue.add(table.intern("", "b", "1"), 0);
  auto run1 = queue.try_get();
  ASSERT_TRUE(run1);
  EXPECT_EQ(run1->key(), table.intern("", "b", "1"));
  EXPECT_EQ(run1->priority().value, 0);
  queue.forget(table.intern("", "b", "1"));
  clock->advance(1ns);
  EXPECT_EQ(queue.size(), 1U);
  run1->done();
  {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(queue.shut_down_with_drain(stop.get_token()), false);
  }
  // retries of c/2: the queue says 0, the reference 1
  EXPECT_EQ(queue.retries(table.intern("", "c", "2")), 1U);
}

TEST(QueueModelShrinker, LeavesOnlyWhatIsNeeded) {
  Random random(11);
  Case failing{.settings = {.kind = Kind::request_queue, .slow_share = 3, .keys = 30}, .sequence = {}};
  for (int i = 0; i < 500; ++i) {
    failing.sequence.push_back({.action = static_cast<Action>(random.below(actions)),
                                .key = random.below(30),
                                .priority = static_cast<std::int32_t>(random.between(-1000, 1000)),
                                .time = random.between(0, 1'000'000)});
  }
  // Fails if a key above 4 is added with a delay above 100, and is done afterwards.
  std::size_t asked = 0;
  const Shrinker shrinker([&](const Case& candidate) {
    ++asked;
    std::optional<std::size_t> added;
    for (const Operation& operation : candidate.sequence) {
      if (operation.action == Action::add_after && operation.key > 4 && operation.time > 100) {
        added = operation.key;
      }
      if (operation.action == Action::done && operation.key == added) return true;
    }
    return false;
  });
  failing.sequence.push_back({.action = Action::add_after, .key = 9, .priority = 5, .time = 1000});
  failing.sequence.push_back({.action = Action::done, .key = 9});
  const Case shrunk = shrinker.shrink(failing);
  ASSERT_EQ(shrunk.sequence.size(), 2U);
  EXPECT_EQ(shrunk.sequence[0].action, Action::add_after);
  EXPECT_EQ(shrunk.sequence[0].priority, 0);
  EXPECT_LE(shrunk.sequence[0].time, 200);
  EXPECT_EQ(shrunk.sequence[1].action, Action::done);
  EXPECT_EQ(shrunk.sequence[0].key, shrunk.sequence[1].key);
  EXPECT_EQ(shrunk.settings.kind, Kind::core_of_strings);
  EXPECT_EQ(shrunk.settings.slow_share, 0U);
  EXPECT_LT(asked, 2000U);
}

}  // namespace
}  // namespace evenkeel::model
