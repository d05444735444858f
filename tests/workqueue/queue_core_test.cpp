// SPDX-License-Identifier: Apache-2.0
// The queue's states without threads and without a clock: ready, held and dirty keys after each step.
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/queue_core.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>

#include "simulation.hpp"

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using tests::Core;
using Fifo = Core<std::string, FifoStore>;
using Keys = std::vector<std::string>;

TEST(QueueCore, AKeyAddedWhileHeldGoesBehindWhatIsQueued) {
  Fifo queue;
  for (const char* key : {"A", "B", "C"}) queue.add(key);
  EXPECT_EQ(queue->dirty(), 3U);
  auto* held = queue.pop();
  EXPECT_EQ(held->key(), "A");
  EXPECT_TRUE(queue.is_processing("A"));
  EXPECT_FALSE(queue.is_dirty("A"));
  EXPECT_EQ(queue->dirty(), 2U);
  queue.add("A");
  EXPECT_EQ(queue->dirty(), 3U);
  EXPECT_EQ(queue->ready(), 2U);  // the queue still holds B and C
  queue.done(held);
  EXPECT_FALSE(queue.is_processing("A"));
  EXPECT_EQ(queue->processing(), 0U);
  EXPECT_EQ(queue.drain(), (Keys{"B", "C", "A"}));
}

TEST(QueueCore, KeepPlaceServesAReaddedKeyWhereItWasAdded) {
  Fifo queue(FifoStore(), Readd::keep_place);
  queue.add("A");
  queue.add("B");
  auto* held = queue.pop();
  queue.add("A");
  queue.add("C");
  EXPECT_EQ(queue->ready(), 2U);
  queue.done(held);
  EXPECT_EQ(queue.drain(), (Keys{"B", "A", "C"}));
}

TEST(QueueCore, KeepPlaceServesAKeyFirstWhoseTurnCameWhileItWasHeld) {
  Fifo queue(FifoStore(), Readd::keep_place);
  queue.add("A");
  queue.add("B");
  auto* a = queue.pop();
  auto* b = queue.pop();
  queue.add("B");
  queue.add("A");
  for (const char* key : {"C", "D", "E"}) queue.add(key);
  auto* c = queue.pop();  // the turns of B and A are skipped
  EXPECT_EQ(c->key(), "C");
  queue.done(a);
  queue.done(b);
  queue.done(c);
  EXPECT_EQ(queue.drain(), (Keys{"B", "A", "D", "E"}));
}

TEST(QueueCore, HoldsAKeyOnceAndRunsItOnceMore) {
  for (const Readd readd : {Readd::at_back, Readd::keep_place}) {
    Fifo queue(FifoStore(), readd);
    for (int i = 0; i < 10; ++i) queue.add("foo");
    EXPECT_EQ(queue->ready(), 1U);
    auto* held = queue.pop();
    for (int i = 0; i < 10; ++i) queue.add("foo");
    EXPECT_EQ(queue.pop(), nullptr);
    queue.done(held);
    EXPECT_EQ(queue.drain(), Keys{"foo"});
    EXPECT_EQ(queue->size(), 0U);
  }
}

TEST(QueueCore, AddDropsADelay) {
  Fifo queue;
  queue.add_at("x", 5h);
  EXPECT_EQ(queue->waiting(), 1U);
  queue.add("x");
  EXPECT_EQ(queue->waiting(), 0U);
  EXPECT_EQ(queue.drain(), Keys{"x"});
  queue.on_timeout(5h);
  EXPECT_EQ(queue->ready(), 0U);
}

TEST(QueueCore, AnAddWithoutDelayDropsADelayToo) {  // client-go issue 126027
  Fifo queue;
  queue.add_at("x", 5h);
  queue.add_at("x", 0h);
  EXPECT_EQ(queue.drain(), Keys{"x"});
  queue.on_timeout(5h);
  EXPECT_EQ(queue.drain(), Keys{});
}

TEST(QueueCore, AnAddUnlessWaitingChangesNothingOfWhatWaits) {
  Core<std::string, TwoLaneStore> queue;
  queue.add_at("x", 5s, 0s, Lane::slow);
  EXPECT_EQ(queue.add_unless_waiting("x", Lane::fast), nullptr);
  EXPECT_EQ(queue->waiting(), 1U);
  EXPECT_EQ(queue->next_due(), TimePoint{5s});
  auto* added = queue.add_unless_waiting("y");
  ASSERT_NE(added, nullptr);
  EXPECT_EQ(queue.drain(), Keys{"y"});
  added = queue.add_unless_waiting("x", Lane::slow, 5s);
  ASSERT_NE(added, nullptr);
  EXPECT_EQ(added->priority(), -100);  // the rejected add did not raise it
  EXPECT_EQ(queue.drain(), Keys{"x"});
  EXPECT_EQ(queue->size(), 0U);
}

