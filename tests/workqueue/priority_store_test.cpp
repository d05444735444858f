// SPDX-License-Identifier: Apache-2.0
// The priority store, alone and in a queue configured like that of a controller. Numbers after a key are its
// priority.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/workqueue/priority_store.hpp>
#include <evenkeel/workqueue/store.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

#include "simulation.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using tests::Core;
using Keys = std::vector<std::string>;
using DepthsByLabel = std::map<std::string, std::size_t>;

static_assert(BackingStore<PriorityStore, QueueNode<std::string>>);

// Returns "key/priority" of a claim.
template <class Claim>
std::string text(const Claim& claim) {
  return claim.key() + "/" + std::to_string(claim.priority().value);
}

template <class Queue>
std::vector<LabelledDepth> depths_of(Queue& queue) {
  return queue.metrics().depth;
}

class PriorityQueue : public testing::Test {
 protected:
  using Queue = WorkQueue<std::string, PriorityStore>;

  PriorityQueue() : queue({.name = "test", .readd = Readd::keep_place, .clock = clock}) {}

  void add(std::initializer_list<const char*> keys) {
    for (const char* key : keys) queue.add(key);
  }
  // Returns the next key and its priority, and processes it; "nothing" if none is ready.
  std::string take() {
    const auto claim = queue.try_get();
    return claim ? text(*claim) : "nothing";
  }
  Keys take_all() {
    Keys taken;
    while (const auto claim = queue.try_get()) taken.push_back(text(*claim));
    return taken;
  }
  std::future<std::string> get_in_thread() {
    return std::async(std::launch::async, [this] {
      const auto claim = queue.get();
      return claim ? text(*claim) : "end";
    });
  }
  DepthsByLabel depths() {
    DepthsByLabel depths;
    for (const LabelledDepth& at : depths_of(queue)) depths[at.label] = at.depth;
    return depths;
  }
  std::uint64_t adds() { return queue.metrics().adds_total; }
  std::uint64_t retries() { return queue.metrics().retries_total; }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  Queue queue;
};

TEST_F(PriorityQueue, HandsOutInTheOrderOfAdding) {
  add({"foo"});
  EXPECT_EQ(take(), "foo/0");
  EXPECT_EQ(depths(), (DepthsByLabel{{"0", 0}}));
  EXPECT_EQ(adds(), 1U);
  EXPECT_EQ(retries(), 0U);
  add({"foo", "bar"});
  EXPECT_EQ(take_all(), (Keys{"foo/0", "bar/0"}));
  EXPECT_EQ(adds(), 3U);
}

TEST_F(PriorityQueue, AHeldKeyIsPassedOverAndComesBackToItsPlace) {
  add({"foo"});
  auto foo = queue.try_get();
  add({"foo", "bar"});
  EXPECT_EQ(take(), "bar/0");
  EXPECT_EQ(depths(), (DepthsByLabel{{"0", 1}}));
  EXPECT_EQ(adds(), 3U);
  add({"baz"});
  foo->done();
  EXPECT_EQ(take(), "foo/0");
  EXPECT_EQ(depths(), (DepthsByLabel{{"0", 1}}));
  EXPECT_EQ(adds(), 4U);
  EXPECT_EQ(take(), "baz/0");
}

TEST_F(PriorityQueue, HoldsAKeyOnce) {
  add({"foo", "foo"});
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(depths(), (DepthsByLabel{{"0", 1}}));
  EXPECT_EQ(adds(), 1U);
}

// Unlike elsewhere, size() counts the keys that could be handed out, which excludes held ones.
TEST_F(PriorityQueue, AKeyAddedWhileHeldRunsOnceMore) {
  add({"foo"});
  EXPECT_EQ(queue.size(), 1U);
  auto held = queue.try_get();
  EXPECT_EQ(held->priority().value, 0);
  add({"foo"});
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(depths(), (DepthsByLabel{{"0", 1}}));
  held->done();
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(take_all(), Keys{"foo/0"});
  EXPECT_EQ(depths(), (DepthsByLabel{{"0", 0}}));
  EXPECT_EQ(adds(), 2U);
}

