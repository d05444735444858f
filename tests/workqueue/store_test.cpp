// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <deque>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/workqueue/any_store.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/store.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>

#include "simulation.hpp"

namespace evenkeel {
namespace {

using testing_support::Core;
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

TEST(TwoLaneStore, AddingAsFastMovesAKeyToTheBackOfTheFastLane) {  // cat:G10
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

TEST(TwoLaneStore, TheLaneOfTheNextRunIsThatOfAddsDuringProcessing) {  // cat:G10
  for (const Readd readd : {Readd::at_back, Readd::keep_place}) {
    Core<std::string, TwoLaneStore> queue(TwoLaneStore(), readd);
    queue.add("key", Lane::slow);
    auto* held = queue.pop();
    queue.add("other", Lane::slow);
    queue.add("key", Lane::fast);
    queue.done(held);
    EXPECT_EQ(queue.drain(), (Keys{"key", "other"}));
    // A fast run does not make the one after it fast.
    queue.add("key", Lane::fast);
    held = queue.pop();
    queue.add("other", Lane::fast);
    queue.add("key", Lane::slow);
    queue.done(held);
    EXPECT_EQ(queue.drain(), (Keys{"other", "key"}));
  }
}

TEST(TwoLaneStore, WithoutAShareTheSlowLaneStarves) {  // prediction 3.7
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

TEST(TwoLaneStore, AShareOfOneInKServesTheSlowLaneWithinKRuns) {  // prediction 3.7
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
  for (const char* key : {"x", "a", "y", "b", "z"})
    queue.add(key, Lane::fast);  // the lane counts for nothing
  fast = {"b", "y"};
  queue.add("y");  // slow to the back of fast
  queue.add("a");  // fast to the back of slow
  queue.add("z");  // stays
  EXPECT_EQ(queue->store().size(Lane::fast), 2U);
  EXPECT_EQ(queue.drain(), (Keys{"b", "y", "x", "z", "a"}));
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

// A user's own store: last in, first out, and whatever is added again comes first.
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

TEST(OwnStore, DecidesTheOrder) {  // Q2
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

}  // namespace
}  // namespace evenkeel
