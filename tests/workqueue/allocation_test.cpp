// SPDX-License-Identifier: Apache-2.0
// A queue in steady state does not allocate. A separate program, because it counts every allocation.
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/workqueue/fair_store.hpp>
#include <evenkeel/workqueue/priority_store.hpp>
#include <evenkeel/workqueue/request_queue.hpp>
#include <evenkeel/workqueue/work_queue.hpp>

namespace {
thread_local std::size_t allocations = 0;
thread_local std::size_t releases = 0;
}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr) ++releases;
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  if (memory != nullptr) ++releases;
  std::free(memory);
}

namespace evenkeel {
namespace {

using namespace std::chrono_literals;

// Adds, delays, hands out and ends every key; the second round must reuse everything from the first.
template <class Queue, class Key>
void cycle(Queue& queue, ManualClock& clock, const std::vector<Key>& keys) {
  for (const Key& key : keys) queue.add(key);
  for (const Key& key : keys) queue.add(key);
  while (auto claim = queue.try_get()) {
    if (claim->priority().value == 0) queue.add(claim->key(), Lane::slow);
  }
  for (const Key& key : keys) queue.add_after(key, 1s);
  clock.advance(1s);
  while (queue.try_get()) continue;
}

template <class Queue, class Key>
std::size_t allocations_of_a_cycle(Queue& queue, ManualClock& clock, const std::vector<Key>& keys) {
  cycle(queue, clock, keys);
  const std::size_t before = allocations;
  cycle(queue, clock, keys);
  return allocations - before;
}

TEST(SteadyState, AllocatesNothingForStrings) {
  const auto clock = std::make_shared<ManualClock>();
  WorkQueue<std::string, TwoLaneStore> queue({.clock = clock});
  std::vector<std::string> keys;
  for (int i = 0; i < 500; ++i)
    keys.push_back("a-namespace/a-name-that-does-not-fit-into-a-string-" + std::to_string(i));
  EXPECT_GT(allocations, 0U);  // confirms that allocations are counted
  EXPECT_EQ(allocations_of_a_cycle(queue, *clock, keys), 0U);
}

TEST(SteadyState, AllocatesNothingForStringsWithPriorities) {
  const auto clock = std::make_shared<ManualClock>();
  WorkQueue<std::string, PriorityStore> queue({.readd = Readd::keep_place, .clock = clock});
  std::vector<std::string> keys;
  for (int i = 0; i < 500; ++i)
    keys.push_back("a-namespace/a-name-that-does-not-fit-into-a-string-" + std::to_string(i));
  EXPECT_EQ(allocations_of_a_cycle(queue, *clock, keys), 0U);
}

// Different priorities in every round, more than there are lists for, and raises.
TEST(SteadyState, AllocatesNothingForManyPriorities) {
  WorkQueue<int, PriorityStore> queue({.clock = std::make_shared<ManualClock>()});
  const auto round = [&queue](int first) {
    for (int i = 0; i < 1000; ++i) queue.add(i, first + i % 200);
    for (int i = 0; i < 1000; i += 3) queue.add(i, first + 200 + i % 7);
    while (queue.try_get()) continue;
  };
  round(0);
  const std::size_t before = allocations;
  round(1000);
  EXPECT_EQ(allocations - before, 0U);
}

TEST(SteadyState, AllocatesNothingWithMetricsAndAMinimumInterval) {
  const auto clock = std::make_shared<ManualClock>();
  WorkQueue<std::string, TwoLaneStore> strings({.name = "strings", .min_interval = 1s, .clock = clock});
  std::vector<std::string> keys;
  for (int i = 0; i < 500; ++i)
    keys.push_back("a-namespace/a-name-that-does-not-fit-into-a-string-" + std::to_string(i));
  EXPECT_EQ(allocations_of_a_cycle(strings, *clock, keys), 0U);
  EXPECT_EQ(strings.metrics().work_duration.count(), strings.metrics().adds_total);
  EXPECT_GT(strings.metrics().adds_total, 1000U);
  KeyTable table;
  RequestQueue requests({.name = "requests", .clock = clock});
  std::vector<RequestKey> interned;
  for (int i = 0; i < 500; ++i) interned.push_back(table.intern("", "ns", std::to_string(i)));
  EXPECT_EQ(allocations_of_a_cycle(requests, *clock, interned), 0U);
}

TEST(SteadyState, AllocatesNothingForGroupsThatComeBack) {
  const auto clock = std::make_shared<ManualClock>();
  WorkQueue<std::string, FairStore<std::string>> queue(
      {.store = FairStore<std::string>(by_namespace(), {.weight_of = fixed_weights({}, 2), .cap = 3}),
       .clock = clock});
  std::vector<std::string> keys;
  for (int i = 0; i < 500; ++i)
    keys.push_back("a-namespace-that-does-not-fit-into-a-string-" + std::to_string(i / 5) + "/name");
  EXPECT_EQ(allocations_of_a_cycle(queue, *clock, keys), 0U);
}

TEST(SteadyState, AHundredThousandGroupsLeaveNothingBehindButAFewToReuse) {
  const std::size_t before = allocations - releases;
  WorkQueue<int, FairStore<int, int (*)(const int&)>> queue(
      {.store = fair_store<int>(+[](const int& key) { return key; })});
  for (int i = 0; i < 100'000; ++i) queue.add(i);
  EXPECT_GT(allocations - releases - before, 100'000U);
  while (queue.try_get()) continue;
  EXPECT_LT(allocations - releases - before, 5'000U);
}

TEST(SteadyState, AllocatesNothingForNumbers) {
  const auto clock = std::make_shared<ManualClock>();
  WorkQueue<int> queue({.clock = clock});
  std::vector<int> keys;
  for (int i = 0; i < 500; ++i) keys.push_back(i);
  EXPECT_EQ(allocations_of_a_cycle(queue, *clock, keys), 0U);
}

TEST(SteadyState, AllocatesNothingForInternedKeysWithHandles) {
  const auto clock = std::make_shared<ManualClock>();
  KeyTable table;
  RequestQueue queue({.clock = clock});
  std::vector<RequestKey> keys;
  for (int i = 0; i < 500; ++i) keys.push_back(table.intern("", "ns", std::to_string(i)));
  EXPECT_EQ(allocations_of_a_cycle(queue, *clock, keys), 0U);
}

TEST(SteadyState, AskingForRetriesAndForgettingAllocatesNothing) {
  WorkQueue<std::string> queue({.clock = std::make_shared<ManualClock>()});
  queue.add_rate_limited("known");
  const std::string unknown = "a-namespace/a-name-that-does-not-fit-into-a-string";
  const std::size_t before = allocations;
  EXPECT_EQ(queue.retries(unknown), 0U);
  queue.forget(unknown);
  EXPECT_EQ(allocations - before, 0U);
}

}  // namespace
}  // namespace evenkeel