TEST_F(PriorityQueue, RaisesAPriorityAndNeverLowersIt) {
  queue.add("foo", 1);
  queue.add("foo", 2);
  EXPECT_EQ(take(), "foo/2");
  EXPECT_EQ(depths(), (DepthsByLabel{{"1", 0}, {"2", 0}}));
  EXPECT_EQ(adds(), 1U);
  queue.add("foo", 2);
  queue.add("foo", 1);
  EXPECT_EQ(depths(), (DepthsByLabel{{"1", 0}, {"2", 1}}));
  EXPECT_EQ(take(), "foo/2");
}

TEST_F(PriorityQueue, ARaisedKeyComesFirst) {
  add({"foo", "bar", "baz"});
  queue.add("baz", 1);
  EXPECT_EQ(take(), "baz/1");
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(depths(), (DepthsByLabel{{"0", 2}, {"1", 0}}));
  EXPECT_EQ(adds(), 3U);
  EXPECT_EQ(take_all(), (Keys{"foo/0", "bar/0"}));
}

TEST_F(PriorityQueue, ARaisedKeyGoesToTheEndOfItsNewPriority) {
  queue.add("old", 0);
  queue.add("urgent", 5);
  queue.add("other", 0);
  queue.add("old", 5);
  queue.add("late", 5);
  EXPECT_EQ(take_all(), (Keys{"urgent/5", "old/5", "late/5", "other/0"}));
}

TEST_F(PriorityQueue, AKeyRaisedWhileHeldGoesToTheEndOfItsNewPriority) {
  add({"foo"});
  auto held = queue.try_get();
  add({"foo", "last"});
  EXPECT_EQ(take(), "last/0");  // foo was popped while it was held
  queue.add("urgent", 5);
  queue.add("foo", 5);
  queue.add("late", 5);
  held->done();
  EXPECT_EQ(take_all(), (Keys{"urgent/5", "foo/5", "late/5"}));
}

TEST_F(PriorityQueue, TheEarliestTimeCounts) {
  queue.add_after("foo", 0s);
  queue.add_after("foo", 1h);
  EXPECT_EQ(take(), "foo/0");
  EXPECT_EQ(adds(), 1U);
  clock->advance(1h);
  EXPECT_EQ(take(), "nothing");
}

TEST_F(PriorityQueue, WaitingKeysDoNotCountAsQueued) {
  queue.add_after("foo", 1min);
  add({"baz"});
  queue.add_after("bar", 1min);
  add({"bal"});
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(depths(), (DepthsByLabel{{"0", 2}}));
}

TEST_F(PriorityQueue, AfterShutDownNowNothingIsHandedOutAndNothingBlocks) {
  add({"foo"});
  queue.shut_down_now();
  queue.add_after("foo", 1s);
  EXPECT_FALSE(queue.get().has_value());
  EXPECT_FALSE(queue.get().has_value());
  clock->advance(1s);
  EXPECT_FALSE(queue.get().has_value());
}

TEST_F(PriorityQueue, AWaitingKeyIsCountedWhenItIsAddedAgain) {
  queue.add_after("foo", 1h);
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(depths(), DepthsByLabel{});
  add({"foo"});
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(depths(), (DepthsByLabel{{"0", 1}}));
  EXPECT_EQ(take(), "foo/0");
  EXPECT_EQ(depths(), (DepthsByLabel{{"0", 0}}));
  clock->advance(1h);
  EXPECT_EQ(take(), "nothing");
}

TEST_F(PriorityQueue, AWaitingKeyIsCountedUnderThePriorityThatItBecomesReadyWith) {
  queue.add_after("foo", 1h, 0);
  queue.add("foo", 1);
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(depths(), (DepthsByLabel{{"1", 1}}));
  EXPECT_EQ(take(), "foo/1");
  EXPECT_EQ(depths(), (DepthsByLabel{{"1", 0}}));
}

