// SPDX-License-Identifier: Apache-2.0
// Many threads on one queue; also run under the sanitizers.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/workqueue/request_queue.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

enum class Ending { shut_down, drain };
constexpr Ending forms[] = {Ending::shut_down, Ending::drain};

template <class Queue>
void shut_down(Queue& queue, Ending form) {
  if (form == Ending::shut_down) {
    queue.shut_down();
  } else {
    EXPECT_TRUE(queue.shut_down_with_drain());
  }
}

TEST(WorkQueueConcurrency, ManyProducersAndConsumersShareIt) {
  for (const Ending form : forms) {
    WorkQueue<int> queue;
    std::array<std::atomic<int>, 51> runs{};
    std::array<std::atomic<int>, 51> holders{};
    std::vector<std::jthread> consumers;
    for (int i = 0; i < 10; ++i) {
      consumers.emplace_back([&] {
        for (auto claim = queue.get(); claim; claim = queue.get(std::move(*claim))) {
          const auto key = static_cast<std::size_t>(claim->key());
          EXPECT_EQ(++holders[key], 1);
          ++runs[key];
          std::this_thread::yield();
          --holders[key];
        }
      });
    }
    {
      std::vector<std::jthread> producers;
      for (int i = 0; i < 50; ++i) {
        producers.emplace_back([&, i] {
          for (int n = 0; n < 50; ++n) {
            queue.add(i);
            std::this_thread::yield();
          }
        });
      }
    }
    shut_down(queue, form);
    queue.add(50);  // after the shutdown
    consumers.clear();
    EXPECT_EQ(queue.size(), 0U);
    EXPECT_EQ(runs[50], 0);
    for (std::size_t i = 0; i < 50; ++i) EXPECT_GE(runs[i], 1) << i;
  }
}

TEST(WorkQueueConcurrency, ConsumersAddWhatTheyHold) {
  for (const Ending form : forms) {
    WorkQueue<int> queue;
    std::array<std::atomic<int>, 50> runs{};
    std::vector<std::jthread> consumers;
    for (int i = 0; i < 10; ++i) {
      consumers.emplace_back([&] {
        std::set<int> seen;
        for (auto claim = queue.get(); claim; claim = queue.get(std::move(*claim))) {
          ++runs[static_cast<std::size_t>(claim->key())];
          if (seen.insert(claim->key()).second) queue.add(claim->key());
        }
      });
    }
    {
      std::vector<std::jthread> producers;
      for (int i = 0; i < 50; ++i) {
        producers.emplace_back([&, i] { queue.add(i); });
      }
    }
    shut_down(queue, form);
    consumers.clear();
    EXPECT_EQ(queue.size(), 0U);
    for (const auto& count : runs) EXPECT_GE(count, 1);
  }
}

// Every add is covered by a run that starts after it: each key has a version that producers increase before
// they add; at the end, the last version of each was seen by a run.
template <class Queue, class KeyOf, class IndexOf>
void no_update_is_lost(Queue& queue, ManualClock& clock, const KeyOf& key_of, const IndexOf& index_of) {
  constexpr std::size_t keys = 64;
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::array<std::atomic<int>, keys> version{};
  std::array<std::atomic<int>, keys> seen{};
  std::array<std::atomic<int>, keys> holders{};
  std::atomic<bool> producing = true;
  std::vector<std::jthread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&] {
      while (auto claim = queue.get()) {
        const std::size_t key = index_of(claim->key());
        EXPECT_EQ(++holders[key], 1);
        seen[key] = version[key].load();
        --holders[key];
      }
    });
  }
  std::jthread time([&] {
    while (producing) clock.advance(1ms);
  });
  {
    std::vector<std::jthread> producers;
    for (unsigned p = 0; p < 4; ++p) {
      producers.emplace_back([&, p] {
        std::mt19937 random(seed + p);
        for (int i = 0; i < 5'000; ++i) {
          const std::size_t key = random() % keys;
          ++version[key];
          switch (random() % 4) {
            case 0:
              queue.add_after(key_of(key), std::chrono::microseconds{random() % 3000});
              break;
            case 1:
              queue.add_rate_limited(key_of(key));
              queue.forget(key_of(key));
              break;
            default:
              queue.add(key_of(key), random() % 2 == 0 ? Lane::fast : Lane::slow);
          }
        }
      });
    }
  }
  for (std::size_t key = 0; key < keys; ++key) queue.add(key_of(key));  // drops remaining delays
  producing = false;
  time.join();
  EXPECT_TRUE(queue.shut_down_with_drain());
  workers.clear();
  for (std::size_t key = 0; key < keys; ++key) EXPECT_EQ(seen[key], version[key]) << key;
}

