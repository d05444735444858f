// SPDX-License-Identifier: Apache-2.0
// Groups of keys that take turns: exact orders, exact times, and invariants under random calls.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/workqueue/fair_store.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/priority_store.hpp>
#include <evenkeel/workqueue/request_queue.hpp>
#include <evenkeel/workqueue/store.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

#include "simulation.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using tests::Core;
using tests::KeyRun;
using tests::Simulation;
using Keys = std::vector<std::string>;
using Fair = FairStore<std::string>;

static_assert(BackingStore<Fair, QueueNode<std::string>>);
static_assert(BackingStore<FairStore<RequestKey>, QueueNode<RequestKey>>);

Keys numbered(const std::string& prefix, int count) {
  Keys keys;
  for (int i = 0; i < count; ++i) keys.push_back(prefix + std::to_string(i));
  return keys;
}

template <class Queue>
void add_all(Queue& queue, const Keys& keys, Priority priority = {}) {
  for (const std::string& key : keys) queue.add(key, priority);
}

// Returns the namespaces of the next `count` keys, in the order of handing out, as one text.
template <class Queue>
std::string turns(Queue& queue, int count) {
  std::string namespaces;
  for (int i = 0; i < count; ++i) {
    auto* node = queue.pop();
    if (node == nullptr) return namespaces + "!";
    namespaces += ByNamespace()(node->key());
    queue.done(node);
  }
  return namespaces;
}

TEST(FairStore, NamespacesTakeTurnsInTheOrderOfTheirArrival) {
  Core<std::string, Fair> queue;
  add_all(queue, {"a/1", "a/2", "a/3", "b/1", "c/1", "c/2"});
  EXPECT_EQ(queue.drain(), (Keys{"a/1", "b/1", "c/1", "a/2", "c/2", "a/3"}));
}