TEST_F(PriorityQueue, AKeyThatBecomesReadyGoesBehindWhatIsReady) {  // controller-runtime: before
  queue.add_after("foo", 1h);
  add({"bar", "foo"});
  EXPECT_EQ(take_all(), (Keys{"bar/0", "foo/0"}));
  queue.add_after("foo", 1s);
  add({"bar"});
  clock->advance(1s);
  add({"baz"});
  EXPECT_EQ(take_all(), (Keys{"bar/0", "foo/0", "baz/0"}));
}

TEST_F(PriorityQueue, AKeyThatBecomesReadyGoesByItsPriority) {
  queue.add_after("urgent", 1s, 10);
  queue.add("low", -1);
  clock->advance(1s);
  EXPECT_EQ(take_all(), (Keys{"urgent/10", "low/-1"}));
}

TEST(PriorityQueueOrder, IsByPriorityAndThenByAddingWhateverTheDelay) {
  for (const Duration delay : {Duration{-1s}, Duration{0s}, Duration{1s}}) {
    const auto clock = std::make_shared<ManualClock>();
    WorkQueue<std::string, PriorityStore> queue({.name = "test", .readd = Readd::keep_place, .clock = clock});
    Keys expected;
    for (const int priority : {10, 5, 0, -5, -10}) {
      for (int i = 0; i < 1000; ++i) {
        const std::string level = std::to_string(priority);
        expected.push_back(level + "-" + std::to_string(i) + "/" + level);
      }
    }
    for (int i = 0; i < 1000; ++i) {
      for (const int priority : {-5, 10, 0, -10, 5}) {
        queue.add_after(std::to_string(priority) + "-" + std::to_string(i), delay, priority);
      }
    }
    clock->advance(1s);
    Keys taken;
    while (const auto claim = queue.try_get()) taken.push_back(text(*claim));
    EXPECT_EQ(taken, expected);
    const auto metrics = queue.metrics();
    EXPECT_EQ(metrics.depth.size(), 5U);
    for (const LabelledDepth& at : metrics.depth) EXPECT_EQ(at.depth, 0U) << at.label;
    EXPECT_EQ(metrics.adds_total, 5000U);
    EXPECT_EQ(metrics.retries_total, delay > 0s ? 5000U : 0U);
  }
}

TEST_F(PriorityQueue, AWaitingWorkerIsHandedADelayedKeyWhenItIsDue) {
  auto got = get_in_thread();
  clock->wait_for_waiters(1);
  queue.add_after("foo", 1s);
  clock->advance(1s - 1ns);
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(got.wait_for(0s), std::future_status::timeout);
  clock->wait_for_waiters(1);
  clock->advance(1ns);
  EXPECT_EQ(got.get(), "foo/0");
  EXPECT_EQ(adds(), 1U);
  EXPECT_EQ(retries(), 1U);
}

TEST_F(PriorityQueue, AWaitingWorkerIsHandedAKeyAsSoonAsItIsAdded) {
  auto got = get_in_thread();
  clock->wait_for_waiters(1);
  add({"foo"});
  EXPECT_EQ(got.get(), "foo/0");
  got = get_in_thread();
  clock->wait_for_waiters(1);
  queue.add_after("bar", 1min);
  EXPECT_EQ(got.wait_for(0s), std::future_status::timeout);
  add({"bar"});
  EXPECT_EQ(got.get(), "bar/0");
  EXPECT_EQ(adds(), 2U);
}

TEST_F(PriorityQueue, DelayedKeysComeInTheOrderOfTheirTimes) {
  queue.add_after("foo", 1s);
  queue.add_after("bar", 200ms);
  clock->advance(1s);
  EXPECT_EQ(take_all(), (Keys{"bar/0", "foo/0"}));
  EXPECT_EQ(adds(), 2U);
}

TEST_F(PriorityQueue, AWaitingWorkerIsNotifiedOfTheEnd) {
  auto got = get_in_thread();
  clock->wait_for_waiters(1);
  queue.shut_down_now();
  EXPECT_EQ(got.get(), "end");
}

