// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <new>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/workqueue/any_store.hpp>
#include <evenkeel/workqueue/fair_store.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/priority_store.hpp>
#include <evenkeel/workqueue/store.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

#include "simulation.hpp"

namespace evenkeel {
namespace {

using tests::Core;
using Keys = std::vector<std::string>;

struct NotAStore {
  void push(QueueItem&);
  QueueItem& pop();
};

static_assert(BackingStore<FifoStore, QueueNode<std::string>>);
static_assert(BackingStore<TwoLaneStore, QueueNode<int>>);
static_assert(BackingStore<AnyStore<int>, QueueNode<int>>);
static_assert(!BackingStore<AnyStore<int>, QueueNode<std::string>>);
static_assert(!BackingStore<NotAStore, QueueNode<int>>);

TEST(ItemList, InsertsByPlace) {
  ItemList list;
  std::vector<QueueItem> items(6);
  for (std::size_t i = 0; i < items.size(); ++i) items[i].set_place(i);
  for (const std::size_t i : {3U, 5U, 0U, 4U, 1U, 2U}) list.insert(items[i]);
  EXPECT_EQ(list.size(), 6U);
  list.remove(items[5]);
  list.remove(items[2]);
  list.remove(items[0]);
  ItemList moved = std::move(list);
  EXPECT_EQ(moved.size(), 3U);
  for (const std::size_t i : {1U, 3U, 4U}) EXPECT_EQ(&moved.pop_front(), &items[i]);
  EXPECT_TRUE(moved.empty());
}

TEST(FifoStore, KeepsTheOrderOfAddingWhateverIsAddedAgain) {
  Core<std::string, FifoStore> queue;
  for (const char* key : {"a", "b", "c", "a", "b"}) queue.add(key);
  queue.add("c", 100);
  EXPECT_EQ(queue.drain(), (Keys{"a", "b", "c"}));
}

TEST(AnyStore, HoldsAnyStoreAndKnowsWhetherTouchMatters) {
  Core<std::string, AnyStore<std::string>> lanes(AnyStore<std::string>{TwoLaneStore()});
  lanes.add("s", Lane::slow);
  lanes.add("t", Lane::slow);
  lanes.add("f");
  lanes.add("t");
  EXPECT_TRUE(touch_needs_raise(lanes->store()));
  EXPECT_EQ(lanes.drain(), (Keys{"f", "t", "s"}));
  Core<std::string, AnyStore<std::string>> fifo(AnyStore<std::string>{FifoStore()});
  EXPECT_TRUE(touch_needs_raise(fifo->store()));
  fifo.add("a");
  fifo.add("b");
  EXPECT_EQ(fifo.drain(), (Keys{"a", "b"}));
}

// Makes random calls and returns all of them with their results as one text.
template <class Store>
std::string story(Store store, Readd readd, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&random](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
  Core<std::string, Store> queue(std::move(store), readd);
  std::vector<decltype(queue.pop())> held;
  std::string told = touch_needs_raise(queue->store()) ? "raise\n" : "always\n";
  for (int step = 0; step < 2000; ++step) {
    const std::size_t what = below(4);
    if (what < 2) {
      queue.add(std::to_string(below(4)) + "/" + std::to_string(below(9)),
                static_cast<int>(below(5)) * 50 - 100);
    } else if (what == 2 || held.empty()) {
      auto* node = queue.pop();
      if (node != nullptr) held.push_back(node);
      told += node == nullptr ? "none" : node->key() + "/" + std::to_string(node->priority());
      told += queue->can_pop() ? " more\n" : " no more\n";
    } else {
      const std::size_t which = below(held.size());
      queue.done(held[which]);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
    }
    for (const LabelledDepth& at : lanes_of(queue->store()))
      told += at.label + " " + std::to_string(at.depth) + "\n";
  }
  for (auto* node : held) queue.done(node);
  for (const std::string& key : queue.drain()) told += key + "\n";
  return told;
}

template <class Make>
void expect_the_same_story(const Make& make) {
  for (const Readd readd : {Readd::at_back, Readd::keep_place}) {
    for (std::uint32_t seed = 0; seed < 5; ++seed) {
      EXPECT_EQ(story(make(), readd, seed), story(AnyStore<std::string>(make()), readd, seed));
    }
  }
}

TEST(AnyStore, BehavesAsTheStoreThatItHolds) {
  expect_the_same_story([] { return FifoStore(); });
  expect_the_same_story([] { return TwoLaneStore({.slow_share = 3}); });
  expect_the_same_story([] {
    const auto odd = [](const std::string& key) { return key.back() % 2 == 0 ? Lane::slow : Lane::fast; };
    return PolicyLaneStore<std::string, decltype(odd)>(odd);
  });
  expect_the_same_story([] { return PriorityStore(); });
  expect_the_same_story([] {
    return FairStore<std::string>(by_namespace(), {.weight_of = fixed_weights({{"1", 3}}), .cap = 2});
  });
  // They differ from each other, so that equal texts are meaningful.
  EXPECT_NE(story(FifoStore(), Readd::at_back, 0), story(PriorityStore(), Readd::at_back, 0));
  EXPECT_NE(story(FairStore<std::string>(), Readd::at_back, 0), story(PriorityStore(), Readd::at_back, 0));
}

TEST(AnyStore, NamesTheLaneOfAKey) {
  WorkQueue<std::string, AnyStore<std::string>> lanes({.store = TwoLaneStore()});
  lanes.add("a", Lane::slow);
  EXPECT_EQ(lanes.inspect("a").lane, "slow");
  WorkQueue<std::string, AnyStore<std::string>> fair({.store = FairStore<std::string>()});
  fair.add("ns/a");
  EXPECT_EQ(fair.inspect("ns/a").lane, "ns");
}

// A user-defined store: last in, first out, and re-added keys come first.
class LifoStore {
 public:
  void push(QueueItem& item) { items_.push_back(&item); }
  QueueItem& pop() {
    QueueItem& item = *items_.back();
    items_.pop_back();
    return item;
  }
  std::size_t size() const { return items_.size(); }
  void touch(QueueItem& item, std::uint64_t) {
    std::erase(items_, &item);
    items_.push_back(&item);
  }