TEST(WorkQueueConcurrency, NoUpdateIsLost) {
  for (const Readd readd : {Readd::at_back, Readd::keep_place}) {
    const auto clock = std::make_shared<ManualClock>();
    WorkQueue<std::size_t, TwoLaneStore> queue(
        {.store = TwoLaneStore({.slow_share = 3}), .readd = readd, .clock = clock});
    no_update_is_lost(
        queue, *clock, [](std::size_t key) { return key; }, [](std::size_t key) { return key; });
  }
}

// Writes made before an add must be visible to the run that covers the add, even if the add found the key
// queued and took no lock. Nothing else here orders the write and the read, so that without the queue's
// ordering ThreadSanitizer reports a race.
TEST(RequestQueueConcurrency, WhatIsWrittenBeforeAnAddIsSeenByTheRunThatCoversIt) {
  KeyTable table;
  RequestQueue queue;
  const RequestKey key = table.intern("", "ns", "key");
  for (int round = 1; round <= 200; ++round) {
    queue.add(key, round % 2 == 0 ? Lane::fast : Lane::slow);
    int data = 0;
    std::atomic<bool> added = false;
    const std::jthread adder([&] {
      data = round;
      queue.add(key, Lane::slow);
      added.store(true, std::memory_order_relaxed);
    });
    while (!added.load(std::memory_order_relaxed)) std::this_thread::yield();
    if (round % 3 == 0) queue.add(key);  // raises it: one more change between the add and the run
    const auto claim = queue.try_get();
    ASSERT_TRUE(claim);
    EXPECT_EQ(data, round);
  }
}

TEST(RequestQueueConcurrency, NoUpdateIsLost) {
  for (const bool fifo : {false, true}) {
    KeyTable table;
    const auto clock = std::make_shared<ManualClock>();
    RequestQueue queue(
        {.store = fifo ? RequestStore(FifoStore()) : RequestStore(TwoLaneStore()), .clock = clock});
    no_update_is_lost(
        queue, *clock, [&](std::size_t key) { return table.intern("", "ns", std::to_string(key)); },
        [](const RequestKey& key) { return static_cast<std::size_t>(std::stoul(std::string(key.name()))); });
    EXPECT_EQ(table.size(), 0U);
  }
}

TEST(WorkQueueConcurrency, ShuttingDownWhileHandingOutBlocksNoThread) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (unsigned round = 0; round < 50; ++round) {
    WorkQueue<int, TwoLaneStore> queue;
    std::stop_source stop;
    std::vector<std::jthread> workers;
    std::atomic<int> handed_out = 0;
    for (unsigned w = 0; w < 20; ++w) {
      workers.emplace_back([&, w] {
        std::mt19937 random(seed + round * 20 + w);
        for (;;) {
          const int key = static_cast<int>(random() % 1000);
          if (w % 3 == 0) {
            queue.add_after(key, std::chrono::microseconds{random() % 50});
          } else {
            queue.add(key, Priority(static_cast<int>(random() % 3) - 1));
          }
          if (!queue.get(w % 2 == 0 ? stop.get_token() : std::stop_token())) return;
          ++handed_out;
        }
      });
    }
    while (handed_out < 20) std::this_thread::yield();
    switch (round % 4) {
      case 0:
        queue.shut_down();
        break;
      case 1:
        queue.shut_down_now();
        break;
      case 2:
        EXPECT_TRUE(queue.shut_down_with_drain());
        break;
      default:
        stop.request_stop();
        queue.shut_down();
    }
    workers.clear();
  }
}

TEST(WorkQueueConcurrency, OneWakeUpAtATimeStillWakesAllThatAreNeeded) {
  // There are as many workers as keys, and each ends only when all keys are held at once: if a wake-up were
  // lost, a key would stay queued while a worker sleeps, and this would hang.
  constexpr int count = 16;
  WorkQueue<int> queue;
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> held = 0;
    std::vector<std::jthread> workers;
    for (int w = 0; w < count; ++w) {
      workers.emplace_back([&] {
        const auto claim = queue.get();
        ASSERT_TRUE(claim);
        ++held;
        held.notify_all();
        for (int now = held; now < count; now = held) held.wait(now);
      });
    }
    for (int key = 0; key < count; ++key) queue.add(key);
  }
}

TEST(WorkQueueConcurrency, AThousandIdleWorkersAllWakeAtTheEnd) {
  WorkQueue<int> queue;
  std::vector<std::jthread> workers;
  std::atomic<int> ended = 0;
  for (int w = 0; w < 1000; ++w) {
    workers.emplace_back([&](std::stop_token stop) {
      while (queue.get(stop)) continue;
      ++ended;
    });
  }
  for (int key = 0; key < 100; ++key) queue.add(key);
  queue.shut_down();
  workers.clear();
  EXPECT_EQ(ended, 1000);
}

}  // namespace
}  // namespace evenkeel