TEST(QueueCore, FiresExactlyAtItsTime) {
  Fifo queue;
  queue.add_at("x", 50ms);
  queue.on_timeout(50ms - 1ns);
  EXPECT_EQ(queue->ready(), 0U);
  EXPECT_EQ(queue->next_due(), TimePoint{50ms});
  queue.on_timeout(50ms);
  EXPECT_EQ(queue.drain(), Keys{"x"});
  EXPECT_EQ(queue->next_due(), std::nullopt);
}

TEST(QueueCore, KeepsTheEarliestOfSeveralTimes) {
  Fifo queue;
  queue.add_at("foo", 50ms);
  queue.add_at("foo", 70ms);
  queue.on_timeout(60ms);
  EXPECT_EQ(queue.drain(), Keys{"foo"});
  queue.on_timeout(80ms);
  EXPECT_EQ(queue.drain(), Keys{});
  queue.add_at("foo", 130ms, 80ms);
  queue.add_at("foo", 110ms, 80ms);
  queue.on_timeout(109ms);
  EXPECT_EQ(queue.drain(), Keys{});
  queue.on_timeout(120ms);
  EXPECT_EQ(queue.drain(), Keys{"foo"});
  queue.on_timeout(140ms);
  EXPECT_EQ(queue.drain(), Keys{});
}

TEST(QueueCore, EqualTimesFireInOrderOfInsertion) {
  Core<int, FifoStore> queue;
  for (int i = 0; i < 1000; ++i) queue.add_at((i * 7) % 1000, 1s);
  queue.on_timeout(1s);
  const auto keys = queue.drain();
  ASSERT_EQ(keys.size(), 1000U);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(keys[static_cast<std::size_t>(i)], (i * 7) % 1000);
}

TEST(QueueCore, WhatIsDueComesBeforeWhatIsAddedLater) {
  Fifo queue;
  queue.add_at("due at 2", 2s);
  queue.add_at("due at 1", 1s);
  queue.add("at 3", {}, 3s);  // first access since then
  EXPECT_EQ(queue.drain(), (Keys{"due at 1", "due at 2", "at 3"}));
}

TEST(QueueCore, ADelayOfAReadyKeyIsMergedIntoItsRun) {
  Fifo queue;
  queue.add("x");
  queue.add_at("x", 1h);
  EXPECT_EQ(queue->waiting(), 0U);
  EXPECT_EQ(queue.drain(), Keys{"x"});
}

TEST(QueueCore, ADelayDuringProcessingIsKeptUntilItEnds) {
  for (const bool ends_while_held : {true, false}) {
    Fifo queue;
    queue.add("x");
    auto* held = queue.pop();
    queue.add_at("x", 1s);
    if (ends_while_held) queue.on_timeout(1s);
    EXPECT_EQ(queue.pop(), nullptr);
    queue.done(held);
    queue.on_timeout(1s);
    EXPECT_EQ(queue.drain(), Keys{"x"});
    EXPECT_EQ(queue->size(), 0U);
  }
}

TEST(QueueCore, PrioritiesOfAllAddsOfARunAreMergedToTheHighest) {
  Core<std::string, TwoLaneStore> queue;
  queue.add("a", 3);
  queue.add("a", 7);
  queue.add("a", 5);
  auto* held = queue.pop();
  EXPECT_EQ(held->priority(), 7);
  queue.done(held);
  queue.add_at("a", 1s, 0s, -100);
  queue.add_at("a", 2s, 0s, 4);  // later, but with a higher priority
  queue.on_timeout(1s);
  held = queue.pop();
  EXPECT_EQ(held->priority(), 4);
  queue.add("a", -5);  // the priority of the next run starts over
  queue.done(held);
  held = queue.pop();
  EXPECT_EQ(held->priority(), -5);
  queue.add_at("a", 3s, 1s, 9);
  queue.add("a", 1, 1s);  // drops the delay, not the priority
  queue.done(held);
  EXPECT_EQ(queue.pop()->priority(), 9);
}

TEST(QueueCore, ADelayedAddRaisesAReadyKey) {
  Core<std::string, TwoLaneStore> queue;
  queue.add("other", Lane::slow);
  queue.add("key", Lane::slow);
  queue.add_at("key", 1h, 0h, Lane::fast);
  EXPECT_EQ(queue.drain(), (Keys{"key", "other"}));
}

TEST(QueueCore, ReleasesUnusedKeys) {
  Core<std::shared_ptr<int>, FifoStore> queue;
  auto key = std::make_shared<int>(7);
  const std::weak_ptr<int> watched = key;
  queue.add(key);
  key.reset();
  EXPECT_FALSE(watched.expired());
  auto* held = queue.pop();
  queue.done(held);
  EXPECT_TRUE(watched.expired());
}

TEST(QueueCore, ReleasesKeysWhenItEnds) {
  const auto key = std::make_shared<int>(7);
  {
    Core<std::shared_ptr<int>, FifoStore> queue;
    queue.add(key);
    queue.add_at(std::make_shared<int>(8), 1h);
    EXPECT_EQ(key.use_count(), 2);
  }
  EXPECT_EQ(key.use_count(), 1);
}

