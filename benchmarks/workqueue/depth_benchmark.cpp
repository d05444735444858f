// SPDX-License-Identifier: Apache-2.0
// A queue with a million keys: adding, getting, raising the priority, and bytes per key. Each repetition is
// one pass over the million; the counters are the result.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <benchmark/benchmark.h>

#include "../support/allocation_count.hpp"
#include "queues.hpp"
#include "timing.hpp"

namespace evenkeel::benchmarks {
namespace {

constexpr std::size_t key_count = 1'000'000;
constexpr std::size_t raised = key_count / 4;

template <class Q>
void million_queued(benchmark::State& state) {
  for (auto _ : state) {
    Q queue(key_count);
    const Duration add = time_of([&] {
      for (std::size_t i = 0; i < key_count; ++i) queue.add(i);
    });
    const Duration get_done = time_of([&] {
      for (std::size_t i = 0; i < key_count; ++i) queue.step();
    });
    state.counters["add_ns"] = nanoseconds_each(add, key_count);
    state.counters["get_done_ns"] = nanoseconds_each(get_done, key_count);
    set_time(state, add + get_done);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(key_count));
}

template <class Q>
void bytes_queued(benchmark::State& state) {
  for (auto _ : state) {
    Q queue(key_count);
    AllocationCount count;
    set_time(state, time_of([&] {
               for (std::size_t i = 0; i < key_count; ++i) queue.add(i);
             }));
    state.counters["bytes_per_key"] =
        static_cast<double>(count.stop().live_bytes) / static_cast<double>(key_count);
  }
}

// Adds all keys as slow, then a quarter of them, in random order, as fast.
template <class Q>
void million_raised(benchmark::State& state) {
  for (auto _ : state) {
    Q queue(key_count);
    const Duration add = time_of([&] {
      for (std::size_t i = 0; i < key_count; ++i) queue.add(scattered(i, key_count), Lane::slow);
    });
    const Duration raise = time_of([&] {
      for (std::size_t i = 0; i < raised; ++i) queue.add(scattered(i + 1, key_count), Lane::fast);
    });
    state.counters["add_ns"] = nanoseconds_each(add, key_count);
    state.counters["raise_ns"] = nanoseconds_each(raise, raised);
    set_time(state, add + raise);
  }
}

// More priorities than PriorityStore has lists for: each key moves from one of 64 to another of 64.
template <class Q>
void million_raised_64_levels(benchmark::State& state) {
  for (auto _ : state) {
    Q queue(key_count);
    const auto level = [](std::size_t i) { return static_cast<std::int32_t>(i % 64); };
    const Duration add = time_of([&] {
      for (std::size_t i = 0; i < key_count; ++i) queue.add(scattered(i, key_count), level(i) - 64);
    });
    const Duration raise = time_of([&] {
      for (std::size_t i = 0; i < raised; ++i) queue.add(scattered(i + 1, key_count), level(i));
    });
    state.counters["add_ns"] = nanoseconds_each(add, key_count);
    state.counters["raise_ns"] = nanoseconds_each(raise, raised);
    set_time(state, add + raise);
  }
}

// Inspects one key, and all keys in slices, compared with adds.
template <class Q>
void inspect(benchmark::State& state) {
  constexpr std::size_t looks = 100'000;
  for (auto _ : state) {
    Q queue(key_count);
    const Duration add = time_of([&] {
      for (std::size_t i = 0; i < key_count; ++i) queue.add(scattered(i, key_count));
    });
    const Duration one = time_of([&] {
      for (std::size_t i = 0; i < looks; ++i) {
        benchmark::DoNotOptimize(queue.queue.inspect(queue.keys[scattered(i, key_count)]).state);
      }
    });
    std::size_t found = 0;
    const Duration all = time_of([&] { found = queue.queue.inspect_all().size(); });
    if (found != key_count) state.SkipWithError("keys are missing");
    state.counters["add_ns"] = nanoseconds_each(add, key_count);
    state.counters["one_ns"] = nanoseconds_each(one, looks);
    state.counters["all_ns"] = nanoseconds_each(all, key_count);
    set_time(state, one + all);
  }
}

// A policy with external state, which can move queued keys either way.
struct NameIsUrgent {
  const bool* all;
  Lane operator()(const std::string&) const { return *all ? Lane::fast : Lane::slow; }
};
using PolicyStore = PolicyLaneStore<std::string, NameIsUrgent>;

void lane_policy(benchmark::State& state) {
  for (auto _ : state) {
    bool urgent = false;
    Strings<PolicyStore> queue(key_count, PolicyStore(NameIsUrgent{&urgent}));
    const auto touch_all = [&] {
      for (std::size_t i = 0; i < key_count; ++i) queue.add(scattered(i, key_count));
    };
    const Duration add = time_of(touch_all);
    urgent = true;
    const Duration up = time_of(touch_all);
    urgent = false;
    const Duration down = time_of(touch_all);
    state.counters["add_ns"] = nanoseconds_each(add, key_count);
    state.counters["to_fast_ns"] = nanoseconds_each(up, key_count);
    state.counters["to_slow_ns"] = nanoseconds_each(down, key_count);
    set_time(state, add + up + down);
  }
}

BENCHMARK(million_queued<Textbook>)->Name("million_queued/textbook")->Apply(one_pass);
BENCHMARK(million_queued<Strings<FifoStore>>)->Name("million_queued/strings_fifo")->Apply(one_pass);
BENCHMARK(million_queued<Strings<TwoLaneStore>>)->Name("million_queued/strings_lanes")->Apply(one_pass);
BENCHMARK(million_queued<Strings<FairStore<std::string, ByEndOfName>>>)
    ->Name("million_queued/strings_fair")
    ->Apply(one_pass);
BENCHMARK(million_queued<Interned<FairStore<RequestKey, ByEndOfName>>>)
    ->Name("million_queued/interned_fair")
    ->Apply(one_pass);
BENCHMARK(million_queued<Strings<PriorityStore>>)->Name("million_queued/strings_priority")->Apply(one_pass);
BENCHMARK(million_queued<Interned<FifoStore>>)->Name("million_queued/interned_fifo")->Apply(one_pass);
BENCHMARK(million_queued<Interned<PriorityStore>>)->Name("million_queued/interned_priority")->Apply(one_pass);

BENCHMARK(bytes_queued<Textbook>)->Name("bytes_queued/textbook")->Apply(one_pass);
BENCHMARK(bytes_queued<Strings<FifoStore>>)->Name("bytes_queued/strings_fifo")->Apply(one_pass);
BENCHMARK(bytes_queued<Strings<PriorityStore>>)->Name("bytes_queued/strings_priority")->Apply(one_pass);
BENCHMARK(bytes_queued<Interned<FifoStore>>)->Name("bytes_queued/interned_fifo")->Apply(one_pass);
BENCHMARK(bytes_queued<Interned<PriorityStore>>)->Name("bytes_queued/interned_priority")->Apply(one_pass);

BENCHMARK(million_raised<Strings<TwoLaneStore>>)->Name("million_raised/strings_lanes")->Apply(one_pass);
BENCHMARK(million_raised<Strings<FairStore<std::string, ByEndOfName>>>)
    ->Name("million_raised/strings_fair")
    ->Apply(one_pass);
BENCHMARK(million_raised<Interned<FairStore<RequestKey, ByEndOfName>>>)
    ->Name("million_raised/interned_fair")
    ->Apply(one_pass);
BENCHMARK(million_raised<Strings<PriorityStore>>)->Name("million_raised/strings_priority")->Apply(one_pass);
BENCHMARK(million_raised<Interned<TwoLaneStore>>)->Name("million_raised/interned_lanes")->Apply(one_pass);
BENCHMARK(million_raised<Interned<PriorityStore>>)->Name("million_raised/interned_priority")->Apply(one_pass);
BENCHMARK(million_raised_64_levels<Strings<PriorityStore>>)
    ->Name("million_raised_64_levels/strings_priority")
    ->Apply(one_pass);
BENCHMARK(million_raised_64_levels<Interned<PriorityStore>>)
    ->Name("million_raised_64_levels/interned_priority")
    ->Apply(one_pass);
BENCHMARK(lane_policy)->Name("lane_policy/strings_policy")->Apply(one_pass);

BENCHMARK(inspect<Strings<FifoStore>>)->Name("inspect/strings_fifo")->Apply(one_pass);
BENCHMARK(inspect<Strings<PriorityStore>>)->Name("inspect/strings_priority")->Apply(one_pass);
BENCHMARK(inspect<Interned<PriorityStore>>)->Name("inspect/interned_priority")->Apply(one_pass);

}  // namespace
}  // namespace evenkeel::benchmarks
