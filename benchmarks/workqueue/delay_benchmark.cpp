// SPDX-License-Identifier: Apache-2.0
// A million delayed keys: adding, moving to an earlier time, becoming due, and bytes per key.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include <evenkeel/base/clock.hpp>

#include "../support/allocation_count.hpp"
#include "queues.hpp"
#include "timing.hpp"

namespace evenkeel::benchmarks {
namespace {

constexpr std::size_t key_count = 1'000'000;

// Returns delays between 1,000 and 2,000 seconds, in random order.
Duration delay_of(std::size_t index) {
  const std::uint64_t random = (index + 1) * 6364136223846793005ULL;
  return std::chrono::seconds{1000} + std::chrono::microseconds{(random >> 32) % 1'000'000'000};
}

template <class Q>
void million_waiting(benchmark::State& state) {
  constexpr std::size_t moved = key_count / 4;
  for (auto _ : state) {
    Q queue(key_count);
    const Duration add = time_of([&] {
      for (std::size_t i = 0; i < key_count; ++i) queue.add_after(i, delay_of(i));
    });
    const Duration earlier = time_of([&] {
      for (std::size_t i = 0; i < moved; ++i) {
        queue.add_after(i * 4, delay_of(i * 4) - std::chrono::seconds{500});
      }
    });
    state.counters["add_after_ns"] = nanoseconds_each(add, key_count);
    state.counters["earlier_ns"] = nanoseconds_each(earlier, moved);
    set_time(state, add + earlier);
  }
}

template <class Q>
void bytes_waiting(benchmark::State& state) {
  for (auto _ : state) {
    Q queue(key_count);
    AllocationCount count;
    set_time(state, time_of([&] {
               for (std::size_t i = 0; i < key_count; ++i) queue.add_after(i, delay_of(i));
             }));
    state.counters["bytes_per_key"] =
        static_cast<double>(count.stop().live_bytes) / static_cast<double>(key_count);
  }
}

// All become due at once: the first get makes them ready, then they are handed out.
void million_due(benchmark::State& state) {
  const auto keys = string_keys(key_count);
  for (auto _ : state) {
    const auto clock = std::make_shared<ManualClock>();
    WorkQueue<std::string> queue({.clock = clock});
    for (std::size_t i = 0; i < key_count; ++i) queue.add_after(keys[i], delay_of(i));
    clock->advance(std::chrono::hours{1});
    const Duration fire = time_of([&] { benchmark::DoNotOptimize(queue.size()); });
    const Duration take = time_of([&] {
      while (auto claim = queue.try_get()) claim->done();
    });
    state.counters["fire_ns"] = nanoseconds_each(fire, key_count);
    state.counters["get_done_ns"] = nanoseconds_each(take, key_count);
    set_time(state, fire + take);
  }
}

BENCHMARK(million_waiting<Textbook>)->Name("million_waiting/textbook")->Apply(one_pass);
BENCHMARK(million_waiting<Strings<FifoStore>>)->Name("million_waiting/strings_fifo")->Apply(one_pass);
BENCHMARK(million_waiting<Interned<FifoStore>>)->Name("million_waiting/interned_fifo")->Apply(one_pass);

BENCHMARK(bytes_waiting<Textbook>)->Name("bytes_waiting/textbook")->Apply(one_pass);
BENCHMARK(bytes_waiting<Strings<FifoStore>>)->Name("bytes_waiting/strings_fifo")->Apply(one_pass);
BENCHMARK(bytes_waiting<Interned<FifoStore>>)->Name("bytes_waiting/interned_fifo")->Apply(one_pass);

BENCHMARK(million_due)->Name("million_due/strings_fifo")->Apply(one_pass);

}  // namespace
}  // namespace evenkeel::benchmarks