TEST_F(PriorityQueue, DelayedKeysCountOnceTheyAreReady) {
  for (int round = 0; round < 2; ++round) {
    queue.add_after("foo", 500ms);
    queue.add_after("bar", 500ms);
    add({"baz", "bal"});
    EXPECT_EQ(queue.size(), 2U);
    EXPECT_EQ(depths(), (DepthsByLabel{{"0", 2}}));
    clock->advance(1s);
    EXPECT_EQ(queue.size(), 4U);
    EXPECT_EQ(depths(), (DepthsByLabel{{"0", 4}}));
    EXPECT_EQ(take_all(), (Keys{"baz/0", "bal/0", "foo/0", "bar/0"}));
    EXPECT_EQ(queue.size(), 0U);
    EXPECT_EQ(depths(), (DepthsByLabel{{"0", 0}}));
  }
}

TEST_F(PriorityQueue, AKeyWhoseDelayIsOverIsCountedOnce) {
  queue.add_after("foo", 50ms);
  clock->advance(50ms);
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(depths(), (DepthsByLabel{{"0", 1}}));
  add({"foo"});
  EXPECT_EQ(depths(), (DepthsByLabel{{"0", 1}}));
  EXPECT_EQ(take(), "foo/0");
  EXPECT_EQ(depths(), (DepthsByLabel{{"0", 0}}));
}

TEST(PriorityQueueDepth, HasASeriesForEachOfTheFirst25PrioritiesAndOneForTheRest) {
  for (const int distinct : {10, 25, 26, 30}) {
    WorkQueue<std::string, PriorityStore> queue({.name = "test"});
    for (int i = 0; i < distinct; ++i) queue.add(std::to_string(i), i);
    const auto metrics = queue.metrics();
    EXPECT_EQ(metrics.depth.size(), static_cast<std::size_t>(std::min(distinct, 26)));
    std::size_t rest = 0;
    for (const LabelledDepth& at : metrics.depth) {
      if (at.label == "exceeded_cardinality_limit") {
        rest = at.depth;
      } else {
        EXPECT_EQ(at.depth, 1U);
      }
    }
    EXPECT_EQ(rest, static_cast<std::size_t>(std::max(0, distinct - 25)));
  }
  WorkQueue<std::string, PriorityStore> queue({.name = "test"});
  for (int i = 0; i < 200; ++i) queue.add(std::to_string(i), 7);
  EXPECT_EQ(depths_of(queue), (std::vector<LabelledDepth>{{"7", 200}}));
}

TEST(PriorityQueueDepth, EverySeriesGoesBackToZeroAndNoneBelow) {
  WorkQueue<std::string, PriorityStore> queue({.name = "test"});
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 30; ++i) queue.add(std::to_string(i), i - 15);
    for (std::size_t left = 30; left > 0; --left) {
      std::size_t sum = 0;
      for (const LabelledDepth& at : depths_of(queue)) {
        EXPECT_LE(at.depth, 30U) << at.label;  // a negative count would be huge
        sum += at.depth;
      }
      EXPECT_EQ(sum, left);
      EXPECT_EQ(queue.try_get()->priority().value, static_cast<int>(left) - 16);
    }
    for (const LabelledDepth& at : depths_of(queue)) EXPECT_EQ(at.depth, 0U) << at.label;
  }
}

// ---- The store alone ----

TEST(PriorityStore, OrdersTheWholeRangeOfPriorities) {
  Core<std::string, PriorityStore> queue;
  constexpr auto lowest = std::numeric_limits<std::int32_t>::min();
  constexpr auto highest = std::numeric_limits<std::int32_t>::max();
  queue.add("lowest", lowest);
  queue.add("above", lowest + 1);
  queue.add("highest", highest);
  queue.add("below", highest - 1);
  queue.add("usual");
  EXPECT_EQ(queue.drain(), (Keys{"highest", "below", "usual", "above", "lowest"}));
}

TEST(PriorityStore, ServesLiveChangesBeforeFirstListsAndResyncs) {
  Core<std::string, PriorityStore> queue;
  queue.add("listed", Lane::slow);
  queue.add("resynced", -100);
  queue.add("live", Lane::fast);
  queue.add("resynced", Lane::fast);
  EXPECT_EQ(queue.drain(), (Keys{"live", "resynced", "listed"}));
}

