// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/workqueue/detail/timer_heap.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

TEST(TimerHeap, FiresByTimeAndThenByOrderOfInsertion) {
  detail::TimerHeap heap;
  std::vector<QueueItem> items(1000);
  for (auto& item : items) heap.insert(item, TimePoint{1s});
  QueueItem early;
  heap.insert(early, TimePoint{1s - 1ns});
  EXPECT_EQ(heap.earliest(), TimePoint{1s - 1ns});
  EXPECT_EQ(&heap.pop(), &early);
  for (auto& item : items) ASSERT_EQ(&heap.pop(), &item);
  EXPECT_TRUE(heap.empty());
}

TEST(TimerHeap, BehavesAsAnOrderedMapUnderRandomUse) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  detail::TimerHeap heap;
  std::vector<QueueItem> items(300);
  using Rank = std::pair<TimePoint, std::uint64_t>;
  std::map<Rank, QueueItem*> model;
  std::map<QueueItem*, Rank> ranks;
  std::uint64_t order = 0;
  for (int step = 0; step < 20'000; ++step) {
    QueueItem* item = &items[random() % items.size()];
    const TimePoint at{std::chrono::milliseconds{random() % 200}};
    const auto known = ranks.find(item);
    const auto enter = [&](TimePoint time) {
      ranks[item] = {time, order++};
      model[ranks[item]] = item;
    };
    if (known == ranks.end()) {
      heap.insert(*item, at);
      enter(at);
    } else if (random() % 4 == 0) {
      ASSERT_EQ(&heap.pop(), model.begin()->second);
      ranks.erase(model.begin()->second);
      model.erase(model.begin());
    } else if (random() % 2 == 0) {
      ASSERT_EQ(heap.time_of(*item), known->second.first);
      heap.erase(*item);
      model.erase(known->second);
      ranks.erase(known);
    } else if (at < known->second.first) {
      heap.move(*item, at);
      model.erase(known->second);
      enter(at);
    }
    ASSERT_EQ(heap.size(), model.size());
    if (model.empty()) continue;
    ASSERT_EQ(heap.earliest(), model.begin()->first.first);
  }
}

}  // namespace
}  // namespace evenkeel