TEST(FairStore, AKeyOfAnotherNamespaceIsNextHoweverManyOneHas) {
  Core<std::string, Fair> queue;
  add_all(queue, numbered("huge/", 100'000));
  queue.add("small/0");
  EXPECT_EQ(queue.pop()->key(), "huge/0");
  EXPECT_EQ(queue.pop()->key(), "small/0");
  EXPECT_EQ(queue.pop()->key(), "huge/1");
  EXPECT_EQ(queue->store().size_of("huge"), 99'998U);
  EXPECT_EQ(queue->store().groups(), 1U);
}

// One worker, 10 ms per run, 100,000 keys of one namespace at t=0, one of another at 5 ms.
template <class Store>
Duration start_beside_a_huge_namespace() {
  Simulation<Store> simulation(1, Store(), Readd::keep_place);
  simulation.work = [](const KeyRun&) { return Duration{10ms}; };
  simulation.at(0s, [&] { add_all(simulation.queue(), numbered("huge/", 100'000)); });
  simulation.at(5ms, [&] { simulation.queue().add("small/0"); });
  for (const KeyRun& run : simulation.run(1h)) {
    if (run.key == "small/0") return run.start;
  }
  return Duration{-1};
}

TEST(FairStore, AKeyThatArrivesBesideAHugeNamespaceWaitsForOneOfIt) {
  EXPECT_EQ(start_beside_a_huge_namespace<Fair>(), 20ms);
  EXPECT_EQ(start_beside_a_huge_namespace<FifoStore>(), 1000s);
  EXPECT_EQ(start_beside_a_huge_namespace<PriorityStore>(), 1000s);
}

TEST(FairStore, WithNGroupsAKeyWaitsForOneOfEachAtMost) {
  Core<std::string, Fair> queue;
  for (int i = 0; i < 100; ++i) add_all(queue, numbered(std::to_string(i) + "/", 50));
  EXPECT_EQ(turns(queue, 3), "012");
  queue.add("new/0");
  int waited = 0;
  std::string key;
  while (key != "new/0") {
    auto* node = queue.pop();
    key = node->key();
    queue.done(node);
    ++waited;
  }
  EXPECT_EQ(waited, 101);  // 3..99, 0..2 and itself
}

TEST(FairStore, AWeightIsTheNumberOfKeysInARow) {
  Core<std::string, Fair> queue(Fair(by_namespace(), {.weight_of = fixed_weights({{"b", 3}})}));
  add_all(queue, numbered("a/", 100));
  add_all(queue, numbered("b/", 100));
  EXPECT_EQ(turns(queue, 16), "abbbabbbabbbabbb");
  EXPECT_EQ(queue->store().size_of("a"), 96U);
  EXPECT_EQ(queue->store().size_of("b"), 88U);
}

TEST(FairStore, AGroupThatRunsOutOfKeysLosesTheRestOfItsTurn) {
  Core<std::string, Fair> queue(Fair(by_namespace(), {.weight_of = fixed_weights({{"b", 3}})}));
  add_all(queue, numbered("a/", 10));
  add_all(queue, {"b/0", "b/1"});
  EXPECT_EQ(turns(queue, 4), "abba");
  add_all(queue, numbered("b/", 9));  // returns to the end of the ring, with a full turn
  EXPECT_EQ(turns(queue, 9), "abbbabbba");
}

TEST(FairStore, AWeightOfZeroCountsAsOneAndFixedOnesRefuseIt) {
  Core<std::string, Fair> queue(
      Fair(by_namespace(), {.weight_of = [](const std::string& group) { return group == "a" ? 0U : 2U; }}));
  add_all(queue, numbered("a/", 10));
  add_all(queue, numbered("b/", 10));
  EXPECT_EQ(turns(queue, 6), "abbabb");
  EXPECT_THROW(fixed_weights({{"a", 1}, {"b", 0}}), std::invalid_argument);
  EXPECT_THROW(fixed_weights({}, 0), std::invalid_argument);
  EXPECT_EQ(fixed_weights({{"a", 4}}, 2)("a"), 4U);
  EXPECT_EQ(fixed_weights({{"a", 4}}, 2)("other"), 2U);
}

TEST(FairStore, UrgentKeysComeFirstWithinTheirGroup) {
  Core<std::string, Fair> queue;
  add_all(queue, {"a/1", "a/2", "b/1"});
  queue.add("a/3", 10);
  queue.add("a/2", 5);
  EXPECT_EQ(queue.drain(), (Keys{"a/3", "b/1", "a/2", "a/1"}));
}

TEST(FairStore, FirstListsAndResyncsWaitUntilNoGroupHasLiveKeys) {
  Core<std::string, Fair> queue;
  for (int i = 0; i < 1000; ++i) queue.add(std::to_string(i) + "/listed", Lane::slow);
  add_all(queue, {"5/live", "7/live", "5/also", "new/live"});
  EXPECT_EQ(turns(queue, 4), "57new5");
  EXPECT_EQ(queue.pop()->key(), "0/listed");
  queue.add("999/listed");  // a live change of a listed key
  EXPECT_EQ(queue.pop()->key(), "999/listed");
  EXPECT_EQ(queue.pop()->key(), "1/listed");
}

TEST(FairStore, WithoutLiveFirstTheyTakeTurnsLikeAnyOther) {
  Core<std::string, Fair> queue(Fair(by_namespace(), {.live_first = false}));
  add_all(queue, {"a/1", "a/2", "b/1"}, Lane::slow);
  add_all(queue, {"c/1", "a/3"});
  EXPECT_EQ(queue.drain(), (Keys{"a/3", "b/1", "c/1", "a/1", "a/2"}));
}

TEST(FairStore, GroupsByAnyFunction) {
  Core<int, FairStore<int, int (*)(const int&)>> queue(
      fair_store<int>(+[](const int& key) { return key % 3; }));
  for (const int key : {0, 3, 6, 1, 4, 2}) queue.add(key);
  EXPECT_EQ(queue.drain(), (std::vector<int>{0, 1, 2, 3, 4, 6}));
  auto tenant = [](const std::string& key) { return key.substr(0, 1); };  // returns a temporary string
  Core<std::string, FairStore<std::string, decltype(tenant)>> strings(fair_store<std::string>(tenant));
  add_all(strings, {"x1", "x2", "y1"});
  EXPECT_EQ(strings.drain(), (Keys{"x1", "y1", "x2"}));
}

TEST(FairStore, KnowsTheNamespaceAndTheClusterOfAKey) {
  KeyTable table;
  const RequestKey key = table.intern("east", "ns", "name");
  EXPECT_EQ(by_namespace()(key), "ns");
  EXPECT_EQ(by_cluster()(key), "east");
  const ObjectKey object{.namespace_ = "ns", .name = "name"};
  EXPECT_EQ(by_namespace()(object), "ns");
  EXPECT_EQ(by_namespace()(std::string("ns/name/more")), "ns");
  EXPECT_EQ(by_namespace()(std::string("name")), "");
  RequestQueue queue({.store = FairStore<RequestKey, ByCluster>()});
  for (const char* name : {"1", "2"}) queue.add(table.intern("east", "ns", name));
  queue.add(table.intern("west", "ns", "1"));
  Keys taken;
  while (auto claim = queue.try_get()) taken.push_back(claim->key().str());
  EXPECT_EQ(taken, (Keys{"east:ns/1", "west:ns/1", "east:ns/2"}));
}

TEST(FairStore, NamesTheGroupOfAKey) {
  WorkQueue<std::string, Fair> queue;
  queue.add("ns/name");
  EXPECT_EQ(queue.inspect("ns/name").lane, "ns");
  WorkQueue<int, FairStore<int, int (*)(const int&)>> numbers(
      {.store = fair_store<int>(+[](const int& key) { return key % 10; })});
  numbers.add(42);
  EXPECT_EQ(numbers.inspect(42).lane, "2");
}

// ---- Caps ----

TEST(FairStoreCap, HandsOutNoMoreThanTheCapAndGoesOnWhenOneIsDone) {
  Core<std::string, Fair> queue(Fair(by_namespace(), {.cap = 2}));
  add_all(queue, numbered("a/", 5));
  auto* first = queue.pop();
  auto* second = queue.pop();
  EXPECT_EQ(second->key(), "a/1");
  EXPECT_TRUE(queue.pop() == nullptr);
  EXPECT_FALSE(queue->can_pop());
  EXPECT_EQ(queue->ready(), 3U);
  queue.add("b/0");
  EXPECT_EQ(turns(queue, 2), "b!");
  queue.done(first);
  EXPECT_EQ(queue.pop()->key(), "a/2");
  EXPECT_TRUE(queue.pop() == nullptr);
  queue.done(second);
  EXPECT_EQ(queue.pop()->key(), "a/3");
}

TEST(FairStoreCap, MayDifferByGroup) {
  const auto cap_of = [](const std::string& group) { return group == "free" ? 0U : 1U; };
  Core<std::string, Fair> queue(Fair(by_namespace(), {.cap = 9, .cap_of = cap_of}));
  add_all(queue, numbered("free/", 3));
  add_all(queue, numbered("one/", 3));
  Keys held;
  while (auto* node = queue.pop()) held.push_back(node->key());
  EXPECT_EQ(held, (Keys{"free/0", "one/0", "free/1", "free/2"}));
}

// Five workers; a namespace with 100 keys of 10 s each from t=0, ten keys of 1 s of another one at t=1 s.
std::vector<KeyRun> runs_beside_slow_keys(std::uint32_t cap) {
  Simulation<Fair> simulation(5, Fair(by_namespace(), {.cap = cap}), Readd::keep_place);
  simulation.work = [](const KeyRun& run) { return run.key[0] == 's' ? Duration{10s} : Duration{1s}; };
  simulation.at(0s, [&] { add_all(simulation.queue(), numbered("slow/", 100)); });
  simulation.at(1s, [&] { add_all(simulation.queue(), numbered("quick/", 10)); });
  std::vector<KeyRun> quick;
  for (const KeyRun& run : simulation.run(1h)) {
    if (run.key[0] == 'q') quick.push_back(run);
  }
  return quick;
}

TEST(FairStoreCap, SlowKeysOfOneNamespaceDoNotHoldAllWorkers) {
  const std::vector<KeyRun> capped = runs_beside_slow_keys(4);
  ASSERT_EQ(capped.size(), 10U);
  for (int i = 0; i < 10; ++i) {  // one worker is always free
    EXPECT_EQ(capped[static_cast<std::size_t>(i)], (KeyRun{"quick/" + std::to_string(i), 1s + i * 1s}));
  }
  const std::vector<KeyRun> uncapped = runs_beside_slow_keys(0);
  ASSERT_EQ(uncapped.size(), 10U);
  EXPECT_EQ(uncapped.front().start, 10s);  // no worker is free earlier
}

TEST(FairStoreCap, AKeyThatIsAddedWhileHeldStaysWithinTheCap) {
  for (const Readd readd : {Readd::at_back, Readd::keep_place}) {
    Core<std::string, Fair> queue(Fair(by_namespace(), {.cap = 1}), readd);
    add_all(queue, {"a/0", "a/1"});
    auto* held = queue.pop();
    queue.add("a/0");
    EXPECT_TRUE(queue.pop() == nullptr);
    queue.done(held);
    held = queue.pop();
    EXPECT_EQ(held->key(), "a/1");  // it was queued before the second add
    EXPECT_TRUE(queue.pop() == nullptr);
    queue.done(held);
    EXPECT_EQ(queue.drain(), Keys{"a/0"});
    EXPECT_EQ(queue->store().groups(), 0U);
  }
}

TEST(FairStoreCap, ShuttingDownDropsOrServesWhatIsHeldBack) {
  for (const bool now : {false, true}) {
    WorkQueue<std::string, Fair> queue({.store = Fair(by_namespace(), {.cap = 1})});
    add_all(queue, numbered("a/", 3));
    auto held = queue.get();
    EXPECT_FALSE(queue.try_get());
    now ? queue.shut_down_now() : queue.shut_down();
    held->done();
    Keys rest;
    while (auto claim = queue.get()) rest.push_back(claim->key());
    EXPECT_EQ(rest, now ? Keys{} : (Keys{"a/1", "a/2"}));
    EXPECT_TRUE(queue.shut_down_with_drain());
  }
}

TEST(FairStoreCapConcurrency, AWorkerWaitsWhileAllKeysAreHeldBackAndIsWokenWhenOneIsDone) {
  const auto clock = std::make_shared<ManualClock>();
  KeyTable table;
  RequestQueue queue({.store = FairStore<RequestKey>(by_namespace(), {.cap = 1}), .clock = clock});
  for (const char* name : {"1", "2"}) queue.add(table.intern("", "a", name));
  auto held = queue.get();
  EXPECT_EQ(queue.size(), 1U);
  auto second = std::async(std::launch::async, [&] {
    const auto claim = queue.get();
    return claim ? claim->key().str() : "end";
  });
  clock->wait_for_waiters(1);
  EXPECT_EQ(second.wait_for(0s), std::future_status::timeout);
  held->done();
  EXPECT_EQ(second.get(), "a/2");
}

TEST(FairStoreCapConcurrency, TheEndIsReportedWhenNothingIsHeldBackAnyMore) {
  const auto clock = std::make_shared<ManualClock>();
  WorkQueue<std::string, Fair> queue({.store = Fair(by_namespace(), {.cap = 1}), .clock = clock});
  add_all(queue, numbered("a/", 4));
  auto held = queue.get();
  queue.shut_down();
  std::vector<std::future<Keys>> workers;
  for (int i = 0; i < 3; ++i) {
    workers.push_back(std::async(std::launch::async, [&queue] {
      Keys keys;
      while (auto claim = queue.get()) keys.push_back(claim->key());
      return keys;
    }));
  }
  clock->wait_for_waiters(3);  // three keys will follow
  held->done();
  Keys all;
  for (auto& worker : workers) {
    for (const std::string& key : worker.get()) all.push_back(key);
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (Keys{"a/1", "a/2", "a/3"}));
}

// ---- Keys popped while they are still held ----

TEST(FairStore, ATurnThatComesTooEarlyIsGivenBack) {
  Core<std::string, Fair> queue(Fair(by_namespace(), {.weight_of = fixed_weights({{"a", 2}})}),
                                Readd::keep_place);
  add_all(queue, {"a/0"});
  auto* held = queue.pop();
  add_all(queue, {"a/0", "a/1", "a/2", "a/3", "b/0", "b/1", "b/2"});
  EXPECT_EQ(turns(queue, 4), "aaba");  // a/0 is skipped, and a has its two keys in a row
  queue.done(held);
  EXPECT_EQ(queue.drain(), (Keys{"b/1", "a/0", "b/2"}));  // a had run out of keys
}

// ---- Creation and removal of groups ----

TEST(FairStore, RemembersNoGroupThatHasNothingToDo) {
  Core<int, FairStore<int, int (*)(const int&)>> queue(
      FairStore<int, int (*)(const int&)>(+[](const int& key) { return key; }, {.cap = 1}));
  for (int i = 0; i < 20'000; ++i) queue.add(i);
  EXPECT_EQ(queue->store().groups(), 20'000U);
  auto* held = queue.pop();
  EXPECT_EQ(queue.drain().size(), 19'999U);
  EXPECT_EQ(queue->store().groups(), 1U);  // its key is still held
  queue.done(held);
  EXPECT_EQ(queue->store().groups(), 0U);
}

TEST(FairStore, CanBeMovedWithWhatItHolds) {
  std::vector<QueueNode<std::string>> nodes(3);
  Fair first;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].take_key(i == 1 ? "b/1" : "a/" + std::to_string(i));
    nodes[i].set_place(i);
    first.push(nodes[i]);
  }
  Fair second = std::move(first);
  EXPECT_EQ(second.size(), 3U);
  for (const char* expected : {"a/0", "b/1", "a/2"}) EXPECT_EQ(second.pop().key(), expected);
  EXPECT_EQ(second.size(), 0U);
  for (auto& node : nodes) node.drop_key();
}

// ---- Invariants under random calls ----

struct RandomCase {
  Readd readd;
  std::uint32_t cap;
  bool live_first;
};

class FairStoreUnderRandomUse : public testing::TestWithParam<RandomCase> {};

// Keys are pairs of group and number, as text; "should" is the set of keys added since they were handed out.
TEST_P(FairStoreUnderRandomUse, LosesNoKeyAndKeepsItsCaps) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&random](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
  const RandomCase with = GetParam();
  Core<std::string, Fair> queue(Fair(by_namespace(), {.weight_of = fixed_weights({{"1", 2}, {"2", 5}}),
                                                      .cap = with.cap,
                                                      .live_first = with.live_first}),
                                with.readd);
  std::map<std::string, int> should;  // with the highest priority
  std::vector<decltype(queue.pop())> held;
  std::map<std::string, std::size_t> hands;
  const auto group_of = [](const std::string& key) { return std::string(by_namespace()(key)); };
  const auto is_held = [&](const std::string& key) { return queue.is_processing(key); };

  const auto take = [&] {
    auto* node = queue.pop();
    if (node == nullptr) {
      for (const auto& [key, priority] : should) {
        const bool at_cap = with.cap != 0 && hands[group_of(key)] >= with.cap;
        ASSERT_TRUE(at_cap || is_held(key)) << key;
      }
      return;
    }
    const auto found = should.find(node->key());
    ASSERT_TRUE(found != should.end()) << node->key();
    ASSERT_EQ(found->second, node->priority());
    should.erase(found);
    const std::size_t in_hands = ++hands[group_of(node->key())];
    ASSERT_TRUE(with.cap == 0 || in_hands <= with.cap);
    held.push_back(node);
  };
  const auto finish = [&](std::size_t which) {
    --hands[group_of(held[which]->key())];
    queue.done(held[which]);
    held[which] = held.back();
    held.pop_back();
  };

  for (int step = 0; step < 20'000; ++step) {
    const std::size_t what = below(10);
    if (what < 5) {
      const std::string key = std::to_string(below(6)) + "/" + std::to_string(below(8));
      const int priority = static_cast<int>(below(4)) * 50 - 100;
      queue.add(key, priority);
      const auto known = should.try_emplace(key, priority).first;
      known->second = std::max(known->second, priority);
    } else if (what < 8 || held.empty()) {
      take();
      if (HasFatalFailure()) return;
    } else {
      finish(below(held.size()));
    }
  }
  while (!held.empty()) finish(0);
  EXPECT_EQ(queue->ready(), should.size());
  EXPECT_EQ(queue.drain().size(), should.size());
  EXPECT_EQ(queue->store().groups(), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    All, FairStoreUnderRandomUse,
    testing::Values(RandomCase{Readd::at_back, 0, true}, RandomCase{Readd::at_back, 1, false},
                    RandomCase{Readd::at_back, 2, true}, RandomCase{Readd::keep_place, 0, false},
                    RandomCase{Readd::keep_place, 1, true}, RandomCase{Readd::keep_place, 3, true}),
    [](const auto& instance) {
      const RandomCase& use = instance.param;
      return std::string(use.readd == Readd::at_back ? "AtBack" : "KeepPlace") + "Cap" +
             std::to_string(use.cap) + (use.live_first ? "LiveFirst" : "");
    });

// For two groups that always have keys, over any interval the one with weight w gets w times the share of the
// other one, except for one turn at either end.
TEST(FairStore, BusyGroupsGetSharesByTheirWeights) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::vector<std::uint32_t> weights{1, 1, 3, 7};
  Core<std::string, Fair> queue(Fair(by_namespace(), {.weight_of = fixed_weights({{"2", 3}, {"3", 7}})}));
  std::vector<std::vector<int>> served{{0, 0, 0, 0}};
  int number = 0;
  for (int group = 0; group < 4; ++group) {
    for (int i = 0; i < 8; ++i) queue.add(std::to_string(group) + "/" + std::to_string(number++));
  }
  for (int step = 0; step < 600; ++step) {
    auto* node = queue.pop();
    const int group = node->key()[0] - '0';
    queue.done(node);
    queue.add(std::to_string(group) + "/" + std::to_string(number++));  // always busy
    if (random() % 3 == 0) queue.add("other" + std::to_string(random() % 5) + "/" + std::to_string(number++));
    auto now = served.back();
    if (group >= 0 && group < 4) ++now[static_cast<std::size_t>(group)];
    served.push_back(now);
  }
  for (std::size_t from = 0; from < served.size(); from += 7) {
    for (std::size_t to = from; to < served.size(); to += 11) {
      for (std::size_t a = 0; a < 4; ++a) {
        for (std::size_t b = 0; b < 4; ++b) {
          const int of_a = served[to][a] - served[from][a];
          const int of_b = served[to][b] - served[from][b];
          const int weight_a = static_cast<int>(weights[a]);
          const int weight_b = static_cast<int>(weights[b]);
          // of_a < (turns + 2) * weight_a, where b had at least `turns` full turns
          ASSERT_LE(of_a * weight_b, of_b * weight_a + 2 * weight_a * weight_b) << from << " to " << to;
        }
      }
    }
  }
}

}  // namespace
}  // namespace evenkeel