TEST(PriorityStore, ReturnsTheNumberOfItemsOfEachPriority) {
  for (const int priorities : {3, 32, 33, 1000}) {
    Core<int, PriorityStore> queue;
    for (int i = 0; i < 3 * priorities; ++i) queue.add(i, i % priorities);
    for (int i = 0; i < priorities; ++i) EXPECT_EQ(queue->store().size(Priority(i)), 3U) << priorities;
    EXPECT_EQ(queue->store().size(Priority(-1)), 0U);
    EXPECT_EQ(queue->store().size(Priority(priorities)), 0U);
    queue.add(0, priorities + 5);
    EXPECT_EQ(queue->store().size(Priority(0)), 2U);
    EXPECT_EQ(queue->store().size(Priority(priorities + 5)), 1U);
    EXPECT_EQ(queue->store().size(), 3U * static_cast<std::size_t>(priorities));
  }
}

TEST(PriorityStore, KeepsTheOrderWithAnyNumberOfPriorities) {
  for (const int priorities : {1, 31, 32, 33, 64, 100'000}) {
    Core<int, PriorityStore> queue;
    const int each = priorities > 1000 ? 2 : 20;
    for (int i = 0; i < priorities * each; ++i) queue.add(i, i % priorities);
    int number = 0;
    while (auto* node = queue.pop()) {
      const int priority = priorities - 1 - number / each;
      ASSERT_EQ(node->key(), priority + number % each * priorities) << priorities;
      queue.done(node);
      ++number;
    }
    EXPECT_EQ(number, priorities * each);
  }
}

// Naive implementation: scans everything. Keys are small numbers.
class PlainModel {
 public:
  explicit PlainModel(Readd readd) : readd_(readd) {}

  void add(int key, int priority) {
    State& state = states_[key];
    if (!state.dirty) {
      state = {true, state.held, priority, next_place_++};
    } else if (priority > state.priority) {
      state.priority = priority;
      state.place = next_place_++;
    }
  }
  std::optional<int> pop() {
    auto best = states_.end();
    for (auto it = states_.begin(); it != states_.end(); ++it) {
      if (!it->second.dirty || it->second.held) continue;
      if (best == states_.end() || it->second.comes_before(best->second)) best = it;
    }
    if (best == states_.end()) return std::nullopt;
    best->second.dirty = false;
    best->second.held = true;
    return best->first;
  }
  void done(int key) {
    states_[key].held = false;
    if (readd_ == Readd::at_back) states_[key].place = next_place_++;
  }

 private:
  struct State {
    bool dirty = false;
    bool held = false;
    int priority = 0;
    std::uint64_t place = 0;
    bool comes_before(const State& other) const {
      return priority != other.priority ? priority > other.priority : place < other.place;
    }
  };
  Readd readd_;
  std::map<int, State> states_;
  std::uint64_t next_place_ = 0;
};

void compare_with_the_model(Readd readd, int priorities, int keys, std::mt19937& random) {
  Core<int, PriorityStore> queue(PriorityStore(), readd);
  PlainModel model(readd);
  std::vector<decltype(queue.pop())> held;
  const auto below = [&random](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
  for (int step = 0; step < 3000; ++step) {
    const std::size_t what = below(10);
    if (what < 6) {
      const int key = static_cast<int>(below(static_cast<std::size_t>(keys)));
      const int priority = static_cast<int>(below(static_cast<std::size_t>(priorities))) - priorities / 2;
      queue.add(key, priority);
      model.add(key, priority);
    } else if (what < 8 || held.empty()) {
      auto* node = queue.pop();
      const std::optional<int> expected = model.pop();
      ASSERT_EQ(node != nullptr, expected.has_value()) << step;
      if (node == nullptr) continue;
      ASSERT_EQ(node->key(), *expected) << step;
      held.push_back(node);
    } else {
      auto& node = held[below(held.size())];
      model.done(node->key());
      queue.done(node);
      node = held.back();
      held.pop_back();
    }
  }
  for (auto* node : held) queue.done(node);
}

TEST(PriorityStore, BehavesAsTheModelUnderRandomUse) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const Readd readd : {Readd::at_back, Readd::keep_place}) {
    for (const int priorities : {1, 3, 34, 60, 1000}) {
      for (const int keys : {5, 50, 120}) {
        compare_with_the_model(readd, priorities, keys, random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// ---- Threads ----

TEST(PriorityQueueConcurrency, AHundredWorkersGetAThousandKeys) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    const auto clock = std::make_shared<ManualClock>();
    WorkQueue<std::string, PriorityStore> queue({.readd = Readd::keep_place, .clock = clock});
    for (int i = 0; i < 1000; ++i) {
      const int r = static_cast<int>(random() % 100);
      if (r < 10) {
        queue.add_after("foo" + std::to_string(i), std::chrono::milliseconds(r));
      } else {
        queue.add("foo" + std::to_string(i), r);
      }
    }
    std::atomic<int> handed_out = 0;
    {
      std::vector<std::jthread> workers;
      for (int i = 0; i < 100; ++i) {
        workers.emplace_back([&] {
          for (int k = 0; k < 10; ++k) handed_out += queue.get() ? 1 : 0;
        });
      }
      clock->advance(10ms);
    }
    EXPECT_EQ(handed_out, 1000);
    EXPECT_EQ(queue.size(), 0U);
  }
}

// Holding the model's lock makes each add and each get atomic, so that both agree on their order.
TEST(PriorityQueueConcurrency, EveryKeyIsHandedOutWithTheHighestPriorityAdded) {
  const auto clock = std::make_shared<ManualClock>();
  WorkQueue<int, PriorityStore> queue({.name = "fuzz", .readd = Readd::keep_place, .clock = clock});
  std::mutex lock;
  std::map<int, int> expected;  // the highest priority added since the key was handed out
  std::vector<std::atomic<int>> holders(100);
  std::atomic<int> wrong = 0;
  std::atomic<int> producers = 10;
  {
    std::vector<std::jthread> threads;
    for (unsigned p = 0; p < 10; ++p) {
      threads.emplace_back([&, p] {
        std::mt19937 random(p);
        for (int i = 0; i < 1000; ++i) {
          const int key = static_cast<int>(random() % 100);
          const int priority = static_cast<int>(random() % 40);
          const std::scoped_lock guard(lock);
          const auto known = expected.try_emplace(key, priority).first;
          known->second = std::max(known->second, priority);
          if (random() % 4 == 0) {
            queue.add_after(key, 10ms, priority);
          } else {
            queue.add(key, priority);
          }
        }
        --producers;
      });
    }
    for (int c = 0; c < 100; ++c) {
      threads.emplace_back([&] {
        for (;;) {
          std::unique_lock guard(lock);
          auto claim = queue.try_get();
          if (!claim) {
            if (producers == 0 && expected.empty()) return;
            guard.unlock();
            std::this_thread::yield();
            continue;
          }
          const auto found = expected.find(claim->key());
          if (found == expected.end() || found->second != claim->priority().value) ++wrong;
          if (found != expected.end()) expected.erase(found);
          guard.unlock();
          auto& holder = holders[static_cast<std::size_t>(claim->key())];
          if (++holder != 1) ++wrong;
          --holder;
        }
      });
    }
    while (producers > 0) clock->advance(1ms);
    clock->advance(10ms);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(queue.size(), 0U);
  for (const LabelledDepth& at : depths_of(queue)) EXPECT_EQ(at.depth, 0U) << at.label;
}

TEST(PriorityQueueConcurrency, ShuttingDownWhileKeysAreHandedOutReleasesAllWorkers) {
  for (unsigned round = 0; round < 50; ++round) {
    WorkQueue<int, PriorityStore> queue({.readd = Readd::keep_place});
    std::atomic<int> handed_out = 0;
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < 20; ++i) {
      workers.emplace_back([&, seed = round * 20 + i] {
        std::mt19937 random(seed);
        for (;;) {
          queue.add(static_cast<int>(random() % 1000), static_cast<int>(random() % 100));
          if (!queue.get()) return;
          ++handed_out;
        }
      });
    }
    while (handed_out < 200) std::this_thread::yield();
    queue.shut_down_now();
  }
}

}  // namespace
}  // namespace evenkeel