TEST(QueueCore, DiscardForgetsAllButWhatIsHeld) {
  for (const Readd readd : {Readd::at_back, Readd::keep_place}) {
    Fifo queue(FifoStore(), readd);
    for (const char* key : {"held", "readded", "passed over", "queued"}) queue.add(key);
    auto* held = queue.pop();
    auto* readded = queue.pop();
    auto* passed = queue.pop();
    queue.add("passed over");
    auto* queued = queue.pop();
    queue.add("readded");
    queue.add("fresh");
    queue.add_at("waiting", 1h);
    queue.add_at("held", 1h);  // held and waiting
    queue.done(queued);
    queue->discard();
    EXPECT_EQ(queue->ready(), 0U);
    EXPECT_EQ(queue->dirty(), 0U);
    EXPECT_EQ(queue->waiting(), 0U);
    EXPECT_EQ(queue->processing(), 3U);
    EXPECT_EQ(queue->size(), 3U);
    for (auto* node : {held, readded, passed}) queue.done(node);
    EXPECT_EQ(queue->size(), 0U);
    EXPECT_EQ(queue->processing(), 0U);
    EXPECT_EQ(queue.pop(), nullptr);
  }
}

// Textbook form of the same queue: two sets and a list. Delays and keep_place are implemented as plainly as
// possible.
class Model {
 public:
  explicit Model(Readd readd) : readd_(readd) {}

  void add(int key) {
    waiting_.erase(key);
    if (!dirty_.insert(key).second) return;
    place_[key] = next_++;
  }
  void add_at(int key, Duration at, Duration now) {
    on_timeout(now);
    if (at <= now) return add(key);
    if (dirty_.contains(key)) return;
    const auto known = waiting_.find(key);
    if (known != waiting_.end() && known->second.first <= at) return;
    waiting_[key] = {at, next_++};
  }
  void on_timeout(Duration now) {
    for (;;) {
      auto first = waiting_.end();
      for (auto entry = waiting_.begin(); entry != waiting_.end(); ++entry) {
        if (entry->second.first > now) continue;
        if (first == waiting_.end() || entry->second < first->second) first = entry;
      }
      if (first == waiting_.end()) return;
      add(first->first);
    }
  }
  std::optional<int> pop() {
    std::optional<int> first;
    for (const int key : dirty_) {
      if (processing_.contains(key)) continue;
      if (!first || place_[key] < place_[*first]) first = key;
    }
    if (!first) return first;
    dirty_.erase(*first);
    processing_.insert(*first);
    return first;
  }
  void done(int key) {
    processing_.erase(key);
    if (dirty_.contains(key) && readd_ == Readd::at_back) place_[key] = next_++;
  }
  std::size_t ready() const {
    std::size_t count = 0;
    for (const int key : dirty_) count += processing_.contains(key) ? 0 : 1;
    return count;
  }
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t dirty() const { return dirty_.size(); }

 private:
  Readd readd_;
  std::uint64_t next_ = 0;
  std::set<int> dirty_;
  std::set<int> processing_;
  std::map<int, std::uint64_t> place_;
  std::map<int, std::pair<Duration, std::uint64_t>> waiting_;
};

class RandomUse : public testing::TestWithParam<Readd> {};

TEST_P(RandomUse, HandsOutTheSameKeysAsTheModel) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Core<int, FifoStore> queue(FifoStore(), GetParam());
  Model model(GetParam());
  std::vector<Core<int, FifoStore>::Node*> held;
  Duration now{};
  for (int step = 0; step < 50'000; ++step) {
    const int key = static_cast<int>(random() % 40);
    switch (random() % 6) {
      case 0:
        now += std::chrono::milliseconds{random() % 5};
        break;
      case 1: {
        const Duration at = now + std::chrono::milliseconds{random() % 20};
        queue.add_at(key, at, now);
        model.add_at(key, at, now);
        break;
      }
      case 2:
      case 3:
        model.on_timeout(now);
        queue.add(key, {}, now);
        model.add(key);
        break;
      case 4: {
        queue.on_timeout(now);
        model.on_timeout(now);
        auto* node = held.size() < 10 ? queue.pop() : nullptr;
        const auto expected = held.size() < 10 ? model.pop() : std::nullopt;
        ASSERT_EQ(node != nullptr, expected.has_value()) << step;
        if (node == nullptr) break;
        ASSERT_EQ(node->key(), *expected) << step;
        held.push_back(node);
        break;
      }
      default:
        if (held.empty()) break;
        const std::size_t index = random() % held.size();
        model.done(held[index]->key());
        queue.done(held[index]);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(index));
    }
    ASSERT_EQ(queue->ready(), model.ready()) << step;
    ASSERT_EQ(queue->dirty(), model.dirty()) << step;
    ASSERT_EQ(queue->waiting(), model.waiting()) << step;
    ASSERT_EQ(queue->processing(), held.size()) << step;
  }
}

INSTANTIATE_TEST_SUITE_P(QueueCore, RandomUse, testing::Values(Readd::at_back, Readd::keep_place),
                         [](const auto& instance) {
                           return instance.param == Readd::at_back ? "AtBack" : "KeepPlace";
                         });

}  // namespace
}  // namespace evenkeel