 private:
  std::vector<QueueItem*> items_;
};

TEST(OwnStore, DecidesTheOrder) {
  for (const Readd readd : {Readd::at_back, Readd::keep_place}) {
    Core<std::string, LifoStore> queue(LifoStore(), readd);
    for (const char* key : {"a", "b", "c", "a"}) queue.add(key);
    auto* held = queue.pop();
    EXPECT_EQ(held->key(), "a");
    queue.add("a");
    queue.done(held);
    EXPECT_EQ(queue.drain(), (Keys{"a", "c", "b"}));
  }
}

// Fails for the first key pushed.
class FullStore : public FifoStore {
 public:
  void push(QueueItem& item) {
    if (std::exchange(full_, false)) throw std::bad_alloc();
    FifoStore::push(item);
  }

 private:
  bool full_ = true;
};

TEST(OwnStore, AKeyThatItHasNoRoomForIsNotQueued) {
  WorkQueue<std::string, FullStore> queue({.name = "full"});
  EXPECT_THROW(queue.add("a"), std::bad_alloc);
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(queue.counts().dirty, 0U);
  EXPECT_EQ(queue.metrics().adds_total, 0U);
  EXPECT_FALSE(queue.try_get());
  queue.add("a");
  EXPECT_EQ(queue.get()->key(), "a");
  EXPECT_FALSE(queue.try_get());
}

TEST(OwnStore, ADelayedKeyThatItHasNoRoomForGoesOnWaiting) {
  Core<std::string, FullStore> queue;
  queue.add_at("a", std::chrono::seconds{1});
  EXPECT_THROW(queue.on_timeout(std::chrono::seconds{1}), std::bad_alloc);
  EXPECT_TRUE(queue.is_waiting("a"));
  queue.on_timeout(std::chrono::seconds{1});
  EXPECT_EQ(queue.drain(), Keys{"a"});
}

}  // namespace
}  // namespace evenkeel
